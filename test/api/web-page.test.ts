import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { playbookA } from "../support/memory-service.ts";
import { PublicApiRig } from "../support/public-api.ts";

let rig: PublicApiRig;
beforeEach(async () => {
  rig = await PublicApiRig.start();
});
afterEach(async () => rig[Symbol.asyncDispose]());

const good = { phone: "+34600111222", playbook_id: playbookA };

describe("a web page", () => {
  test.each([
    "evil.example",
    "evil.example:80",
    "localhost.evil.example",
    "127.0.0.1.evil.example",
    "localhost.",
    "0.0.0.0",
    "[::]",
  ])("that reaches the server under the name %s is answered 421", async (host) => {
    for (const path of ["/calls", "/health", "/openapi.json", "/nothing", "/recordings/x"]) {
      expect((await rig.ask("GET", path, undefined, { host })).status).toBe(421);
    }
    expect((await rig.ask("POST", "/call", good, { host })).json).toEqual({
      error: true,
      message: expect.any(String),
    });
    expect(rig.service.lookedUp).toEqual([]);
  });

  test.each(["localhost", "LOCALHOST:8787", "127.0.0.1:1", "[::1]:8787", "calls.test", "Calls.Test:443"])(
    "cannot be confused with the owner: the name %s is served",
    async (host) => {
      expect((await rig.ask("GET", "/calls", undefined, { host })).status).toBe(200);
    },
  );

  test.each(["http://evil.example", "http://127.0.0.1:8787", "null", ""])(
    "with the origin %j is answered 403",
    async (origin) => {
      expect((await rig.ask("POST", "/call", good, { origin })).status).toBe(403);
      expect((await rig.ask("GET", "/calls", undefined, { origin })).text).toBe(
        '"Requests from web pages are not served"',
      );
      expect((await rig.ask("GET", "/health", undefined, { origin })).status).toBe(403);
      expect(rig.service.started).toEqual([]);
    },
  );

  test("gets no permission from a preflight, and no CORS header anywhere", async () => {
    const preflight = await rig.ask("OPTIONS", "/call", undefined, {
      origin: "http://evil.example",
      "access-control-request-method": "POST",
      "access-control-request-headers": "authorization,content-type",
    });
    expect(preflight.status).toBe(403);
    for (const reply of [preflight, await rig.ask("GET", "/calls"), await rig.ask("POST", "/call", good)]) {
      expect(Object.keys(reply.headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
    }
  });

  test("posting a form starts nothing", async () => {
    for (const type of [
      "application/x-www-form-urlencoded",
      "text/plain",
      "multipart/form-data; boundary=b",
    ]) {
      expect((await rig.ask("POST", "/call", JSON.stringify(good), { "content-type": type })).status).toBe(
        400,
      );
    }
    expect(rig.service.started).toEqual([]);
  });

  test("without any Host is not served", async () => {
    expect(await exchange("GET /health HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1\.1 421 /);
  });

  test("answers are not sniffed and not cached", async () => {
    expect((await rig.ask("GET", "/calls")).headers).toMatchObject({
      "x-content-type-options": "nosniff",
      "cache-control": "no-store",
    });
  });
});

describe("what is no request", () => {
  test("gets a plain 400 and a closed connection", async () => {
    const answer = await exchange("\x16\x03\x01 hello\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    expect(answer).toContain('{"success":false,"error":{');
  });

  test("with endless headers gets 431", async () => {
    expect(
      await exchange(`GET /health HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(20_000)}\r\n\r\n`),
    ).toMatch(/^HTTP\/1\.1 431 /);
  });
});

async function exchange(octets: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let answer = "";
  const socket = connect(rig.port, "127.0.0.1", () => socket.write(octets));
  socket.on("data", (chunk) => (answer += chunk.toString()));
  socket.on("close", () => resolve(answer));
  socket.on("error", reject);
  return promise;
}
