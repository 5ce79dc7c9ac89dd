import type { Log } from "#host";
import { errorBody, matchRoute, type ErrorShape, type Failure, type Route } from "#wire";
import { fastify, type FastifyInstance, type FastifyReply, type FastifyRequest } from "fastify";
import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import { badRequest, failureOf, Refusal } from "./failure.ts";
import { compileCheck } from "./validate.ts";

/** A request that was admitted and whose body has the right shape. */
export interface ApiRequest<Caller> {
  readonly caller: Caller;
  readonly route: Route;
  readonly url: string;
  readonly params: Readonly<Record<string, string>>;
  /** As sent: all text; a repeated name is an array. */
  readonly query: Readonly<Record<string, unknown>>;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  /** The octets `body` was read from. */
  readonly rawBody: Uint8Array;
  /** Fires when the answer has left or the client has gone. */
  readonly gone: AbortSignal;
}

/** What a handler answers; `text` is JSON already. */
export type Answer =
  | { readonly type: "json"; readonly body: unknown; readonly status?: number; readonly headers?: Headers }
  | { readonly type: "text"; readonly text: string; readonly status: number; readonly headers?: Headers }
  | {
      readonly type: "stream";
      readonly stream: NodeJS.ReadableStream;
      readonly contentType: string;
      readonly status?: number;
      readonly headers?: Headers;
    }
  | { readonly type: "empty"; readonly status: number; readonly headers?: Headers };

type Headers = Readonly<Record<string, string>>;

export type Handler<Caller> = (request: ApiRequest<Caller>) => Promise<Answer>;

export interface HttpOptions<Caller> {
  readonly routes: Readonly<Record<string, Route>>;
  readonly handlers: Readonly<Record<string, Handler<Caller>>>;
  /** Before anything else, on every request, also unknown paths. Throws to refuse. */
  readonly guard: (headers: IncomingHttpHeaders) => void;
  /** Before the body is read. Throws to refuse; the headers go with every answer. */
  readonly admit: (
    headers: IncomingHttpHeaders,
    route: Route,
  ) => Promise<{ caller: Caller; headers: Headers }>;
  /** For unknown paths and wrong methods. */
  readonly fallbackErrors: ErrorShape;
  readonly log: Log;
}

interface Body {
  readonly raw: Uint8Array;
  readonly value: unknown;
}

const noBody: Body = { raw: new Uint8Array(), value: undefined };

/** A server that serves a route table: guard, admission, body, handler, and errors in the shape of the operation. */
export function createHttp<Caller>(options: HttpOptions<Caller>): FastifyInstance {
  const app = fastify({
    logger: false,
    exposeHeadRoutes: false,
    return503OnClosing: false,
    forceCloseConnections: "idle",
    requestTimeout: 120_000,
    http: { headersTimeout: 10_000, connectionsCheckingInterval: 2_000 },
    routerOptions: { maxParamLength: 1024 },
    frameworkErrors: (error, request, reply) => {
      void fail(unmatched(options, request), error, reply, options.log);
    },
    clientErrorHandler: refuseGarbage,
  });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, octets, done) => {
    try {
      done(null, readJson(octets));
    } catch (error) {
      done(error instanceof Error ? error : new Error("unreadable body"));
    }
  });
  app.addHook("onRequest", async (request, reply) => {
    reply.headers({ "x-content-type-options": "nosniff", "cache-control": "no-store" });
    options.guard(request.headers);
  });
  closeWhenQuiet(app);
  for (const [name, route] of Object.entries(options.routes)) {
    const handler = options.handlers[name];
    if (!handler) throw new Error(`The operation ${name} has no handler`);
    addRoute(app, route, handler, options);
  }
  app.setNotFoundHandler(async (request, reply) => {
    const { shape, error } = unknownPath(options, request);
    return fail({ shape }, error, reply, options.log);
  });
  app.setErrorHandler(async (error, request, reply) =>
    fail(unmatched(options, request), error, reply, options.log),
  );
  return app;
}

/** A connection kept alive would hold up closing: each is cut as soon as its request has been answered. */
function closeWhenQuiet(app: FastifyInstance): void {
  let closing = false;
  app.addHook("preClose", async () => {
    closing = true;
  });
  app.addHook("onResponse", async () => {
    if (closing) setImmediate(() => app.server.closeIdleConnections());
  });
}

function addRoute<Caller>(
  app: FastifyInstance,
  route: Route,
  handler: Handler<Caller>,
  options: HttpOptions<Caller>,
): void {
  const schema = route.bodyShape ?? route.body;
  const check = schema && compileCheck(schema);
  const callers = new WeakMap<FastifyRequest, Caller>();
  const heads = route.method === "GET" && route.access === "open" ? ["HEAD"] : [];
  app.route({
    method: [route.method, ...heads],
    url: route.path.replaceAll(/\{(\w+)\}/g, ":$1"),
    ...(route.bodyLimitBytes === undefined ? {} : { bodyLimit: route.bodyLimitBytes }),
    errorHandler: (error, _request, reply) => {
      void fail({ route, shape: route.errors }, error, reply, options.log);
    },
    onRequest: async (request, reply) => {
      const admitted = await options.admit(request.headers, route);
      callers.set(request, admitted.caller);
      reply.headers(admitted.headers);
    },
    handler: async (request, reply) => {
      const caller = callers.get(request);
      if (caller === undefined) throw new Error("A request was handled before it was admitted");
      const body = bodyOf(request);
      if (check) check(body.value);
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      const answer = await handler({
        caller,
        route,
        url: request.url,
        params: textsOf(request.params),
        query: recordOf(request.query),
        headers: request.headers,
        body: body.value,
        rawBody: body.raw,
        gone: gone.signal,
      });
      return send(reply, answer, route);
    },
  });
}

function send(reply: FastifyReply, answer: Answer, route: Route): FastifyReply {
  reply.code(answer.status ?? route.success.status);
  reply.headers(answer.headers ?? {});
  switch (answer.type) {
    case "json":
      return reply.type("application/json; charset=utf-8").send(JSON.stringify(answer.body));
    case "text":
      return reply.type("application/json; charset=utf-8").send(answer.text);
    case "stream":
      return reply.type(answer.contentType).send(answer.stream);
    case "empty":
      return reply.send();
  }
}

interface ErrorPlace {
  readonly route?: Route;
  readonly shape: ErrorShape;
}

function fail(place: ErrorPlace, error: unknown, reply: FastifyReply, log: Log): FastifyReply {
  const failure = failureOf(error, place.route);
  if (failure.status >= 500) log.error("request failed", { path: place.route?.path, error: describe(error) });
  if (error instanceof Refusal) reply.headers(error.headers);
  else if (failure.retryAfterS !== undefined) reply.header("retry-after", String(failure.retryAfterS));
  return reply
    .code(failure.status)
    .type("application/json; charset=utf-8")
    .send(JSON.stringify(errorBody(place.shape, failure)));
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

function unmatched<Caller>(options: HttpOptions<Caller>, request: FastifyRequest): ErrorPlace {
  const match = matchRoute(options.routes, request.method, pathOf(request.url));
  return match.type === "matched"
    ? { route: match.route, shape: match.route.errors }
    : { shape: options.fallbackErrors };
}

function unknownPath<Caller>(
  options: HttpOptions<Caller>,
  request: FastifyRequest,
): { readonly shape: ErrorShape; readonly error: Refusal } {
  const match = matchRoute(options.routes, request.method, pathOf(request.url));
  const missing: Failure = { status: 404, code: "not-found", message: "There is nothing at this path" };
  switch (match.type) {
    case "matched": // The path fits the table, but a parameter is longer than the router takes.
      return { shape: match.route.errors, error: new Refusal(missing) };
    case "wrong-method": {
      const allow = match.allow.join(", ");
      const failure = { status: 405, code: "method-not-allowed", message: `This path takes ${allow}` };
      return { shape: options.fallbackErrors, error: new Refusal(failure, { allow }) };
    }
    case "unknown":
      return { shape: options.fallbackErrors, error: new Refusal(missing) };
  }
}

function pathOf(url: string): string {
  return url.split("?", 1)[0] ?? url;
}

/** JSON as it stands: names such as `__proto__` become plain own properties. */
function readJson(octets: string | Buffer): Body {
  const raw = typeof octets === "string" ? Buffer.from(octets) : octets;
  try {
    const value: unknown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(raw));
    return { raw, value };
  } catch {
    throw badRequest("The body is not valid JSON");
  }
}

function bodyOf(request: FastifyRequest): Body {
  const body: unknown = request.body;
  return isBody(body) ? body : noBody;
}

function isBody(value: unknown): value is Body {
  return typeof value === "object" && value !== null && "raw" in value && value.raw instanceof Uint8Array;
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(Object(value)));
}

function textsOf(value: unknown): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(Object(value)).map(([name, text]) => [name, String(text)]));
}

/** What is not HTTP at all, too slow or too long never reaches the routes. */
function refuseGarbage(error: { readonly code?: string }, socket: Socket): void {
  if (error.code === "ECONNRESET" || !socket.writable) return void socket.destroy();
  const status =
    error.code === "HPE_HEADER_OVERFLOW"
      ? "431 Request Header Fields Too Large"
      : error.code === "ERR_HTTP_REQUEST_TIMEOUT"
        ? "408 Request Timeout"
        : "400 Bad Request";
  const body = JSON.stringify({ success: false, error: { code: "bad-request", message: status.slice(4) } });
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close`;
  socket.end(`${head}\r\n\r\n${body}`);
}
