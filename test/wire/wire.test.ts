import { Ajv2020 } from "ajv/dist/2020.js";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  adminRoutes,
  errorBody,
  fillPath,
  matchRoute,
  openApi,
  publicRoutes,
  readErrorBody,
  type ErrorShape,
  type Failure,
  type Route,
} from "../../src/wire/index.ts";

const tables: readonly Readonly<Record<string, Route>>[] = [publicRoutes, adminRoutes];
const routes = tables.flatMap((table) => Object.values(table));

describe("the route tables", () => {
  test("name each method and path once", () => {
    expect(new Set(routes.map(({ method, path }) => `${method} ${path}`)).size).toBe(routes.length);
  });

  test("keep the administration off the public side: only /admin is on the socket, and nothing else", () => {
    expect(routes.filter(({ access, path }) => (access === "socket") !== path.startsWith("/admin/"))).toEqual(
      [],
    );
  });

  test("require a token for the four published operations", () => {
    const guarded = routes
      .filter(({ access }) => access === "token")
      .map(({ method, path }) => `${method} ${path}`);
    expect(guarded).toEqual(["POST /call", "POST /campaign", "GET /calls", "GET /call/{callId}"]);
  });

  test("find each route by its own filled path, and give its parameters back", () => {
    for (const table of tables) {
      for (const route of Object.values(table)) {
        const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name ?? "");
        const params = Object.fromEntries(names.map((name) => [name, "a-1"]));
        expect(matchRoute(table, route.method, fillPath(route.path, params))).toEqual({
          type: "matched",
          route,
          params,
        });
      }
    }
  });

  test("tell a wrong method from an unknown path", () => {
    expect(matchRoute(adminRoutes, "PUT", "/admin/trunks/x")).toEqual({
      type: "wrong-method",
      allow: ["GET", "DELETE"],
    });
    expect(matchRoute(publicRoutes, "GET", "/call/")).toEqual({ type: "unknown" });
    expect(matchRoute(publicRoutes, "GET", "/constructor")).toEqual({ type: "unknown" });
  });

  test("no value can leave its place in a path", () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (callId) => {
        const path = fillPath("/call/{callId}", { callId });
        expect(path.split("/")).toHaveLength(3);
        expect(decodeURIComponent(path.slice(6))).toBe(callId);
      }),
    );
    expect(() => fillPath("/call/{callId}", {})).toThrow("needs callId");
  });
});

describe("error bodies", () => {
  const failure: Failure = { status: 400, code: "bad-request", message: "phone is missing" };

  test.each<[ErrorShape, unknown]>([
    ["flag", { error: true, message: "phone is missing" }],
    ["text", { error: "phone is missing" }],
    ["list", { error: "phone is missing" }],
    ["envelope", { success: false, error: { code: "bad-request", message: "phone is missing" } }],
    ["admin", { error: { code: "bad-request", message: "phone is missing" } }],
  ])("in the shape %s", (shape, body) => {
    expect(errorBody(shape, failure)).toEqual(body);
  });

  test.each([
    [401, { error: "x" }],
    [403, "x"],
    [429, { error: "x", retry_after: 7 }],
    [500, "x"],
    [503, "x"],
  ])("of the list with status %i", (status, body) => {
    const retryAfterS = status === 429 ? { retryAfterS: 7 } : {};
    expect(errorBody("list", { status, code: "c", message: "x", ...retryAfterS })).toEqual(body);
  });

  test("what a server writes a client reads, in every shape", () => {
    const shapes = fc.constantFrom<ErrorShape>("flag", "text", "list", "envelope", "admin");
    const statuses = fc.constantFrom(400, 401, 403, 404, 409, 413, 429, 500, 503);
    fc.assert(
      fc.property(shapes, statuses, fc.string({ minLength: 1 }), (shape, status, message) => {
        const body: unknown = JSON.parse(
          JSON.stringify(errorBody(shape, { status, code: "some-code", message })),
        );
        const read = readErrorBody(status, body);
        expect([read.status, read.message]).toEqual([status, message]);
        if (shape === "admin" || shape === "envelope") expect(read.code).toBe("some-code");
      }),
    );
  });

  test("place, hint and wait come through", () => {
    const whole: Failure = {
      status: 422,
      code: "c",
      message: "m",
      hint: "h",
      where: "w",
      line: 3,
      column: 5,
      retryAfterS: 2,
    };
    expect(readErrorBody(422, errorBody("admin", whole))).toEqual(whole);
  });

  test("anything else still reads as an error", () => {
    fc.assert(
      fc.property(fc.anything(), (body) => {
        expect(readErrorBody(502, body)).toMatchObject({ status: 502, message: expect.any(String) });
      }),
    );
    expect(readErrorBody(502, "<html>")).toEqual({ status: 502, code: "http-502", message: "<html>" });
  });
});

describe("the OpenAPI page", () => {
  const page = JSON.parse(JSON.stringify(openApi("2.0.0", "http://localhost:8787")));

  test("describes every public operation and nothing of the administration", () => {
    const described = Object.entries<Record<string, unknown>>(page.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    );
    expect(described).toEqual(Object.values(publicRoutes).map(({ method, path }) => `${method} ${path}`));
    expect(page).toMatchObject({ openapi: "3.1.0", info: { version: "2.0.0" } });
    expect(JSON.stringify(page)).not.toContain("/admin");
  });

  test("tells the parameters, the key, the answers and the errors of an operation", () => {
    const start = page.paths["/call"].post;
    expect(start.parameters).toEqual([expect.objectContaining({ name: "Idempotency-Key", in: "header" })]);
    expect(start.security).toEqual([{ token: [] }]);
    expect(Object.keys(start.responses)).toEqual(["200", "400", "401", "409", "413", "429", "500", "503"]);
    expect(page.paths["/calls"].get.responses["403"].content["application/json"].schema).toEqual({
      type: "string",
    });
    expect(page.paths["/calls"].get.parameters.map(({ name }: { name: string }) => name)).toContain(
      "daysFromNow",
    );
    expect(page.paths["/call/{callId}"].get.parameters).toEqual([
      { name: "callId", in: "path", required: true, schema: { type: "string" } },
    ]);
  });

  test("holds only schemas that a validator takes", () => {
    const ajv = new Ajv2020({ strict: false, formats: { uuid: true } });
    const schemas = routes.flatMap(({ body, bodyShape, query, success }) => [
      body,
      bodyShape,
      query,
      success.schema,
    ]);
    expect(schemas.filter((schema) => schema && ajv.validateSchema(schema) !== true)).toEqual([]);
  });
});
