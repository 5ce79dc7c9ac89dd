import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type Server,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { AddressInfo, Socket } from "node:net";

/** A request as the server saw it. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
  readonly body: Buffer;
  /** Resolves when the client went away before the answer was whole: false when it stayed to the end. */
  readonly abandoned: Promise<boolean>;
}

/** A local server that speaks a vendor's protocol. */
export interface VendorServer extends AsyncDisposable {
  /** Without a path; `http:` or `https:`. */
  readonly url: string;
  /** PEM to trust, for TLS. */
  readonly ca: string | undefined;
  readonly server: Server;
  readonly requests: SeenRequest[];
  /** Answers the next request instead of the usual handler; may be called several times. */
  once(answer: Answer): void;
  /** Open connections. */
  readonly connections: ReadonlySet<Socket>;
}

export type Answer = (request: SeenRequest, response: ServerResponse) => void | Promise<void>;

interface Certificate {
  readonly key: string;
  readonly cert: string;
}

const opensslProgram = "openssl";

/** Self-signed for `localhost` and 127.0.0.1, made by openssl. */
export function makeCertificate(): Certificate {
  const folder = mkdtempSync(join(tmpdir(), "outdial-tls-"));
  try {
    const [key, cert] = [join(folder, "key.pem"), join(folder, "cert.pem")];
    const subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"];
    const made = [
      "-newkey",
      "ec",
      "-pkeyopt",
      "ec_paramgen_curve:prime256v1",
      "-nodes",
      "-keyout",
      key,
      "-out",
      cert,
    ];
    execFileSync(opensslProgram, ["req", "-x509", "-days", "2", ...made, ...subject], { stdio: "pipe" });
    return { key: readFileSync(key, "utf8"), cert: readFileSync(cert, "utf8") };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

export async function startVendorServer(answer: Answer, certificate?: Certificate): Promise<VendorServer> {
  const requests: SeenRequest[] = [];
  const queued: Answer[] = [];
  const connections = new Set<Socket>();
  const listener: RequestListener = (message, response) => {
    void (async () => {
      const request = await seen(message, response);
      requests.push(request);
      await (queued.shift() ?? answer)(request, response);
    })();
  };
  const server = certificate === undefined ? createServer(listener) : createTlsServer(certificate, listener);
  server.on("connection", (socket: Socket) => {
    connections.add(socket);
    socket.on("close", () => connections.delete(socket));
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: certificate === undefined ? `http://127.0.0.1:${port}` : `https://localhost:${port}`,
    ca: certificate?.cert,
    server,
    requests,
    once: (next) => void queued.push(next),
    connections,
    async [Symbol.asyncDispose]() {
      const closed = new Promise<void>((resolve) => void server.close(() => resolve()));
      for (const socket of connections) socket.destroy();
      await closed;
    },
  };
}

async function seen(message: IncomingMessage, response: ServerResponse): Promise<SeenRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) chunks.push(chunk as Buffer);
  const url = new URL(message.url ?? "", "http://localhost");
  return {
    method: message.method ?? "",
    path: url.pathname,
    query: url.searchParams,
    headers: message.headers,
    body: Buffer.concat(chunks),
    abandoned: new Promise((resolve) => {
      response.on("close", () => resolve(!response.writableFinished));
    }),
  };
}

/** An answer of JSON. */
export function json(
  response: ServerResponse,
  status: number,
  value: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(value));
}
