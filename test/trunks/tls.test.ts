import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { ProbeResult, SipTarget } from "#trunks";
import type { NameService } from "../../src/trunks/name-service.ts";
import { Authority } from "./certificates.ts";
import { dial, endpoint } from "./loopback.ts";
import { field, sdpMore } from "./raw-peer.ts";
import { RawStreamPeer } from "./raw-stream-peer.ts";

let authority: Authority;

beforeAll(async () => {
  authority = await Authority.create();
});

afterAll(() => authority[Symbol.asyncDispose]());

const tls = (port: number, domain?: string): SipTarget => ({
  host: "127.0.0.1",
  port,
  transport: "tls",
  ...(domain === undefined ? {} : { domain }),
});

/** Asks a peer that has this certificate. */
async function ask(
  identity: { readonly key: string; readonly cert: string },
  domain: string | undefined,
  more: { readonly trusted?: boolean; readonly maxVersion?: "TLSv1.2" | "TLSv1.1" } = {},
): Promise<ProbeResult & { readonly names: readonly string[]; readonly at: string }> {
  const { trusted = true, maxVersion } = more;
  await using peer = await RawStreamPeer.open({
    ...identity,
    ...(maxVersion === undefined ? {} : { maxVersion, minVersion: "TLSv1", ciphers: "DEFAULT@SECLEVEL=0" }),
  });
  await using us = await endpoint(trusted ? { caCertificates: [authority.certificate] } : {});
  void peer.next("OPTIONS").then((options) => peer.respond(options, "200 OK"));
  const result = await us.probe(tls(peer.port, domain));
  return { ...result, names: peer.namesAsked, at: `127.0.0.1:${peer.port}` };
}

describe("a server with a certificate", () => {
  it("for the domain is taken, and asked for by that name", async () => {
    const identity = await authority.issue("DNS:trunk.test");
    const result = await ask(identity, "trunk.test");
    expect(result).toMatchObject({ status: 200, names: ["trunk.test"] });
    expect("server" in result && result.server).toMatchObject({ transport: "tls", domain: "trunk.test" });
  });

  it.each([
    ["a wildcard", "DNS:*.trunk.test", "sip.trunk.test"],
    ["a SIP URI (RFC 5922)", "URI:sip:trunk.test", "trunk.test"],
    ["its address, where there is no domain", "IP:127.0.0.1", undefined],
  ])("for %s is taken", async (_name, names, domain) => {
    expect(await ask(await authority.issue(names), domain)).toMatchObject({ status: 200 });
  });

  it("and TLS 1.2 only is taken", async () => {
    const identity = await authority.issue("DNS:trunk.test");
    expect(await ask(identity, "trunk.test", { maxVersion: "TLSv1.2" })).toMatchObject({ status: 200 });
  });

  it("and an older TLS is refused", async () => {
    const identity = await authority.issue("DNS:trunk.test");
    const result = await ask(identity, "trunk.test", { maxVersion: "TLSv1.1" });
    expect("problem" in result && result.problem).toContain(
      `The server at ${result.at} does not speak TLS 1.2 or newer`,
    );
  });

  it("of another name is refused, and both names are told", async () => {
    const result = await ask(await authority.issue("DNS:other.test, DNS:more.test"), "trunk.test");
    expect(result).toMatchObject({
      failure: "transport",
      problem: `The certificate of ${result.at} is not for trunk.test but for other.test, more.test.`,
    });
  });

  it("for its address only is refused for a domain", async () => {
    const result = await ask(await authority.issue("IP:127.0.0.1"), "trunk.test");
    expect(result).toMatchObject({
      problem: expect.stringContaining("is not for trunk.test but for 127.0.0.1"),
    });
  });

  it("that has expired is refused", async () => {
    const result = await ask(await authority.issue("DNS:trunk.test", -1), "trunk.test");
    expect(result).toMatchObject({
      problem: `The certificate of ${result.at} for trunk.test has expired.`,
    });
  });

  it("that vouches for itself is refused", async () => {
    const result = await ask(await authority.selfSigned("DNS:trunk.test"), "trunk.test");
    expect(result).toMatchObject({
      problem: `The certificate of ${result.at} is signed by nobody this machine trusts (self-signed).`,
    });
  });

  it("of an authority that is not ours is refused", async () => {
    const result = await ask(await authority.issue("DNS:trunk.test"), "trunk.test", { trusted: false });
    expect(result).toMatchObject({
      problem: `The certificate of ${result.at} is signed by nobody this machine trusts.`,
    });
  });
});

describe("a call over TLS", () => {
  it("names its domain everywhere and keeps to one connection, whatever Contact says", async () => {
    await using peer = await RawStreamPeer.open(await authority.issue("DNS:trunk.test"));
    await using us = await endpoint({ caCertificates: [authority.certificate] });
    const leg = dial(us, 1, { target: tls(peer.port, "trunk.test") });
    const invite = await peer.next("INVITE sip:+34600111222@trunk.test SIP/2.0");
    expect(field(invite.text, "Via")).toMatch(/^SIP\/2\.0\/TLS /);
    expect(field(invite.text, "Contact")).toMatch(/^<sip:\+34911222333@127\.0\.0\.1:\d+;transport=tls>$/);
    expect(field(invite.text, "From")).toMatch(/^<sip:\+34911222333@trunk\.test>/);
    peer.respond(invite, "200 OK", { more: sdpMore, contact: "<sip:raw@127.0.0.1:5060>" });
    await peer.next("ACK");
    leg.hangUp();
    peer.respond(await peer.next("BYE"), "200 OK");
    expect(await leg.ended()).toMatchObject({ answered: true });
    expect(peer.sockets).toHaveLength(1);
  });

  it("is found by DNS, its certificate checked against the domain and not the name DNS led to", async () => {
    await using wrong = await RawStreamPeer.open(await authority.issue("DNS:edge.evil.test"));
    await using right = await RawStreamPeer.open(await authority.issue("DNS:trunk.test"));
    const names: NameService = {
      naptr: () => Promise.resolve([]),
      srv: (name) =>
        Promise.resolve(
          name === "_sips._tcp.trunk.test"
            ? [
                { priority: 1, weight: 0, port: wrong.port, name: "edge.evil.test" },
                { priority: 2, weight: 0, port: right.port, name: "edge.trunk.test" },
              ]
            : [],
        ),
      addresses: () => Promise.resolve([{ address: "127.0.0.1" }]),
    };
    await using us = await endpoint({ caCertificates: [authority.certificate], names });
    const leg = dial(us, 1, { target: { host: "trunk.test", transport: "tls" } });
    const invite = await right.next("INVITE sip:+34600111222@trunk.test SIP/2.0");
    expect(right.namesAsked).toEqual(["trunk.test"]);
    expect(wrong.got).toEqual([]);
    right.respond(invite, "486 Busy Here");
    expect(await leg.ended()).toMatchObject({ status: 486 });
    const told = leg.events.all.find(({ type }) => type === "leg-invited-again");
    expect(told).toMatchObject({
      dialog: {
        destination: { address: "127.0.0.1", port: right.port, transport: "tls", domain: "trunk.test" },
      },
    });
  });
});
