import { describe, expect, it } from "vitest";
import { steadyClock } from "#host";
import type { RegistrationState } from "#sip";
import type { SipEndpoint, SipTarget } from "#trunks";
import { Authority } from "./certificates.ts";
import { dial, endpoint, Events } from "./loopback.ts";
import { field, RawPeer } from "./raw-peer.ts";
import { RawStreamPeer } from "./raw-stream-peer.ts";

function register(us: SipEndpoint, target: SipTarget, expiresS = 600) {
  const states = new Events<RegistrationState>();
  const handle = us.register({ target, expiresS, onChange: states.push });
  return { handle, states };
}

const target = (port: number, more: Partial<SipTarget> = {}): SipTarget => ({
  host: "127.0.0.1",
  port,
  domain: "trunk.test",
  username: "alice",
  password: "pw",
  ...more,
});

const challenge = 'WWW-Authenticate: Digest realm="trunk.test", nonce="n", qop="auth"';

describe("an account on the wire", () => {
  it("is registered after a challenge, and taken back in the end", async () => {
    await using registrar = await RawPeer.open();
    await using us = await endpoint();
    const { handle, states } = register(us, target(registrar.port));
    const first = await registrar.next("REGISTER sip:trunk.test SIP/2.0");
    expect(field(first, "To")).toBe("<sip:alice@trunk.test>");
    registrar.respond(first, "401 Unauthorized", { more: challenge });
    const second = await registrar.next("REGISTER", 2);
    expect(field(second, "Authorization")).toContain('username="alice"');
    const askedAt = steadyClock.now();
    registrar.respond(second, "200 OK", { more: "Expires: 300" });
    const { expiresAt } = await states.until("registered");
    expect(Math.abs(expiresAt - askedAt - 300_000)).toBeLessThan(5_000);
    expect(handle.state).toEqual({ type: "registered", expiresAt });
    const closed = handle.close();
    const farewell = await registrar.next("REGISTER", 3);
    expect(field(farewell, "Expires")).toBe("0");
    registrar.respond(farewell, "200 OK");
    await closed;
    expect(states.types).toEqual(["registering", "registered"]);
  });

  it("that is refused says so, with advice, and can be closed", async () => {
    await using registrar = await RawPeer.open();
    await using us = await endpoint();
    const { handle, states } = register(us, target(registrar.port));
    registrar.respond(await registrar.next("REGISTER"), "403 Forbidden");
    const refused = await states.until("refused");
    expect(refused).toMatchObject({ status: 403, reason: "Forbidden" });
    expect(refused.advice).toContain("user name and password");
    await handle.close();
    await handle.close();
  });

  it("whose registrar nobody finds waits and says why", async () => {
    await using us = await endpoint();
    const { states } = register(us, { host: "nowhere.invalid", port: 5060, username: "alice" });
    expect(await states.until("waiting")).toMatchObject({
      reason: "The name nowhere.invalid cannot be found.",
    });
  });

  it("is taken back when the endpoint closes", async () => {
    await using registrar = await RawPeer.open();
    const us = await endpoint();
    const { states } = register(us, target(registrar.port));
    registrar.respond(await registrar.next("REGISTER"), "200 OK");
    await states.until("registered");
    const closed = us.close();
    const farewell = await registrar.next("REGISTER", 2);
    expect(field(farewell, "Contact")).toMatch(/expires=0$/);
    registrar.respond(farewell, "200 OK");
    await closed;
  });

  it("tells nothing from inside the order", async () => {
    await using us = await endpoint();
    const seen: string[] = [];
    us.register({ target: target(9), onChange: ({ type }) => void seen.push(type) });
    expect(seen).toEqual([]);
  });

  it("makes calls go by the proxies its registrar names, and no others", async () => {
    await using registrar = await RawPeer.open();
    await using proxy = await RawPeer.open();
    await using us = await endpoint();
    const account = target(registrar.port);
    const { states } = register(us, account);
    const route = `<sip:127.0.0.1:${proxy.port};lr>`;
    registrar.respond(await registrar.next("REGISTER"), "200 OK", { more: `Service-Route: ${route}` });
    await states.until("registered");
    const leg = dial(us, 1, { target: account });
    const invite = await proxy.next("INVITE sip:+34600111222@trunk.test SIP/2.0");
    expect(field(invite, "Route")).toBe(route);
    proxy.respond(invite, "486 Busy Here");
    await leg.ended();
    const other = dial(us, 1, { target: { ...account, username: "bob" } });
    const plain = await registrar.next("INVITE");
    expect(field(plain, "Route")).toBe("");
    registrar.respond(plain, "486 Busy Here");
    await other.ended();
  });

  it("goes by its outbound proxy, and so do its calls and probes", async () => {
    await using proxy = await RawPeer.open();
    await using us = await endpoint();
    const account = target(9, { outboundProxy: `127.0.0.1:${proxy.port}` });
    const { states } = register(us, account);
    const first = await proxy.next("REGISTER sip:trunk.test SIP/2.0");
    expect(field(first, "Route")).toBe(`<sip:127.0.0.1:${proxy.port};lr>`);
    proxy.respond(first, "200 OK", { more: "Service-Route: <sip:edge.test;lr>" });
    await states.until("registered");
    const leg = dial(us, 1, { target: account });
    const invite = await proxy.next("INVITE");
    expect(invite.match(/^Route: .*$/gm)?.map((line) => line.trim())).toEqual([
      `Route: <sip:127.0.0.1:${proxy.port};lr>`,
      "Route: <sip:edge.test;lr>",
    ]);
    proxy.respond(invite, "486 Busy Here");
    await leg.ended();
    const probed = us.probe(account);
    proxy.respond(await proxy.next("OPTIONS"), "200 OK");
    expect(await probed).toMatchObject({ status: 200, server: { address: "127.0.0.1", port: proxy.port } });
  });

  it("refuses an outbound proxy that cannot be read", async () => {
    await using us = await endpoint();
    const bad = target(9, { outboundProxy: "http://proxy" });
    expect(() => us.register({ target: bad })).toThrow("The outbound proxy http://proxy cannot be read.");
    expect(() => dial(us, 1, { target: bad })).toThrow("cannot be read");
  });
});

describe("an account over TLS", () => {
  it("registers the connection's own end, and anew over a new one when it is lost", async () => {
    await using authority = await Authority.create();
    await using registrar = await RawStreamPeer.open(await authority.issue("DNS:trunk.test"));
    await using us = await endpoint({ caCertificates: [authority.certificate] });
    const { states } = register(us, target(registrar.port, { transport: "tls" }));
    const first = await registrar.next("REGISTER");
    expect(field(first.text, "Contact")).toBe(
      `<sip:alice@127.0.0.1:${first.by.remotePort};transport=tls>;expires=600`,
    );
    registrar.respond(first, "200 OK", { contact: field(first.text, "Contact") });
    await states.until("registered");
    first.by.destroy();
    expect(await states.until("waiting")).toMatchObject({
      reason: "The connection to the registrar was lost.",
    });
    const second = await registrar.next("REGISTER", 2);
    expect(second.by).not.toBe(first.by);
    expect(field(second.text, "Contact")).toBe(
      `<sip:alice@127.0.0.1:${second.by.remotePort};transport=tls>;expires=600`,
    );
    expect(field(second.text, "Call-ID")).toBe(field(first.text, "Call-ID"));
    registrar.respond(second, "200 OK");
    const closed = us.close();
    registrar.respond(await registrar.next("REGISTER", 3), "200 OK");
    await closed;
  });

  it("says in one sentence that the certificate is wrong", async () => {
    await using authority = await Authority.create();
    await using registrar = await RawStreamPeer.open(await authority.issue("DNS:other.test"));
    await using us = await endpoint({ caCertificates: [authority.certificate] });
    const { states } = register(us, target(registrar.port, { transport: "tls" }));
    expect(await states.until("waiting")).toMatchObject({
      reason: `The certificate of 127.0.0.1:${registrar.port} is not for trunk.test but for other.test.`,
    });
  });
});
