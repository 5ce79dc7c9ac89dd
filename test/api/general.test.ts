import { OutdialError } from "#base";
import { startPublicApi } from "#api";
import { hashes, silentLog } from "#host";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { MemoryService } from "../support/memory-service.ts";
import { PublicApiRig } from "../support/public-api.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

let rig: PublicApiRig;
beforeEach(async () => {
  rig = await PublicApiRig.start();
});
afterEach(async () => rig[Symbol.asyncDispose]());

const envelope = (code: string) => ({ success: false, error: { code, message: expect.any(String) } });

describe("paths and methods", () => {
  test.each(["/", "/calls/", "/CALLS", "/admin/status", "/call/a/b", "/%zz"])(
    "404 in the general envelope for %s",
    async (path) => {
      const reply = await rig.ask("GET", path);
      expect([reply.status, reply.json]).toEqual([404, envelope("not-found")]);
    },
  );

  test.each([
    ["GET", "/call", "POST"],
    ["PUT", "/call", "POST"],
    ["DELETE", "/campaign", "POST"],
    ["POST", "/calls", "GET"],
    ["PATCH", "/calls", "GET"],
    ["OPTIONS", "/calls", "GET"],
    ["DELETE", "/call/0190c000-0000-7000-8000-000000000001", "GET"],
    ["POST", "/health", "GET"],
  ])("405 with Allow in the general envelope for %s %s", async (method, path, allow) => {
    const reply = await rig.ask(method, path);
    expect([reply.status, reply.json, reply.headers["allow"]]).toEqual([
      405,
      envelope("method-not-allowed"),
      allow,
    ]);
  });

  test("the administration is not there, whatever the token", async () => {
    for (const path of ["/admin/status", "/admin/tokens", "/admin/accounts"]) {
      expect((await rig.ask("GET", path)).status).toBe(404);
      expect((await rig.ask("POST", path, { name: "x" })).status).toBe(404);
    }
  });

  test("health and the description need no token", async () => {
    const nobody = { authorization: "" };
    expect((await rig.ask("GET", "/health", undefined, nobody)).json).toEqual({ status: "ok" });
    const page = await rig.ask("GET", "/openapi.json", undefined, nobody);
    expect(page.json).toMatchObject({ openapi: "3.1.0", servers: [{ url: rig.origin }] });
  });
});

describe("the server", () => {
  test("refuses a port that is taken with a code and a hint", async () => {
    const starting = startPublicApi({
      service: new MemoryService(),
      clock: new VirtualClock(),
      host: "127.0.0.1",
      port: rig.port,
      allowedHosts: [],
      hashes,
      signingKey: new Uint8Array(32),
      log: silentLog,
    });
    await expect(starting).rejects.toThrow(OutdialError);
    await expect(starting).rejects.toMatchObject({ code: "address-in-use", hint: expect.any(String) });
  });
});
