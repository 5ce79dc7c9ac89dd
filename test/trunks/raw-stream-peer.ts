import { once } from "node:events";
import { createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { createServer as createTlsServer, type TLSSocket, type TlsOptions } from "node:tls";
import { field } from "./raw-peer.ts";

/** A SIP peer of plain text that takes TCP or TLS connections, knowing nothing of our parser. */
export class RawStreamPeer implements AsyncDisposable {
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();
  /** Connections in the order they came. */
  readonly sockets: Socket[] = [];
  /** Messages and, as they are, line ends between them, with the connection each came by. */
  readonly got: { readonly text: string; readonly by: Socket }[] = [];
  /** Names that TLS clients asked for. */
  readonly namesAsked: string[] = [];

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(tls?: TlsOptions): Promise<RawStreamPeer> {
    const server = tls === undefined ? createServer() : createTlsServer(tls);
    const peer = new RawStreamPeer(server);
    server.on("connection", (socket: Socket) => (tls === undefined ? peer.#take(socket) : undefined));
    server.on("secureConnection", (socket: TLSSocket) => {
      peer.namesAsked.push(socket.servername || "");
      peer.#take(socket);
    });
    server.on("tlsClientError", () => undefined);
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return peer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  #take(socket: Socket): void {
    let rest = "";
    this.sockets.push(socket);
    socket.on("error", () => undefined);
    socket.on("data", (chunk) => {
      rest += chunk.toString("latin1");
      for (;;) {
        const ends = /^(?:\r\n)+/.exec(rest)?.[0];
        const end = rest.indexOf("\r\n\r\n");
        const length = end < 0 ? 0 : end + 4 + Number(/^content-length: *(\d+)/im.exec(rest)?.[1] ?? 0);
        const text = ends ?? (end >= 0 && rest.length >= length ? rest.slice(0, length) : undefined);
        if (text === undefined) break;
        rest = rest.slice(text.length);
        this.got.push({ text, by: socket });
      }
      this.#changed();
    });
    socket.on("close", () => this.#changed());
    this.#changed();
  }

  #changed(): void {
    for (const look of Array.from(this.#waiting)) look();
  }

  /** Resolves when it is so, now or later. */
  async until(isSo: () => boolean): Promise<void> {
    if (isSo()) return;
    await new Promise<void>((resolve) => {
      const look = (): void => {
        if (!isSo()) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
    });
  }

  /** The nth message (from 1) that starts so, now or later. */
  async next(start: string, nth = 1): Promise<{ readonly text: string; readonly by: Socket }> {
    const found = () => this.got.filter(({ text }) => text.startsWith(start))[nth - 1];
    await this.until(() => found() !== undefined);
    return found()!;
  }

  /** Answers over the connection the request came by; `more` are header lines and, after an empty line, the body. */
  respond(
    { text, by }: { readonly text: string; readonly by: Socket },
    status: string,
    options: { readonly more?: string; readonly contact?: string } = {},
  ): void {
    const to = field(text, "To");
    const [head = "", body = ""] = (options.more ?? "").split("\n\n");
    const content = body.replaceAll("\n", "\r\n");
    const lines = [
      `SIP/2.0 ${status}`,
      ...["Via", "From", "Call-ID", "CSeq"].map((name) => `${name}: ${field(text, name)}`),
      `To: ${to.includes("tag=") ? to : `${to};tag=raw`}`,
      `Contact: ${options.contact ?? `<sip:raw@127.0.0.1:${this.port};transport=tcp>`}`,
      ...(head === "" ? [] : head.split("\n")),
      ...(body === "" ? [] : ["Content-Type: application/sdp"]),
      `Content-Length: ${Buffer.byteLength(content)}`,
    ];
    by.write(`${lines.join("\r\n")}\r\n\r\n${content}`);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, "close");
  }
}
