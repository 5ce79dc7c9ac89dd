import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { IncomingCallEvent, RegistrationState, SipTransport } from "#sip";
import type { IncomingCall, SipEndpoint, SipTarget, TraceEntry } from "#trunks";
import { Kamailio } from "../support/kamailio.ts";
import { Authority } from "../trunks/certificates.ts";
import { dial, endpoint, Events, media } from "../trunks/loopback.ts";

let authority: Authority;
let directory: string;
let kamailio: Kamailio;

beforeAll(async () => {
  authority = await Authority.create();
  directory = await mkdtemp(join(tmpdir(), "outdial-kamailio-"));
  kamailio = await Kamailio.start({ directory, ...(await authority.issue("DNS:trunk.test")) });
});

afterAll(async () => {
  await kamailio[Symbol.asyncDispose]();
  await authority[Symbol.asyncDispose]();
  await rm(directory, { recursive: true });
});

const account = (user: string, transport: SipTransport, at = kamailio): SipTarget => ({
  host: "127.0.0.1",
  port: transport === "tls" ? at.tlsPort : at.port,
  transport,
  domain: "trunk.test",
  username: user,
  password: `pw-${user}`,
});

function register(us: SipEndpoint, target: SipTarget, expiresS = 60) {
  const states = new Events<RegistrationState>();
  return { states, handle: us.register({ target, expiresS, onChange: states.push }) };
}

/** An endpoint that trusts its certificate and nobody else. */
function party(take?: (call: IncomingCall) => void, trace?: TraceEntry[]) {
  return endpoint({
    caCertificates: [authority.certificate],
    ...(take === undefined ? {} : { onInvite: take }),
    ...(trace === undefined ? {} : { onTrace: (entry: TraceEntry) => void trace.push(entry) }),
  });
}

describe.each(["udp", "tcp", "tls"] as const)("kamailio over %s", (transport) => {
  it("registers us, carries calls both ways and lets us go", async () => {
    const heard = new Events<IncomingCallEvent>();
    const trace: TraceEntry[] = [];
    await using bob = await party((call) => {
      call.onEvent = heard.push;
      call.ring();
      call.answer(media);
    });
    await using alice = await party(undefined, trace);
    const bobAccount = register(bob, account("bob", transport));
    const aliceAccount = register(alice, account("alice", transport));
    await Promise.all([bobAccount.states.until("registered"), aliceAccount.states.until("registered")]);
    const order = { target: account("alice", transport), number: "bob", callerId: "alice" };
    const leg = dial(alice, 1, order);
    await leg.events.until("leg-answered");
    await heard.until("acknowledged");
    leg.hangUp();
    expect(await leg.ended()).toMatchObject({ by: "us", answered: true, ringing: true });
    expect(await heard.until("ended")).toEqual({ type: "ended", by: "them" });
    expect(new Set(trace.map((entry) => entry.transport))).toEqual(new Set([transport]));
    await bobAccount.handle.close();
    const after = dial(alice, 1, { ...order, sipCallId: `after-${transport}` });
    expect(await after.ended()).toMatchObject({ status: 404 });
    await aliceAccount.handle.close();
  });

  it("answers a probe and says where it sees us", async () => {
    await using us = await party();
    const result = await us.probe(account("alice", transport));
    expect(result).toMatchObject({ status: 200, received: { address: "127.0.0.1" } });
  });
});

describe("kamailio", () => {
  it("wants a registration to last longer than we asked for, and gets it", async () => {
    const trace: TraceEntry[] = [];
    await using brief = await party(undefined, trace);
    const { states } = register(brief, account("carol", "udp"), 10);
    const { expiresAt } = await states.until("registered");
    const granted = expiresAt - (trace.at(-1)?.at ?? 0);
    expect(granted).toBeGreaterThan(29_000);
    expect(granted).toBeLessThan(31_000);
  });

  it.each([
    ["a wrong password", { username: "alice", password: "wrong" }, 401],
    ["an account it forbids", { username: "banned", password: "pw-banned" }, 403],
  ])("refuses %s, and is not asked again", async (_name, credentials, status) => {
    const trace: TraceEntry[] = [];
    await using us = await party(undefined, trace);
    const { states } = register(us, { ...account("alice", "udp"), ...credentials });
    expect(await states.until("refused")).toMatchObject({ status });
    expect(trace.filter(({ direction }) => direction === "sent").length).toBeLessThanOrEqual(2);
  });

  it("is refused by us when its certificate is for another name", async () => {
    await using us = await party();
    const { states } = register(us, { ...account("alice", "tls"), domain: "other.test" });
    expect(await states.until("waiting")).toMatchObject({
      reason: `The certificate of 127.0.0.1:${kamailio.tlsPort} is not for other.test but for trunk.test.`,
    });
  });

  it("takes SHA-256 digests", async () => {
    const identity = await authority.issue("DNS:trunk.test");
    await using strict = await Kamailio.start({
      directory: join(directory, "sha256"),
      ...identity,
      sha256: true,
    });
    await using us = await party();
    const { states, handle } = register(us, account("alice", "tls", strict));
    await states.until("registered");
    const leg = dial(us, 1, { target: account("alice", "tls", strict), number: "nobody", callerId: "alice" });
    expect(await leg.ended()).toMatchObject({ status: 404, by: "them" });
    await handle.close();
  });
});
