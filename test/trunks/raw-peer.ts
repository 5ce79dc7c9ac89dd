import { createSocket, type Socket } from "node:dgram";

/** A SIP peer of plain text on a real UDP socket, knowing nothing of our parser: it shows what is on the wire. */
export class RawPeer implements AsyncDisposable {
  readonly #socket: Socket;
  readonly #waiting = new Set<{
    readonly wanted: (text: string) => boolean;
    readonly found: (text: string) => void;
  }>();
  readonly got: string[] = [];

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.on("message", (bytes) => {
      const text = bytes.toString();
      this.got.push(text);
      for (const waiter of this.#waiting) {
        if (!waiter.wanted(text)) continue;
        this.#waiting.delete(waiter);
        waiter.found(text);
      }
    });
  }

  static async open(): Promise<RawPeer> {
    const socket = createSocket("udp4");
    await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
    return new RawPeer(socket);
  }

  get port(): number {
    return this.#socket.address().port;
  }

  /** The nth message (from 1) that starts so, now or later. */
  async next(start: string, nth = 1): Promise<string> {
    const wanted = (text: string): boolean => text.startsWith(start);
    const already = this.got.filter(wanted);
    if (already.length >= nth) return already[nth - 1]!;
    let left = nth - already.length;
    return new Promise((found) =>
      this.#waiting.add({ wanted: (text) => wanted(text) && --left === 0, found }),
    );
  }

  send(text: string, port: number): void {
    this.#socket.send(text.replaceAll(/\r?\n/g, "\r\n"), port, "127.0.0.1");
  }

  /** Answers a request as it came: `more` are header lines and, after an empty line, the body. */
  respond(
    request: string,
    status: string,
    options: { readonly tag?: string; readonly more?: string } = {},
  ): void {
    const copied = ["Via", "From", "Call-ID", "CSeq"].map((name) => `${name}: ${field(request, name)}`);
    const tag = options.tag ?? "raw";
    const to = field(request, "To");
    const [head = "", body = ""] = (options.more ?? "").split("\n\n");
    const text = body.replaceAll("\n", "\r\n");
    const lines = [
      `SIP/2.0 ${status}`,
      ...copied,
      `To: ${to.includes("tag=") ? to : `${to};tag=${tag}`}`,
      `Contact: <sip:raw@127.0.0.1:${this.port}>`,
      ...(head === "" ? [] : head.split("\n")),
      ...(body === "" ? [] : ["Content-Type: application/sdp"]),
      `Content-Length: ${Buffer.byteLength(text)}`,
      "",
      text,
    ];
    const port = Number(/SIP\/2\.0\/UDP [^;\s]*:(\d+)/.exec(field(request, "Via"))?.[1]);
    this.#socket.send(lines.join("\r\n"), port, "127.0.0.1");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await new Promise<void>((resolve) => this.#socket.close(() => resolve()));
  }
}

/** Value of the first header line of a name. */
export function field(text: string, name: string): string {
  return new RegExp(`^${name}: *(.*?)\r?$`, "im").exec(text)?.[1] ?? "";
}

export const sdpMore = `

v=0
o=- 1 1 IN IP4 127.0.0.1
s=-
c=IN IP4 127.0.0.1
t=0 0
m=audio 6000 RTP/AVP 8
a=rtpmap:8 PCMA/8000
`;
