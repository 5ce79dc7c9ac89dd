import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { OutdialError } from "#base";
import type { IncomingCallEvent, LegEvent, SavedDialog } from "#sip";
import type { IncomingCall } from "#trunks";
import { callee, dial, endpoint, Events, media } from "./loopback.ts";
import { field, RawPeer, sdpMore } from "./raw-peer.ts";

const md5 = (text: string) => createHash("md5").update(text).digest("hex");

describe("two endpoints on the loopback", () => {
  it("hold a call that the caller ends", async () => {
    const heard = new Events<IncomingCallEvent>();
    await using carrier = await callee((call) => {
      call.onEvent = heard.push;
      call.ring();
      call.earlyMedia({ ...media, audioPort: 7000 });
      call.answer({ ...media, audioPort: 7000 });
    });
    await using us = await endpoint();
    const leg = dial(us, carrier.local.port);
    const answered = await leg.events.until("leg-answered");
    expect(answered.media.audio).toMatchObject({
      codec: "PCMA",
      remote: { address: "127.0.0.1", port: 7000 },
    });
    await heard.until("acknowledged");
    leg.hangUp();
    expect(await leg.ended()).toMatchObject({ by: "us", ourAct: "hang-up", answered: true, ringing: true });
    expect(await heard.until("ended")).toEqual({ type: "ended", by: "them" });
    expect(leg.events.types).toEqual([
      "leg-ringing",
      "leg-ringing",
      "leg-early-media",
      "leg-answered",
      "leg-ended",
    ]);
    expect(heard.types).toEqual(["acknowledged", "ended"]);
  });

  it("hold a call that the callee ends", async () => {
    await using carrier = await callee((call) => {
      call.onEvent = (event) => (event.type === "acknowledged" ? call.hangUp() : undefined);
      call.answer(media);
    });
    await using us = await endpoint();
    const leg = dial(us, carrier.local.port);
    expect(await leg.ended()).toMatchObject({ by: "them", answered: true, status: 200 });
  });

  it("tell the callee what is wanted and the caller why not", async () => {
    const { promise, resolve } = Promise.withResolvers<IncomingCall>();
    await using carrier = await callee((call) => {
      resolve(call);
      call.reject(486, { q850: 17 });
    });
    await using us = await endpoint();
    const order = { media: { ...media, textPort: 5000, language: "es" } };
    const end = await dial(us, carrier.local.port, order).ended();
    expect(end).toMatchObject({ by: "them", status: 486, reason: "Busy Here", q850: 17, answered: false });
    const call = await promise;
    expect(call).toMatchObject({
      number: "+34600111222",
      from: "+34911222333",
      offered: { text: true, language: "es" },
      remote: us.local,
    });
    expect(call.offer).toContain("m=audio 4000");
  });

  it("end a call that rings too long", async () => {
    const heard = new Events<IncomingCallEvent>();
    await using carrier = await callee((call) => {
      call.onEvent = heard.push;
      call.ring();
    });
    await using us = await endpoint();
    const end = await dial(us, carrier.local.port, { ringTimeoutMs: 50 }).ended();
    expect(end).toMatchObject({ by: "us", ourAct: "ring-timeout", status: 487 });
    expect(heard.types).toEqual(["cancelled"]);
  });

  it("hold fifty calls at once", async () => {
    let arrivals = 0;
    await using carrier = await callee((call) => {
      arrivals += 1;
      call.answer(media);
    });
    await using us = await endpoint();
    const legs = Array.from({ length: 50 }, () => dial(us, carrier.local.port));
    await Promise.all(legs.map((leg) => leg.events.until("leg-answered")));
    for (const leg of legs) leg.hangUp();
    await Promise.all(legs.map((leg) => leg.ended()));
    expect(arrivals).toBe(50);
  });

  it("speak IPv6", async () => {
    const trusts = (address: string) => address === "::1";
    await using carrier = await callee((call) => void call.answer(media), { address: "::1", trusts });
    await using us = await endpoint({ address: "::1" });
    const leg = dial(us, 1, { target: { host: "::1", port: carrier.local.port } });
    await leg.events.until("leg-answered");
    leg.hangUp();
    expect(await leg.ended()).toMatchObject({ answered: true });
  });

  it("find each other by name, and by a wildcard address", async () => {
    await using carrier = await callee((call) => void call.answer(media), { address: "0.0.0.0" });
    await using us = await endpoint({ address: "0.0.0.0" });
    const leg = dial(us, 1, { target: { host: "localhost", port: carrier.local.port } });
    const { dialog } = await leg.events.until("leg-answered");
    expect(dialog.destination.address).toBe("127.0.0.1");
    leg.hangUp();
    await leg.ended();
  });
});

describe("a leg on the wire", () => {
  it("answers a digest challenge, as computed by hand", async () => {
    await using trunk = await RawPeer.open();
    await using us = await endpoint();
    const target = { host: "127.0.0.1", port: trunk.port, username: "alice", password: "pw" };
    const leg = dial(us, 1, { target });
    const first = await trunk.next("INVITE");
    const more = 'Proxy-Authenticate: Digest realm="trunk.test", nonce="abc", qop="auth", opaque="o"';
    trunk.respond(first, "407 Proxy Authentication Required", { more });
    const second = await trunk.next("INVITE", 2);
    const header = field(second, "Proxy-Authorization");
    const part = (name: string) => new RegExp(`\\b${name}="?([^",]+)`).exec(header)?.[1] ?? "";
    const uri = `sip:+34600111222@127.0.0.1:${trunk.port}`;
    const response = md5(
      `${md5("alice:trunk.test:pw")}:abc:${part("nc")}:${part("cnonce")}:auth:${md5(`INVITE:${uri}`)}`,
    );
    expect(part("response")).toBe(response);
    expect(part("opaque")).toBe("o");
    expect(field(second, "CSeq")).toBe("2 INVITE");
    expect(field(second, "Call-ID")).toBe(field(first, "Call-ID"));
    trunk.respond(second, "200 OK", { more: sdpMore });
    await leg.events.until("leg-answered");
    const again = leg.events.all.find((event) => event.type === "leg-invited-again");
    expect(again?.dialog.localCSeq).toBe(2);
    expect(again?.dialog.inviteBranch).toBe(/branch=([^;\s]+)/.exec(field(second, "Via"))?.[1]);
    leg.hangUp();
    trunk.respond(await trunk.next("BYE"), "200 OK");
    await leg.ended();
  });

  it("answers a 200 that crosses its CANCEL with ACK and BYE", async () => {
    await using trunk = await RawPeer.open();
    await using us = await endpoint();
    const leg = dial(us, trunk.port);
    const invite = await trunk.next("INVITE");
    trunk.respond(invite, "180 Ringing");
    await leg.events.until("leg-ringing");
    leg.hangUp();
    trunk.respond(await trunk.next("CANCEL"), "200 OK");
    trunk.respond(invite, "200 OK", { more: sdpMore });
    await trunk.next("ACK");
    const bye = await trunk.next("BYE");
    trunk.respond(bye, "200 OK");
    expect(await leg.ended()).toMatchObject({ by: "us", ourAct: "cancel", answered: false });
    expect(leg.events.types).toEqual(["leg-ringing", "leg-ended"]);
  });

  it("acknowledges every repeated 200", async () => {
    await using trunk = await RawPeer.open();
    await using us = await endpoint();
    const leg = dial(us, trunk.port);
    const invite = await trunk.next("INVITE");
    for (let n = 1; n <= 5; n++) {
      trunk.respond(invite, "200 OK", { more: sdpMore });
      await trunk.next("ACK", n);
    }
    expect(leg.events.types).toEqual(["leg-answered"]);
    leg.hangUp();
    trunk.respond(await trunk.next("BYE"), "200 OK");
  });

  it("ends at the peer's BYE", async () => {
    await using trunk = await RawPeer.open();
    await using us = await endpoint();
    const leg = dial(us, trunk.port);
    const invite = await trunk.next("INVITE");
    trunk.respond(invite, "200 OK", { more: sdpMore });
    await trunk.next("ACK");
    trunk.send(
      `BYE sip:us@127.0.0.1 SIP/2.0
Via: SIP/2.0/UDP 127.0.0.1:${trunk.port};branch=z9hG4bKbye
From: ${field(invite, "To")};tag=raw
To: ${field(invite, "From")}
Call-ID: ${field(invite, "Call-ID")}
CSeq: 1 BYE
Reason: Q.850;cause=16;text="Normal"
Max-Forwards: 70
Content-Length: 0

`,
      us.local.port,
    );
    expect(await trunk.next("SIP/2.0 200")).toContain("CSeq: 1 BYE");
    expect(await leg.ended()).toMatchObject({ by: "them", q850: 16, q850Text: "Normal", answered: true });
  });

  it("that nobody listens to ends as a transport failure within seconds", async () => {
    const gone = await RawPeer.open();
    const { port } = gone;
    await gone[Symbol.asyncDispose]();
    await using us = await endpoint();
    const end = await dial(us, port).ended();
    const problem = `Nobody listens at 127.0.0.1:${port} (UDP).`;
    expect(end).toEqual({ by: "nobody", failure: "transport", answered: false, ringing: false, problem });
  });

  it("to a name that does not exist ends as a transport failure", async () => {
    await using us = await endpoint();
    const end = await dial(us, 1, { target: { host: "nowhere.invalid", port: 5060 } }).ended();
    expect(end).toMatchObject({ failure: "transport", problem: "The name nowhere.invalid cannot be found." });
  });

  it("tells nothing from inside the order that caused it", async () => {
    await using us = await endpoint();
    const log: string[] = [];
    const { promise, resolve } = Promise.withResolvers<void>();
    const prepared = us.prepare({
      target: { host: "127.0.0.1", port: 9 },
      number: "1",
      callerId: "2",
      sipCallId: "x",
      media,
      ringTimeoutMs: 1000,
      onEvent: (event) => {
        log.push(event.type);
        resolve();
      },
    });
    const leg = prepared.send();
    expect(() => prepared.send()).toThrow("sent already");
    leg.hangUp();
    log.push("hangUp returned");
    await promise;
    expect(log).toEqual(["hangUp returned", "leg-ended"]);
  });
});

describe("an orphan on the wire", () => {
  const saved = (port: number, answered: boolean): SavedDialog => ({
    sipCallId: "lost@test",
    localTag: "ours",
    remoteTag: answered ? "theirs" : null,
    localUri: "sip:+34911222333@127.0.0.1",
    remoteUri: "sip:+34600111222@127.0.0.1",
    remoteTarget: `sip:callee@127.0.0.1:${port}`,
    routeSet: answered ? [`<sip:127.0.0.1:${port};lr>`] : [],
    localCSeq: 2,
    inviteBranch: answered ? null : "z9hG4bKlost",
    requestUri: `sip:+34600111222@127.0.0.1:${port}`,
    destination: { address: "localhost", port },
  });

  it("that was answered gets its BYE", async () => {
    await using trunk = await RawPeer.open();
    await using us = await endpoint();
    us.hangUpOrphan(saved(trunk.port, true), { host: "127.0.0.1", port: trunk.port }, true);
    const bye = await trunk.next(`BYE sip:callee@127.0.0.1:${trunk.port} SIP/2.0`);
    expect(field(bye, "Call-ID")).toBe("lost@test");
    expect(field(bye, "CSeq")).toBe("3 BYE");
    expect(field(bye, "From")).toBe("<sip:+34911222333@127.0.0.1>;tag=ours");
    expect(field(bye, "To")).toBe("<sip:+34600111222@127.0.0.1>;tag=theirs");
    expect(field(bye, "Route")).toBe(`<sip:127.0.0.1:${trunk.port};lr>`);
    trunk.respond(bye, "481 Call Does Not Exist");
  });

  it("that was ringing gets a CANCEL with its INVITE's branch", async () => {
    await using trunk = await RawPeer.open();
    await using us = await endpoint();
    us.hangUpOrphan(saved(trunk.port, false), { host: "127.0.0.1", port: trunk.port }, false);
    const cancel = await trunk.next("CANCEL");
    expect(field(cancel, "Via")).toContain("branch=z9hG4bKlost");
    expect(field(cancel, "CSeq")).toBe("2 CANCEL");
    expect(field(cancel, "To")).toBe("<sip:+34600111222@127.0.0.1>");
    trunk.respond(cancel, "200 OK");
    trunk.respond(cancel.replace("CSeq: 2 CANCEL", "CSeq: 2 INVITE"), "487 Request Terminated");
    expect(field(await trunk.next("ACK"), "CSeq")).toBe("2 ACK");
  });
});

describe("a probe on the wire", () => {
  it("is answered by an endpoint, with the time it took", async () => {
    await using carrier = await callee(() => undefined);
    await using us = await endpoint();
    const result = await us.probe({ host: "127.0.0.1", port: carrier.local.port });
    expect(result).toMatchObject({ status: 200 });
    expect("ms" in result && result.ms > 0 && result.ms < 5000).toBe(true);
  });

  it("fails where nobody listens and where there is no such name", async () => {
    const gone = await RawPeer.open();
    const { port } = gone;
    await gone[Symbol.asyncDispose]();
    await using us = await endpoint();
    const results = [us.probe({ host: "127.0.0.1", port }), us.probe({ host: "nowhere.invalid", port })];
    expect(await Promise.all(results)).toEqual([
      { failure: "transport", problem: `Nobody listens at 127.0.0.1:${port} (UDP).` },
      { failure: "transport", problem: "The name nowhere.invalid cannot be found." },
    ]);
  });
});

describe("an endpoint", () => {
  it("gives a stranger no byte, and those it trusts an answer", async () => {
    await using us = await endpoint({ trusts: (_, port) => port === friend.port });
    await using friend = await RawPeer.open();
    await using stranger = await RawPeer.open();
    const options = (port: number) => `OPTIONS sip:us@127.0.0.1 SIP/2.0
Via: SIP/2.0/UDP 127.0.0.1:${port};branch=z9hG4bK${port};rport
From: <sip:x@127.0.0.1>;tag=1
To: <sip:us@127.0.0.1>
Call-ID: ping-${port}
CSeq: 1 OPTIONS
Max-Forwards: 70
Content-Length: 0

`;
    stranger.send(options(stranger.port), us.local.port);
    stranger.send("garbage\r\n\r\n", us.local.port);
    friend.send(options(friend.port), us.local.port);
    expect(await friend.next("SIP/2.0 200")).toContain("CSeq: 1 OPTIONS");
    expect(stranger.got).toEqual([]); // Sent before the friend's, so it has been dealt with by now.
  });

  it("survives whatever comes from those it trusts", async () => {
    const faults: string[] = [];
    const nothing = () => undefined;
    const log = {
      debug: nothing,
      info: nothing,
      warn: nothing,
      error: (text: string) => void faults.push(text),
    };
    await using carrier = await callee((call) => void call.answer(media), { log });
    await using hostile = await RawPeer.open();
    for (const text of [
      "",
      "\0",
      "INVITE\r\n\r\n",
      "SIP/2.0 200 OK\r\n\r\n",
      "x".repeat(60_000),
      "\r\n".repeat(9),
    ]) {
      hostile.send(text, carrier.local.port);
    }
    await using us = await endpoint();
    const leg = dial(us, carrier.local.port);
    await leg.events.until("leg-answered");
    expect(faults).toEqual([]);
    leg.hangUp();
  });

  it("ends only the call whose listener throws", async () => {
    await using carrier = await callee((call) => void call.answer(media));
    await using us = await endpoint();
    const good = dial(us, carrier.local.port);
    const seen = new Events<LegEvent>();
    us.prepare({
      target: { host: "127.0.0.1", port: carrier.local.port },
      number: "1",
      callerId: "2",
      sipCallId: "thrower",
      media,
      ringTimeoutMs: 1000,
      onEvent: (event) => {
        seen.push(event);
        if (event.type === "leg-answered") throw new Error("a bug");
      },
    }).send();
    expect((await seen.until("leg-ended")).end).toMatchObject({ by: "us", answered: true });
    await good.events.until("leg-answered");
    good.hangUp();
    expect(await good.ended()).toMatchObject({ by: "us" });
  });

  it("says in one sentence that its port is taken", async () => {
    await using first = await endpoint();
    const second = endpoint({ port: first.local.port });
    await expect(second).rejects.toSatisfy(
      (error) => error instanceof OutdialError && error.code === "sip-port-busy",
    );
    await expect(second).rejects.toThrow(`127.0.0.1:${first.local.port} (EADDRINUSE)`);
  });

  it("hangs up what is under way when it closes, and frees its port", async () => {
    await using trunk = await RawPeer.open();
    const us = await endpoint();
    const { port } = us.local;
    const answered = dial(us, trunk.port);
    const invite = await trunk.next("INVITE");
    trunk.respond(invite, "200 OK", { more: sdpMore });
    await answered.events.until("leg-answered");
    const ringing = dial(us, trunk.port);
    trunk.respond(await trunk.next("INVITE", 2), "180 Ringing");
    await ringing.events.until("leg-ringing");
    const closed = us.close();
    trunk.respond(await trunk.next("BYE"), "200 OK");
    trunk.respond(await trunk.next("CANCEL"), "200 OK");
    await closed; // The 487 never comes: the leg is given up.
    expect(await answered.ended()).toMatchObject({ by: "us", ourAct: "hang-up" });
    expect(await ringing.ended()).toMatchObject({ by: "us", ourAct: "cancel" });
    await using next = await endpoint({ port });
    expect(next.local.port).toBe(port);
  });
});
