import { silentLog, systemEntropy } from "#host";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Store } from "../../src/daemon/ports.ts";
import type { Secrets } from "../../src/daemon/secrets.ts";
import { trunkService } from "../../src/daemon/service-trunks.ts";
import { createTrunkHealth } from "../../src/daemon/trunk-health.ts";
import type { TrunkChange } from "../../src/daemon/trunk-settings.ts";
import { accountId } from "../store/sample-rows.ts";
import { temporaryStore } from "../store/temporary-store.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

let here: Awaited<ReturnType<typeof rig>>;
beforeEach(async () => {
  here = await rig();
});
afterEach(() => here.temporary[Symbol.asyncDispose]());

async function rig() {
  const temporary = await temporaryStore({ engine: "node-sqlite" });
  const store: Store = temporary.store;
  const clock = new VirtualClock();
  const kept = new Map<string, string>();
  const secrets: Secrets = {
    find: (name) => kept.get(name),
    set: async (name, value) => void kept.set(name, value),
    remove: async (name) => void kept.delete(name),
  };
  const registered: string[] = [];
  const health = createTrunkHealth({
    telephony: {
      register: ({ target }) => {
        registered.push(`${target.username} ${target.password}`);
        return { state: { type: "registered", expiresAt: 1 }, close: async () => void registered.pop() };
      },
    },
    clock,
    log: silentLog,
    target: (trunk) => service.target(trunk),
    trust: () => undefined,
    publish: () => undefined,
    wake: () => undefined,
  });
  const service = trunkService({
    store,
    clock,
    entropy: systemEntropy,
    secrets,
    sandbox: { address: "127.0.0.1", port: 4000 },
    health: () => health,
    telephony: { probe: async () => ({ failure: "timeout" }) },
    resolve: async () => ["192.0.2.1"],
  });
  return { temporary, store, service, kept, registered, health };
}

const order = { accountId, name: "main", kind: "digest", host: "sip.example.com", username: "ana" } as const;
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("adding a trunk", () => {
  test("leaves the way to DNS when no port is given, and keeps the password out of the store", async () => {
    const made = await here.service.createTrunk({ ...order, password: "secret" });
    expect(made).toMatchObject({ port: 0, isDefault: true, fault: null, registration: null });
    const stored = await here.store.findTrunk(accountId, "main");
    expect(JSON.stringify(stored)).not.toContain("secret");
    expect([...here.kept.values()]).toEqual(["secret"]);
    expect(here.service.target(made)).toMatchObject({ username: "ana", password: "secret" });
  });

  test("that registers does so at once, and ends it when it is removed", async () => {
    const made = await here.service.createTrunk({ ...order, kind: "register", password: "secret" });
    expect(made).toMatchObject({ sip: { register: true }, registration: { type: "registering" } });
    await settled();
    expect(here.registered).toEqual(["ana secret"]);
    expect(await here.service.removeTrunk(accountId, "main")).toBe(true);
    expect(here.registered).toEqual([]);
    expect(here.kept.size).toBe(0);
  });

  test.each<[TrunkChange, string]>([
    [{ sip: { srtp: "required" } }, "SRTP needs --transport tls: over udp the keys could be read on the way"],
    [{ sip: { numberFormat: "x" } }, "no number format"],
    [{ sip: { headers: { Via: "x" } } }, "not for you to set"],
    [{ host: "a b" }, "host name or address"],
    [{ username: "" }, "needs a username and a password"],
    [{ callerId: "123" }, "no number with country prefix"],
  ])("%j is refused and leaves nothing behind", async (change, says) => {
    const refused = here.service.createTrunk({ ...order, password: "secret", ...change });
    await expect(refused).rejects.toThrow(says);
    expect(await here.store.listTrunks(accountId)).toEqual([]);
    expect(here.kept.size).toBe(0);
  });
});

describe("changing a trunk", () => {
  test("changes what is said and nothing else", async () => {
    await here.service.createTrunk({ ...order, password: "secret", sip: { priority: 3 } });
    const edited = await here.service.editTrunk(accountId, "main", {
      name: "spare",
      kind: "register",
      password: "new",
      sip: { transport: "tls", srtp: "required" },
    });
    expect(edited).toMatchObject({
      name: "spare",
      host: "sip.example.com",
      sip: { priority: 3, transport: "tls", srtp: "required", register: true },
    });
    await settled();
    expect(here.registered).toEqual(["ana new"]);
    await here.service.editTrunk(accountId, "spare", { kind: "ip", username: "" });
    await settled();
    expect(here.registered).toEqual([]);
    expect(await here.store.findTrunk(accountId, "spare")).toMatchObject({ username: null, kind: "ip" });
  });

  test("to what is refused changes nothing, the password included", async () => {
    await here.service.createTrunk({ ...order, password: "secret" });
    await here.service.createTrunk({ ...order, name: "other", password: "x" });
    const before = await here.store.findTrunk(accountId, "main");
    const changes = [
      [{ sip: { srtp: "required" } }, "bad-sip-settings"],
      [{ name: "other" }, "trunk-exists"],
    ] as const;
    for (const [change, code] of changes) {
      const refused = here.service.editTrunk(accountId, "main", { ...change, password: "new" });
      await expect(refused).rejects.toMatchObject({ code });
    }
    expect(await here.store.findTrunk(accountId, "main")).toEqual(before);
    expect([...here.kept.values()]).toContain("secret");
    await expect(here.service.editTrunk(accountId, "none", {})).rejects.toMatchObject({
      code: "trunk-not-found",
    });
  });

  test("takes a held trunk into use again", async () => {
    const { id } = await here.service.createTrunk({ ...order, password: "secret" });
    here.health.callEnded(id, { state: "failed", cause: "auth-failed" });
    expect(await here.service.findTrunk(accountId, "main")).toMatchObject({ fault: { held: true } });
    expect(await here.service.editTrunk(accountId, "main", { password: "right" })).toMatchObject({
      fault: null,
    });
  });
});

describe("the way of a call", () => {
  const add = (name: string, fields: TrunkChange = {}) =>
    here.service.createTrunk({ ...order, name, password: "p", callerId: "+34910000000", ...fields });

  test("is left open when no trunk is named, with the number of the one that comes first", async () => {
    await here.service.createTrunk({ accountId, name: "sandbox", kind: "sandbox" });
    await add("b", { callerId: "+34910000002", sip: { priority: 5 } });
    await add("a", { callerId: "+34910000001" });
    const open = (callerId: string) => ({ trunkId: null, callerId });
    expect(await here.service.forCall(accountId, "+34600111222", undefined)).toEqual(open("+34910000002"));
    const { id } = await here.service.setDefaultTrunk(accountId, "a");
    expect(await here.service.forCall(accountId, "+34600111222", undefined)).toEqual(open("+34910000001"));
    here.health.callEnded(id, { state: "failed", cause: "auth-failed" });
    expect(await here.service.forCall(accountId, "+34600111222", undefined)).toEqual(open("+34910000002"));
  });

  test("is the trunk that was named, and the sandbox for its numbers", async () => {
    const sandbox = await here.service.createTrunk({ accountId, name: "sandbox", kind: "sandbox" });
    const main = await add("main");
    expect(await here.service.forCall(accountId, "+34600111222", "main")).toMatchObject({ trunkId: main.id });
    expect(await here.service.forCall(accountId, "+9990000001", undefined)).toMatchObject({
      trunkId: sandbox.id,
    });
    await expect(here.service.forCall(accountId, "+34600111222", "none")).rejects.toMatchObject({
      code: "trunk-not-found",
    });
    await here.service.removeTrunk(accountId, "main");
    await expect(here.service.forCall(accountId, "+34600111222", undefined)).rejects.toMatchObject({
      code: "no-trunk",
    });
  });
});
