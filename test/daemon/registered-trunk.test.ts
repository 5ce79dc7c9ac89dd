import { hashes, silentLog, steadyClock, systemEntropy, wallClock } from "#host";
import { openSipEndpoint } from "#trunks";
import { afterEach, expect, test } from "vitest";
import { dialledAs } from "../../src/daemon/dial-order.ts";
import type { DialOrder, LegEvent, Store } from "../../src/daemon/ports.ts";
import { trunkService } from "../../src/daemon/service-trunks.ts";
import { createTrunkHealth } from "../../src/daemon/trunk-health.ts";
import { accountId } from "../store/sample-rows.ts";
import { temporaryStore } from "../store/temporary-store.ts";
import { field, RawPeer, sdpMore } from "../trunks/raw-peer.ts";

const cleanups: (() => PromiseLike<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

/** A daemon's trunk side on real sockets and a provider written by hand; audio is left out. */
async function rig() {
  const provider = await RawPeer.open();
  const telephony = await openSipEndpoint({
    address: "127.0.0.1",
    port: 0,
    clock: steadyClock,
    entropy: systemEntropy,
    hashes,
    userAgentName: "test",
    log: silentLog,
  });
  const temporary = await temporaryStore({ engine: "node-sqlite" });
  const store: Store = temporary.store;
  const kept = new Map<string, string>();
  const events: string[] = [];
  const health = createTrunkHealth({
    telephony,
    clock: steadyClock,
    log: silentLog,
    target: (trunk) => service.target(trunk),
    trust: () => undefined,
    publish: (_account, type) => events.push(type),
    wake: () => undefined,
  });
  const service = trunkService({
    store,
    clock: wallClock,
    entropy: systemEntropy,
    secrets: {
      find: (name) => kept.get(name),
      set: async (name, value) => void kept.set(name, value),
      remove: async (name) => void kept.delete(name),
    },
    sandbox: { address: "127.0.0.1", port: 1 },
    health: () => health,
    telephony,
    resolve: async (host) => [host],
  });
  cleanups.push(
    () => provider[Symbol.asyncDispose](),
    () => temporary[Symbol.asyncDispose](),
    () => telephony.close(),
  );
  const dial = async (): Promise<readonly LegEvent[]> => {
    const [trunk] = await service.listTrunks(accountId);
    const told: LegEvent[] = [];
    const { promise, resolve } = Promise.withResolvers<readonly LegEvent[]>();
    const order: DialOrder = {
      target: service.target(trunk!),
      ...dialledAs(trunk!, { to: "+34600000001", from: "", trunkId: null }),
      sipCallId: "call-1@outdial",
      media: { address: "127.0.0.1", audioPort: 4000, codecs: trunk!.codecs },
      ringTimeoutMs: 5_000,
      onEvent: (event) => {
        told.push(event);
        if (event.type === "leg-ended") resolve(told);
      },
    };
    telephony.prepare(order).send();
    return promise;
  };
  return { provider, service, events, dial };
}

test("a registered trunk registers with its password and dials with the headers it was given", async () => {
  const { provider, service, events, dial } = await rig();
  await service.createTrunk({
    accountId,
    name: "main",
    kind: "register",
    host: "127.0.0.1",
    port: provider.port,
    username: "ana",
    password: "secret",
    callerId: "+34910000000",
    codecs: ["PCMA"],
    sip: {
      domain: "trunk.test",
      numberFormat: "00{e164}",
      callerIdHeader: "p-asserted-identity",
      displayName: "Clinica Sol",
      fromUser: "1001",
      privacy: true,
      headers: { "X-Account": "42" },
      registerExpiresS: 300,
    },
  });

  const first = await provider.next("REGISTER ");
  expect(first).toMatch(/^REGISTER sip:trunk\.test SIP\/2\.0\r\n/);
  provider.respond(first, "401 Unauthorized", {
    more: 'WWW-Authenticate: Digest realm="trunk.test", nonce="n1", qop="auth", algorithm=SHA-256',
  });
  const second = await provider.next("REGISTER ", 2);
  expect(field(second, "Authorization")).toContain('username="ana"');
  expect(field(second, "To")).toContain("sip:ana@trunk.test");
  expect(field(second, "Expires")).toBe("300");
  provider.respond(second, "200 OK", { more: "Expires: 300" });
  await expect.poll(() => events).toContain("trunk-registered");

  const told = dial();
  const invite = await provider.next("INVITE ");
  expect(invite).toMatch(/^INVITE sip:0034600000001@trunk\.test SIP\/2\.0\r\n/);
  expect(field(invite, "From")).toMatch(/^"?Clinica Sol"? <sip:1001@trunk\.test>;tag=/);
  expect(field(invite, "P-Asserted-Identity")).toBe('"Clinica Sol" <sip:+34910000000@trunk.test>');
  expect(field(invite, "Privacy")).toBe("id");
  expect(field(invite, "X-Account")).toBe("42");
  expect(invite).toContain("m=audio 4000 RTP/AVP 8");
  provider.respond(invite, "200 OK", { more: sdpMore });
  const ack = await provider.next("ACK ");
  expect(field(ack, "Call-ID")).toBe("call-1@outdial");
  const [user = ""] = /sip:[^>]+/.exec(field(invite, "Contact")) ?? [];
  provider.send(
    [
      `BYE ${user} SIP/2.0`,
      `Via: SIP/2.0/UDP 127.0.0.1:${provider.port};branch=z9hG4bKbye;rport`,
      `From: ${field(ack, "To")}`,
      `To: ${field(ack, "From")}`,
      "Call-ID: call-1@outdial",
      "CSeq: 1 BYE",
      "Max-Forwards: 70",
      "Content-Length: 0",
      "",
      "",
    ].join("\n"),
    Number(/:(\d+)/.exec(user.slice(4))?.[1]),
  );
  const leg = await told;
  expect(leg.map(({ type }) => type)).toEqual(["leg-answered", "leg-ended"]);
  expect(leg.at(-1)).toMatchObject({ end: { by: "them", answered: true } });

  const removed = service.removeTrunk(accountId, "main");
  const third = await provider.next("REGISTER ", 3);
  expect(field(third, "Contact")).toContain("expires=0");
  provider.respond(third, "200 OK");
  expect(await removed).toBe(true);
});

test("a trunk whose registration is refused is held, and its test says what the provider said", async () => {
  const { provider, service } = await rig();
  await service.createTrunk({
    accountId,
    name: "main",
    kind: "register",
    host: "127.0.0.1",
    port: provider.port,
    username: "ana",
    password: "wrong",
  });
  provider.respond(await provider.next("REGISTER "), "403 Forbidden");
  await expect
    .poll(() => service.findTrunk(accountId, "main"))
    .toMatchObject({
      registration: { type: "refused", status: 403 },
      fault: { held: true, why: expect.stringContaining("403 Forbidden") },
    });
  const checking = service.checkTrunk(accountId, "main");
  provider.respond(await provider.next("OPTIONS "), "200 OK");
  provider.respond(await provider.next("REGISTER ", 2), "403 Forbidden");
  const checks = await checking;
  expect(checks.map(({ check, result }) => `${check} ${result}`)).toEqual([
    "name ok",
    "options ok",
    expect.stringContaining("nat"),
    "registration failed",
    "calls failed",
  ]);
  expect(checks.find(({ check }) => check === "registration")?.advice).toContain("password");
});
