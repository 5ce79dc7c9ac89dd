import { publicRoutes } from "./routes.ts";
import type { ErrorShape, Route } from "./route.ts";

type Json = Readonly<Record<string, unknown>>;

const statusTexts: Readonly<Record<number, string>> = {
  400: "The request is wrong; the message says where",
  401: "Token missing, malformed, unknown, expired or revoked",
  403: "The playbook is not the caller's",
  404: "Not found",
  409: "The Idempotency-Key was used with another body",
  413: "The request is too large",
  416: "Range outside the recording",
  429: "Rate limited; retry_after says for how many seconds",
  500: "Internal error",
  503: "Nothing can be stored now; try later",
};

/** The public interface as OpenAPI 3.1, made from the route table. */
export function openApi(version: string, serverUrl: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const [operationId, route] of Object.entries<Route>(publicRoutes)) {
    const operations = (paths[route.path] ??= {});
    operations[route.method.toLowerCase()] = operation(operationId, route);
  }
  return {
    openapi: "3.1.0",
    info: { title: "Outbound voice calls", version },
    servers: [{ url: serverUrl }],
    paths,
    components: { securitySchemes: { token: { type: "http", scheme: "bearer" } } },
  };
}

function operation(operationId: string, route: Route): Json {
  const parameters = [...pathParameters(route), ...queryParameters(route), ...headerParameters(route)];
  return {
    operationId,
    summary: route.summary,
    security: route.access === "token" ? [{ token: [] }] : [],
    ...(parameters.length > 0 && { parameters }),
    ...(route.body && {
      requestBody: { required: true, content: { "application/json": { schema: route.body } } },
    }),
    responses: {
      [route.success.status]: {
        description: "Success",
        content: {
          [route.success.contentType ?? "application/json"]: {
            schema: route.success.schema ?? { type: "string", format: "binary" },
          },
        },
      },
      ...Object.fromEntries(route.failures.map((status) => [status, failure(route.errors, status)])),
    },
  };
}

function pathParameters(route: Route): readonly Json[] {
  return [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters(route: Route): readonly Json[] {
  const properties: unknown = route.query && "properties" in route.query ? route.query.properties : {};
  return Object.entries(Object(properties)).map(([name, schema]) => ({
    name,
    in: "query",
    required: false,
    schema,
  }));
}

function headerParameters(route: Route): readonly Json[] {
  if (!route.idempotent) return [];
  const schema = { type: "string", minLength: 1, maxLength: 255 };
  return [{ name: "Idempotency-Key", in: "header", required: false, schema }];
}

function failure(shape: ErrorShape, status: number): Json {
  const headers = status === 429 ? { headers: { "Retry-After": { schema: { type: "integer" } } } } : {};
  return {
    description: statusTexts[status] ?? "Error",
    ...headers,
    content: { "application/json": { schema: errorSchema(shape, status) } },
  };
}

function errorSchema(shape: ErrorShape, status: number): Json {
  const text = { type: "string" };
  const later = status === 429 ? { retry_after: { type: "integer" } } : {};
  switch (shape) {
    case "flag":
      return object({ error: { const: true }, message: text, ...later });
    case "text":
      return object({ error: text, ...later });
    case "list":
      return status === 403 || status >= 500 ? text : object({ error: text, ...later });
    case "envelope":
      return object({ success: { const: false }, error: object({ code: text, message: text }) });
    case "admin":
      return object({ error: object({ code: text, message: text }) });
  }
}

function object(properties: Json): Json {
  return { type: "object", required: Object.keys(properties), properties };
}
