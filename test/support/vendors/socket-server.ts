import { WebSocketServer, type WebSocket } from "ws";
import { json, startVendorServer, type SeenRequest, type VendorServer } from "./vendor-server.ts";

/** A client's connection as a test sees it. */
export interface SeenSocket {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: SeenRequest["headers"];
  readonly socket: WebSocket;
  /** Octets of all binary messages. */
  readonly audio: Buffer[];
  /** All text messages, read as JSON. */
  readonly said: Record<string, unknown>[];
  /** Close code, once closed. */
  readonly closed: Promise<number>;
  tell(message: object): void;
}

export interface SocketVendor extends VendorServer {
  readonly sockets: SeenSocket[];
  /** The next client's connection. */
  next(): Promise<SeenSocket>;
}

export interface SocketScript {
  /** The value of `authorization` that is let in. */
  readonly authorization: string;
  onOpen?(client: SeenSocket): void;
  onText?(client: SeenSocket, message: Record<string, unknown>): void;
  onAudio?(client: SeenSocket, octets: Buffer): void;
}

/** A server of WebSockets that refuses a wrong key with 401, as vendors do. */
export async function startSocketServer(
  script: SocketScript,
  certificate?: { readonly key: string; readonly cert: string },
): Promise<SocketVendor> {
  const vendor = await startVendorServer((_, response) => json(response, 404, {}), certificate);
  const sockets: SeenSocket[] = [];
  let waiting: ((client: SeenSocket) => void)[] = [];
  const server = new WebSocketServer({ noServer: true });
  vendor.server.on("upgrade", (request, connection, head) => {
    if (request.headers.authorization !== script.authorization) {
      connection.end("HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
      return;
    }
    server.handleUpgrade(request, connection, head, (socket) => {
      const url = new URL(request.url ?? "", "http://localhost");
      const client: SeenSocket = {
        path: url.pathname,
        query: url.searchParams,
        headers: request.headers,
        socket,
        audio: [],
        said: [],
        closed: new Promise((resolve) => void socket.on("close", resolve)),
        tell: (message) => socket.send(JSON.stringify(message)),
      };
      socket.on("message", (data: Buffer, isBinary: boolean) => {
        if (isBinary) {
          client.audio.push(data);
          script.onAudio?.(client, data);
        } else {
          const message = JSON.parse(data.toString("utf8")) as Record<string, unknown>;
          client.said.push(message);
          script.onText?.(client, message);
        }
      });
      sockets.push(client);
      for (const take of waiting) take(client);
      waiting = [];
      script.onOpen?.(client);
    });
  });
  return {
    ...vendor,
    sockets,
    next: async () => new Promise((resolve) => void waiting.push(resolve)),
  };
}
