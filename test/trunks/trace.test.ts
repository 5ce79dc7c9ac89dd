import { describe, expect, it } from "vitest";
import type { TraceEntry } from "#trunks";
import { traceEntry } from "../../src/trunks/trace.ts";
import { callee, dial, endpoint, media } from "./loopback.ts";
import { field, RawPeer, sdpMore } from "./raw-peer.ts";

describe("the trace of a call", () => {
  it("holds every message both ways, in order, and no secret", async () => {
    await using trunk = await RawPeer.open();
    const trace: TraceEntry[] = [];
    await using us = await endpoint({ onTrace: (entry) => void trace.push(entry) });
    const target = { host: "127.0.0.1", port: trunk.port, username: "alice", password: "pw" };
    const leg = dial(us, 1, { target });
    const more = 'Proxy-Authenticate: Digest realm="trunk.test", nonce="abc", qop="auth"';
    trunk.respond(await trunk.next("INVITE"), "407 Proxy Authentication Required", { more });
    const invite = await trunk.next("INVITE", 2);
    trunk.respond(invite, "200 OK", { more: sdpMore });
    await trunk.next("ACK", 2);
    await leg.events.until("leg-answered");
    leg.hangUp();
    trunk.respond(await trunk.next("BYE"), "200 OK");
    await us.close();
    const callId = field(invite, "Call-ID");
    expect(
      trace.map(({ direction, firstLine }) => `${direction} ${firstLine.replace(/ sip:.*/, "")}`),
    ).toEqual([
      "sent INVITE",
      "received SIP/2.0 407 Proxy Authentication Required",
      "sent ACK",
      "sent INVITE",
      "received SIP/2.0 200 OK",
      "sent ACK",
      "sent BYE",
      "received SIP/2.0 200 OK",
    ]);
    for (const entry of trace) {
      expect(entry).toMatchObject({
        transport: "udp",
        sipCallId: callId,
        local: us.local,
        remote: { address: "127.0.0.1", port: trunk.port },
      });
    }
    expect(trace.map(({ at }) => at)).toEqual(trace.map(({ at }) => at).toSorted((a, b) => a - b));
    const secret = /response="([0-9a-f]{32})"/.exec(field(invite, "Proxy-Authorization"))?.[1];
    expect(secret).toHaveLength(32);
    const texts = trace.map(({ text }) => text).join("");
    expect(texts).not.toContain(secret);
    expect(texts).toContain("Proxy-Authorization: [redacted]\r\n");
    expect(trace[3]!.text.replace("[redacted]", field(invite, "Proxy-Authorization"))).toBe(invite);
  });

  it("holds what a stranger sends neither, nor line ends", async () => {
    const trace: TraceEntry[] = [];
    await using stranger = await RawPeer.open();
    const judged = Promise.withResolvers<void>();
    let strangers = 0;
    await using carrier = await callee((call) => void call.answer(media), {
      trusts() {
        strangers += 1;
        if (strangers === 2) judged.resolve();
        return false;
      },
      onTrace: (entry) => void trace.push(entry),
    });
    stranger.send("\r\n\r\n", carrier.local.port);
    stranger.send(
      "OPTIONS sip:x SIP/2.0\r\nVia: SIP/2.0/UDP 127.0.0.1;branch=z9hG4bK1\r\nCall-ID: s\r\n\r\n",
      carrier.local.port,
    );
    await judged.promise;
    expect(trace).toEqual([]);
    const probed = carrier.probe({ host: "127.0.0.1", port: stranger.port });
    stranger.respond(await stranger.next("OPTIONS"), "200 OK");
    await probed;
    expect(trace.map(({ firstLine }) => firstLine.split(" ")[0])).toEqual(["OPTIONS", "SIP/2.0"]);
    expect(trace.map(({ sipCallId }) => sipCallId)).not.toContain("s");
  });
});

describe("a trace entry", () => {
  const shown = (text: string): string | undefined =>
    traceEntry(new TextEncoder().encode(text), {
      at: 1,
      direction: "received",
      local: { address: "10.0.0.1", port: 5060 },
      remote: { address: "10.0.0.2", port: 5061, transport: "tls", domain: "trunk.test" },
    })?.text;

  it("hides credentials in every spelling, and the keys of media", () => {
    const text = shown(
      'INVITE sip:a SIP/2.0\r\nCall-ID: 1\r\nAUTHORIZATION : Digest\r\n response="s3cret",\r\n\tcnonce="s3cret"\r\n' +
        "Subject: kept\r\nproxy-authorization:s3cret\r\n\r\nv=0\r\na=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:s3cret|2^20 KDR=0\r\n",
    );
    expect(text).not.toContain("s3cret");
    expect(text).toContain("Subject: kept\r\n");
    expect(text).toContain("a=crypto:1 AES_CM_128_HMAC_SHA1_80 inline:[redacted]|2^20 KDR=0\r\n");
  });

  it("of what is no message is none", () => {
    expect(shown("\r\n\r\n")).toBeUndefined();
    expect(shown("")).toBeUndefined();
  });
});
