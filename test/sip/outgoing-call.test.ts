import { describe, expect, it } from "vitest";
import { parseVia } from "../../src/sip/header.ts";
import type { SipMessage } from "../../src/sip/message.ts";
import {
  connect,
  dial,
  header,
  inside,
  peerSdp,
  ScriptedPeer,
  setStage,
  type Stage,
} from "./scripted-peer.ts";

const branchOf = (message: SipMessage) => parseVia(header(message, "Via") ?? "")?.branch;
const endOf = (stage: Stage) => {
  const ends = stage.legEvents().filter((event) => event.type === "leg-ended");
  expect(ends.length).toBeLessThanOrEqual(1);
  return ends[0]?.end;
};
const challenge = (realm: string, nonce = "n1", more = "") => ({
  name: "Proxy-Authenticate",
  value: `Digest realm="${realm}", nonce="${nonce}", algorithm=SHA-256, qop="auth"${more}`,
});
const credentials = { username: "alice", password: "secret" };

describe("an INVITE", () => {
  it("carries the order's identity, an offer and a Via that asks for symmetric routing", () => {
    const stage = setStage();
    dial(stage);
    const invite = stage.peer.last("INVITE");
    expect(invite.uri).toBe("sip:+34600111222@trunk.test");
    expect(header(invite, "Call-ID")).toBe("call-1");
    expect(header(invite, "Via")).toMatch(/^SIP\/2\.0\/UDP 10\.0\.0\.1:5060;branch=z9hG4bK\w+;rport$/);
    expect(header(invite, "From")).toMatch(/^<sip:\+34911222333@trunk\.test>;tag=\w+$/);
    expect(new TextDecoder().decode(invite.body)).toContain("m=audio 4000");
  });

  it("goes out anonymously without a caller id", () => {
    const stage = setStage();
    const order = { host: "t", port: 5070, number: "100", callId: "c", ringTimeoutMs: 1 };
    const media = { address: "10.0.0.1", audioPort: 4000, codecs: ["PCMA"] } as const;
    stage.us.order((agent) => {
      agent.send(agent.prepare({ ...order, callerId: "", media }), stage.peer.address);
    });
    stage.clock.advance(2);
    const invite = stage.peer.last("INVITE");
    expect(header(invite, "From")).toMatch(/^<sip:anonymous@anonymous\.invalid>;tag=/);
    expect(header(invite, "Privacy")).toBe("id");
    expect(invite.uri).toBe("sip:100@t:5070");
  });

  it.each(["1@evil.test", "1;a=b", "1&2", "1%40", "1\r\nX: y", "", "<1>", "1 2"])(
    "is never built for the number %j",
    (number) => {
      const stage = setStage();
      const media = { address: "10.0.0.1", audioPort: 4000, codecs: ["PCMA"] } as const;
      const order = { host: "t", port: 5060, callerId: "1", callId: "c", media, ringTimeoutMs: 1 };
      expect(() => stage.us.agent.prepare({ ...order, number })).toThrow("no plain SIP user");
    },
  );

  it("without any answer ends the call after 32 s as a timeout", () => {
    const stage = setStage();
    dial(stage);
    stage.clock.advance(31_990);
    expect(endOf(stage)).toBeUndefined();
    stage.clock.advance(10);
    expect(endOf(stage)).toEqual({ by: "nobody", failure: "timeout", answered: false, ringing: false });
    expect(stage.peer.requests("INVITE")).toHaveLength(7);
  });

  it("that cannot be delivered ends the call as a transport failure", () => {
    const stage = setStage();
    const keys: string[] = [];
    stage.us.order((agent) => {
      const call = agent.prepare({
        host: "trunk.test",
        port: 5060,
        number: "1",
        callerId: "2",
        callId: "c",
        media: { address: "10.0.0.1", audioPort: 4000, codecs: ["PCMA"] },
        ringTimeoutMs: 60_000,
      });
      agent.send(call, { address: "10.9.9.9", port: 5060 });
      for (const output of agent.drain()) if (output.type === "send") keys.push(output.request?.key ?? "");
      agent.sendFailed(keys[0]!);
    });
    expect(endOf(stage)).toEqual({ by: "nobody", failure: "transport", answered: false, ringing: false });
  });
});

describe("provisional responses", () => {
  it("tell of ringing once a status, and of early media of each fork", () => {
    const stage = setStage();
    dial(stage);
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, 100);
    stage.peer.respond(invite, 180, { tag: "a" });
    stage.peer.respond(invite, 180, { tag: "a" });
    stage.peer.respond(invite, 183, { tag: "a", sdp: peerSdp(6000) });
    stage.peer.respond(invite, 183, { tag: "a", sdp: peerSdp(6000) });
    stage.peer.respond(invite, 183, { tag: "b", sdp: peerSdp(7000) });
    stage.peer.respond(invite, 183, { tag: "c", sdp: "v=0\r\nnonsense" });
    stage.clock.advance(2);
    expect(
      stage
        .legEvents()
        .map((event) =>
          event.type === "leg-ringing"
            ? event.status
            : event.type === "leg-early-media"
              ? event.media.audio.remote.port
              : event.type,
        ),
    ).toEqual([180, 183, 6000, 7000]);
  });

  it("of a fork that ended (199) take its early media with them", () => {
    const stage = setStage();
    dial(stage);
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, 183, { tag: "a", sdp: peerSdp(6000) });
    stage.peer.respond(invite, 199, { tag: "a" });
    stage.peer.respond(invite, 200, { tag: "a" });
    stage.clock.advance(2);
    expect(stage.legEvents().map((event) => event.type)).toEqual([
      "leg-ringing",
      "leg-early-media",
      "leg-ended",
    ]);
    expect(endOf(stage)).toMatchObject({ failure: "media" });
  });

  it("may lack a To tag, and the SDP of a 183 stands for that of a 200 without one", () => {
    const stage = setStage();
    dial(stage);
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, 183, { tag: "", sdp: peerSdp(6000) });
    stage.peer.respond(invite, 200, { tag: "b" });
    stage.clock.advance(2);
    expect(stage.legEvents().at(-1)).toMatchObject({
      type: "leg-answered",
      media: { audio: { remote: { port: 6000 } } },
    });
  });
});

describe("ending a call before the answer", () => {
  it("sends CANCEL with the INVITE's branch and CSeq number, and acknowledges the 487 likewise", () => {
    const stage = setStage();
    const call = dial(stage);
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, 180);
    stage.clock.advance(2);
    stage.us.order(() => call.hangUp());
    stage.clock.advance(2);
    const cancel = stage.peer.last("CANCEL");
    expect(branchOf(cancel)).toBe(branchOf(invite));
    expect(header(cancel, "CSeq")).toBe("1 CANCEL");
    expect(header(cancel, "To")).toBe(header(invite, "To"));
    expect(cancel.uri).toBe(invite.uri);
    stage.peer.respond(cancel, 200);
    stage.peer.respond(invite, 487);
    stage.clock.advance(2);
    const ack = stage.peer.last("ACK");
    expect(branchOf(ack)).toBe(branchOf(invite));
    expect(header(ack, "To")).toContain("tag=peer-tag");
    expect(endOf(stage)).toMatchObject({ by: "us", ourAct: "cancel", status: 487, ringing: true });
  });

  it("waits with the CANCEL for the first provisional response", () => {
    const stage = setStage();
    const call = dial(stage);
    stage.us.order(() => call.hangUp());
    stage.clock.advance(1000);
    expect(stage.peer.requests("CANCEL")).toHaveLength(0);
    stage.peer.respond(stage.peer.last("INVITE"), 100);
    stage.clock.advance(2);
    expect(stage.peer.requests("CANCEL")).toHaveLength(1);
  });

  it("happens by itself when it rings too long, to the millisecond", () => {
    const stage = setStage();
    dial(stage, { ringTimeoutMs: 20_000 });
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, 180);
    stage.clock.advance(19_997);
    expect(stage.peer.requests("CANCEL")).toHaveLength(0);
    stage.clock.advance(2);
    expect(stage.peer.requests("CANCEL")).toHaveLength(1);
    stage.peer.respond(invite, 487);
    stage.clock.advance(2);
    expect(endOf(stage)).toMatchObject({ by: "us", ourAct: "ring-timeout", status: 487 });
  });

  it("answers a 200 that crosses the CANCEL with ACK, then BYE", () => {
    const stage = setStage();
    const call = dial(stage);
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, 180);
    stage.clock.advance(2);
    stage.us.order(() => call.hangUp());
    stage.peer.respond(invite, 200, { sdp: peerSdp() });
    stage.clock.advance(3);
    const order = stage.peer.got.map((message) => (message.type === "request" ? message.method : ""));
    expect(order).toEqual(["INVITE", "CANCEL", "ACK", "BYE"]);
    expect(header(stage.peer.last("BYE"), "To")).toContain("tag=peer-tag");
    expect(endOf(stage)).toMatchObject({ by: "us", ourAct: "cancel", status: 200, answered: false });
    expect(stage.legEvents().some((event) => event.type === "leg-answered")).toBe(false);
  });

  it("gives up 32 s after a CANCEL without a final response", () => {
    const stage = setStage();
    const call = dial(stage);
    stage.peer.respond(stage.peer.last("INVITE"), 180);
    stage.clock.advance(2);
    stage.us.order(() => call.hangUp());
    stage.clock.advance(31_999);
    expect(endOf(stage)).toBeUndefined();
    stage.clock.advance(1);
    expect(endOf(stage)).toMatchObject({ by: "us", ourAct: "cancel", failure: "timeout" });
  });

  it("of a call not yet sent ends it without a datagram", () => {
    const stage = setStage();
    const media = { address: "10.0.0.1", audioPort: 4000, codecs: ["PCMA"] } as const;
    stage.us.order((agent) => {
      const order = { host: "t", port: 5060, number: "1", callerId: "2", callId: "c", media };
      const call = agent.prepare({ ...order, ringTimeoutMs: 1 });
      call.hangUp();
      agent.send(call, stage.peer.address);
    });
    stage.clock.advance(100);
    expect(endOf(stage)).toMatchObject({ by: "us", ourAct: "cancel" });
    expect(stage.network.sent).toHaveLength(0);
    expect(stage.us.agent.size).toBe(0);
  });
});

describe("a 2xx", () => {
  const route = (...values: string[]) => values.map((value) => ({ name: "Record-Route", value }));

  it("is acknowledged to its Contact through the reversed Record-Route, and so goes the BYE", () => {
    const stage = setStage();
    const proxy = new ScriptedPeer(stage.network, { address: "10.0.0.3", port: 5080 });
    const call = dial(stage);
    stage.peer.respond(stage.peer.last("INVITE"), 200, {
      sdp: peerSdp(),
      headers: [
        ...route("<sip:10.0.0.4;lr>", "<sip:10.0.0.3:5080;lr>"),
        { name: "Contact", value: "<sip:real@10.0.0.9:5099>" },
      ],
    });
    stage.clock.advance(3);
    stage.us.order(() => call.hangUp());
    stage.clock.advance(2);
    for (const request of [proxy.last("ACK"), proxy.last("BYE")]) {
      expect(request.uri).toBe("sip:real@10.0.0.9:5099");
      expect(request.headers.filter(({ name }) => name === "Route").map(({ value }) => value)).toEqual([
        "<sip:10.0.0.3:5080;lr>",
        "<sip:10.0.0.4;lr>",
      ]);
    }
    expect(header(proxy.last("ACK"), "CSeq")).toBe("1 ACK");
    expect(header(proxy.last("BYE"), "CSeq")).toBe("2 BYE");
    expect(stage.peer.requests("ACK")).toHaveLength(0);
  });

  it("passes a strict router first in line as RFC 2543 wants it", () => {
    const stage = setStage();
    const proxy = new ScriptedPeer(stage.network, { address: "10.0.0.3", port: 5080 });
    dial(stage);
    stage.peer.respond(stage.peer.last("INVITE"), 200, {
      sdp: peerSdp(),
      headers: route("<sip:10.0.0.4;lr>", "<sip:10.0.0.3:5080>"),
    });
    stage.clock.advance(3);
    const ack = proxy.last("ACK");
    expect(ack.uri).toBe("sip:10.0.0.3:5080");
    expect(ack.headers.filter(({ name }) => name === "Route").map(({ value }) => value)).toEqual([
      "<sip:10.0.0.4;lr>",
      "<sip:peer@10.0.0.2:5060>",
    ]);
  });

  it("is acknowledged again at every repetition, also when the call is over", () => {
    const stage = setStage();
    const call = connect(stage);
    const invite = stage.peer.last("INVITE");
    for (let n = 0; n < 3; n++) stage.peer.respond(invite, 200, { sdp: peerSdp() });
    stage.clock.advance(2);
    expect(stage.peer.requests("ACK")).toHaveLength(4);
    stage.us.order(() => call.hangUp());
    stage.peer.respond(invite, 200, { sdp: peerSdp() });
    stage.clock.advance(30_000);
    stage.peer.respond(invite, 200, { sdp: peerSdp() });
    stage.clock.advance(2);
    expect(stage.peer.requests("ACK")).toHaveLength(6);
    expect(new Set(stage.peer.requests("ACK").map(branchOf)).size).toBe(1);
    expect(stage.legEvents().filter((event) => event.type === "leg-answered")).toHaveLength(1);
  });

  it("of a second fork gets ACK and BYE, and the call goes on", () => {
    const stage = setStage();
    connect(stage);
    stage.peer.respond(stage.peer.last("INVITE"), 200, { tag: "second", sdp: peerSdp(7000) });
    stage.clock.advance(2);
    expect(header(stage.peer.last("ACK"), "To")).toContain("tag=second");
    expect(stage.peer.requests("BYE").map((bye) => header(bye, "To"))).toEqual([
      "<sip:+34600111222@trunk.test>;tag=second",
    ]);
    expect(endOf(stage)).toBeUndefined();
  });

  it.each([
    ["no SDP at all", undefined],
    ["a codec that was not offered", peerSdp().replaceAll("8 101", "9 101").replace("8 PCMA", "9 G722")],
    ["nonsense", "hello"],
  ])("with %s gets ACK and BYE and ends the call for its media", (_, sdp) => {
    const stage = setStage();
    dial(stage);
    stage.peer.respond(stage.peer.last("INVITE"), 200, sdp === undefined ? {} : { sdp });
    stage.clock.advance(2);
    expect(stage.peer.requests("ACK")).toHaveLength(1);
    expect(stage.peer.requests("BYE")).toHaveLength(1);
    expect(endOf(stage)).toMatchObject({ by: "nobody", failure: "media", status: 200, answered: false });
  });

  it("gives the dialog to save for a BYE of a later process", () => {
    const stage = setStage();
    connect(stage);
    expect(stage.legEvents().find((event) => event.type === "leg-answered")).toMatchObject({
      dialog: {
        sipCallId: "call-1",
        remoteTag: "peer-tag",
        remoteTarget: "sip:peer@10.0.0.2:5060",
        localCSeq: 1,
        inviteBranch: null,
        destination: stage.peer.address,
      },
    });
  });
});

describe("a refusal", () => {
  it("ends the call with all its evidence", () => {
    const stage = setStage();
    dial(stage);
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, 180);
    stage.peer.respond(invite, 503, {
      headers: [
        { name: "Reason", value: 'SIP;cause=503, Q.850;cause=34;text="No circuit"' },
        { name: "Retry-After", value: "7 (busy hour)" },
      ],
    });
    stage.clock.advance(2);
    expect(endOf(stage)).toEqual({
      by: "them",
      status: 503,
      reason: "Service Unavailable",
      q850: 34,
      q850Text: "No circuit",
      retryAfterS: 7,
      answered: false,
      ringing: true,
    });
  });

  it("that redirects is not followed: nothing goes to the address it names", () => {
    const stage = setStage();
    const other = new ScriptedPeer(stage.network, { address: "10.6.6.6", port: 5060 });
    dial(stage);
    const contact = { name: "Contact", value: "<sip:premium@10.6.6.6>" };
    stage.peer.respond(stage.peer.last("INVITE"), 302, { headers: [contact] });
    stage.clock.advance(60_000);
    expect(endOf(stage)).toMatchObject({ by: "them", status: 302 });
    expect(other.got).toEqual([]);
    expect(stage.peer.requests("INVITE")).toHaveLength(1);
  });
});

describe("a challenge", () => {
  it("is answered with the same Call-ID and the next CSeq, and the ACK repeats the credentials", () => {
    const stage = setStage();
    dial(stage, { credentials });
    const first = stage.peer.last("INVITE");
    stage.peer.respond(first, 407, { headers: [challenge("trunk.test")] });
    stage.clock.advance(3);
    const second = stage.peer.last("INVITE");
    expect(header(second, "CSeq")).toBe("2 INVITE");
    expect(header(second, "Call-ID")).toBe("call-1");
    expect(header(second, "From")).toBe(header(first, "From"));
    expect(branchOf(second)).not.toBe(branchOf(first));
    expect(header(second, "Proxy-Authorization")).toMatch(/username="alice".*nc=00000001/);
    expect(branchOf(stage.peer.last("ACK"))).toBe(branchOf(first));
    expect(stage.legEvents()).toMatchObject([
      { type: "leg-invited-again", dialog: { localCSeq: 2, inviteBranch: branchOf(second) } },
    ]);
    stage.peer.respond(second, 200, { sdp: peerSdp() });
    stage.clock.advance(2);
    const ack = stage.peer.last("ACK");
    expect(header(ack, "CSeq")).toBe("2 ACK");
    expect(header(ack, "Proxy-Authorization")).toBe(header(second, "Proxy-Authorization"));
  });

  it("of a second realm is answered too, with the credentials of both", () => {
    const stage = setStage();
    dial(stage, { credentials });
    stage.peer.respond(stage.peer.last("INVITE"), 407, { headers: [challenge("proxy.test")] });
    stage.clock.advance(3);
    const server = { name: "WWW-Authenticate", value: challenge("server.test").value };
    stage.peer.respond(stage.peer.last("INVITE"), 401, { headers: [server] });
    stage.clock.advance(3);
    const third = stage.peer.last("INVITE");
    expect(header(third, "CSeq")).toBe("3 INVITE");
    expect(header(third, "Authorization")).toContain('realm="server.test"');
    expect(header(third, "Proxy-Authorization")).toMatch(/realm="proxy\.test".*nc=00000002/);
  });

  it("that refuses what we answered ends the call, however fresh its nonce", () => {
    const stage = setStage();
    dial(stage, { credentials });
    for (const nonce of ["n1", "n2", "n3", "n4"]) {
      stage.peer.respond(stage.peer.last("INVITE"), 407, { headers: [challenge("trunk.test", nonce)] });
      stage.clock.advance(3);
    }
    expect(new Set(stage.peer.requests("INVITE").map(branchOf)).size).toBe(2);
    expect(endOf(stage)).toMatchObject({ by: "them", status: 407, failure: "auth" });
  });

  it("that calls the nonce stale is answered once more, and never a third time", () => {
    const stage = setStage();
    dial(stage, { credentials });
    for (const nonce of ["n1", "n2", "n3", "n4"]) {
      const stale = challenge("trunk.test", nonce, ", stale=true");
      stage.peer.respond(stage.peer.last("INVITE"), 407, { headers: [stale] });
      stage.clock.advance(3);
    }
    expect(new Set(stage.peer.requests("INVITE").map(branchOf)).size).toBe(3);
    expect(endOf(stage)).toMatchObject({ status: 407, failure: "auth" });
  });

  it.each([
    ["without credentials", undefined, challenge("trunk.test").value],
    ["with an unknown algorithm", credentials, 'Digest realm="r", nonce="n", algorithm=WHIRLPOOL'],
    ["of another scheme", credentials, 'Basic realm="r"'],
  ])("%s ends the call", (_, given, value) => {
    const stage = setStage();
    dial(stage, given === undefined ? {} : { credentials: given });
    const headers = [{ name: "Proxy-Authenticate", value }];
    stage.peer.respond(stage.peer.last("INVITE"), 407, { headers });
    stage.clock.advance(3);
    expect(stage.peer.requests("INVITE")).toHaveLength(1);
    expect(endOf(stage)).toMatchObject({ by: "them", status: 407, failure: "auth" });
  });

  it("after a hang-up is not answered", () => {
    const stage = setStage();
    const call = dial(stage, { credentials });
    stage.us.order(() => call.hangUp());
    stage.peer.respond(stage.peer.last("INVITE"), 407, { headers: [challenge("trunk.test")] });
    stage.clock.advance(3);
    expect(stage.peer.requests("INVITE")).toHaveLength(1);
    expect(endOf(stage)).toMatchObject({ by: "us", ourAct: "cancel", status: 407 });
  });

  it("of the BYE is answered", () => {
    const stage = setStage();
    const call = connect(stage, { credentials });
    stage.us.order(() => call.hangUp());
    stage.clock.advance(2);
    const first = stage.peer.last("BYE");
    stage.peer.respond(first, 407, { headers: [challenge("trunk.test")] });
    stage.clock.advance(2);
    const second = stage.peer.last("BYE");
    expect(header(second, "CSeq")).toBe("3 BYE");
    expect(header(second, "Proxy-Authorization")).toContain('username="alice"');
  });

  it("of a BYE that a Contact led to another address gets no credentials", () => {
    const stage = setStage();
    const thief = new ScriptedPeer(stage.network, { address: "10.6.6.6", port: 5060 });
    const call = dial(stage, { credentials });
    const contact = { name: "Contact", value: "<sip:x@10.6.6.6>" };
    stage.peer.respond(stage.peer.last("INVITE"), 200, { sdp: peerSdp(), headers: [contact] });
    stage.clock.advance(2);
    stage.us.order(() => call.hangUp());
    stage.clock.advance(2);
    thief.respond(thief.last("BYE"), 407, { headers: [challenge("trunk.test")] });
    stage.clock.advance(2);
    expect(thief.requests("BYE")).toHaveLength(1);
  });
});

describe("inside an answered call", () => {
  it("a BYE is answered 200 and ends the call with its Q.850 cause", () => {
    const stage = setStage();
    connect(stage);
    const headers = [{ name: "Reason", value: "Q.850;cause=16" }];
    stage.peer.request("BYE", { ...inside(stage), cseq: 1, headers });
    stage.clock.advance(2);
    expect(stage.peer.statuses("BYE")).toEqual([200]);
    expect(endOf(stage)).toEqual({
      by: "them",
      status: 200,
      reason: "OK",
      q850: 16,
      answered: true,
      ringing: false,
    });
  });

  it("a BYE crossing ours is answered 200 too", () => {
    const stage = setStage();
    const call = connect(stage);
    stage.us.order(() => call.hangUp());
    stage.peer.request("BYE", { ...inside(stage), cseq: 1 });
    stage.clock.advance(2);
    expect(stage.peer.statuses("BYE")).toEqual([200]);
    expect(endOf(stage)).toMatchObject({ by: "us", ourAct: "hang-up", answered: true });
  });

  it("a BYE that overtakes its 200 ends the call as soon as that comes", () => {
    const stage = setStage();
    dial(stage);
    stage.peer.request("BYE", { ...inside(stage), cseq: 1 });
    stage.peer.respond(stage.peer.last("INVITE"), 200, { sdp: peerSdp() });
    stage.clock.advance(2);
    expect(stage.peer.statuses("BYE")).toEqual([200]);
    expect(stage.peer.requests("ACK")).toHaveLength(1);
    expect(endOf(stage)).toMatchObject({ by: "them", answered: true });
  });

  it("hold and a new address are answered and told, by re-INVITE and by UPDATE", () => {
    const stage = setStage();
    connect(stage);
    const ask = (method: string, cseq: number, sdp: string) => {
      stage.peer.request(method, { ...inside(stage), cseq, sdp });
      stage.clock.advance(2);
      if (method === "INVITE") stage.peer.request("ACK", { ...inside(stage), cseq });
      stage.clock.advance(2);
    };
    ask("INVITE", 1, peerSdp(6000, "sendonly"));
    ask("INVITE", 2, peerSdp(6000, "sendonly"));
    ask("UPDATE", 3, peerSdp(6500));
    const changes = stage.legEvents().filter((event) => event.type === "leg-media-changed");
    expect(changes).toMatchObject([
      { media: { audio: { direction: "recvonly", remote: { port: 6000 } } } },
      { media: { audio: { direction: "sendrecv", remote: { port: 6500 } } } },
    ]);
    const answers = stage.peer
      .responses("INVITE")
      .filter(({ status }) => status === 200)
      .map(({ body }) => new TextDecoder().decode(body));
    expect(answers).toHaveLength(2);
    expect(answers[0]).toContain("a=recvonly");
    const versions = answers.map((answer) => /^o=\S+ \d+ (\d+) /m.exec(answer)?.[1]);
    expect(versions[0]).toBe("2");
    expect(versions[1]).toBe("2");
    expect(endOf(stage)).toBeUndefined();
  });

  it("a re-INVITE without SDP gets our offer; its answer comes with the ACK", () => {
    const stage = setStage();
    connect(stage);
    stage.peer.request("INVITE", { ...inside(stage), cseq: 1 });
    stage.clock.advance(2);
    expect(new TextDecoder().decode(stage.peer.responses("INVITE").at(-1)!.body)).toContain("m=audio 4000");
    stage.peer.request("INVITE", { ...inside(stage), cseq: 2, sdp: peerSdp(7000) });
    stage.clock.advance(2);
    expect(stage.peer.responses("INVITE").at(-1)).toMatchObject({ status: 491 });
    stage.peer.request("ACK", { ...inside(stage), cseq: 1, sdp: peerSdp(6600) });
    stage.clock.advance(2);
    expect(stage.legEvents().at(-1)).toMatchObject({
      type: "leg-media-changed",
      media: { audio: { remote: { port: 6600 } } },
    });
  });

  it("a re-INVITE that cannot be met is answered 488 and the call goes on as it was", () => {
    const stage = setStage();
    connect(stage);
    const sdp = peerSdp().replace("8 101", "9 101").replace("8 PCMA", "9 G722");
    stage.peer.request("INVITE", { ...inside(stage), cseq: 1, sdp });
    stage.clock.advance(2);
    expect(stage.peer.responses("INVITE").at(-1)?.status).toBe(488);
    expect(stage.legEvents().at(-1)?.type).toBe("leg-answered");
  });

  it("a re-INVITE whose 200 is never acknowledged ends the call with BYE after 32 s", () => {
    const stage = setStage();
    connect(stage);
    stage.peer.request("INVITE", { ...inside(stage), cseq: 1, sdp: peerSdp(6000, "sendonly") });
    stage.clock.advance(32_005);
    expect(stage.peer.statuses("INVITE").filter((status) => status === 200)).toHaveLength(11);
    expect(stage.peer.requests("BYE").length).toBeGreaterThan(0);
    expect(endOf(stage)).toMatchObject({ by: "nobody", failure: "timeout", answered: true });
  });

  it("a request out of order is answered 500", () => {
    const stage = setStage();
    connect(stage);
    stage.peer.request("OPTIONS", { ...inside(stage), cseq: 5 });
    stage.peer.request("OPTIONS", { ...inside(stage), cseq: 4 });
    stage.clock.advance(2);
    expect(stage.peer.statuses("OPTIONS")).toEqual([200, 500]);
  });

  it("keys pressed come by INFO, in both its forms", () => {
    const stage = setStage();
    connect(stage);
    const bodies = [
      ["application/dtmf-relay", "Signal=5\r\nDuration=160\r\n"],
      ["application/dtmf-relay", "Signal= #\r\n"],
      ["application/dtmf-relay", "Signal=10\r\n"],
      ["application/dtmf", "7"],
      ["application/dtmf-relay", "Signal=xyz\r\n"],
      ["text/plain", "5"],
    ] as const;
    bodies.forEach(([type, body], index) =>
      stage.peer.request("INFO", {
        ...inside(stage),
        cseq: index + 1,
        body,
        headers: [{ name: "Content-Type", value: type }],
      }),
    );
    stage.clock.advance(2);
    expect(stage.peer.statuses("INFO")).toEqual([200, 200, 200, 200, 200, 200]);
    const digits = stage.legEvents().flatMap((event) => (event.type === "leg-dtmf" ? [event.digit] : []));
    expect(digits).toEqual(["5", "#", "*", "7"]);
  });

  it.each([
    ["REFER", 603],
    ["NOTIFY", 489],
    ["SUBSCRIBE", 405],
    ["PRACK", 481],
    ["FETCH", 501],
  ])("%s is answered %i", (method, status) => {
    const stage = setStage();
    connect(stage);
    stage.peer.request(method, { ...inside(stage), cseq: 1 });
    stage.clock.advance(2);
    expect(stage.peer.statuses(method)).toEqual([status]);
    expect(endOf(stage)).toBeUndefined();
  });

  it("a required extension is refused 420", () => {
    const stage = setStage();
    connect(stage);
    const headers = [{ name: "Require", value: "replaces, 100rel" }];
    stage.peer.request("INVITE", { ...inside(stage), cseq: 1, headers, sdp: peerSdp() });
    stage.clock.advance(2);
    const refusal = stage.peer.responses("INVITE").at(-1)!;
    expect(refusal.status).toBe(420);
    expect(header(refusal, "Unsupported")).toBe("replaces");
  });
});

describe("before the answer", () => {
  it("a request of the callee that would change the session is glare", () => {
    const stage = setStage();
    dial(stage);
    stage.peer.request("INVITE", { ...inside(stage), cseq: 1, sdp: peerSdp() });
    stage.peer.request("UPDATE", { ...inside(stage), cseq: 2, sdp: peerSdp() });
    stage.clock.advance(2);
    expect(stage.peer.statuses("INVITE").at(-1)).toBe(491);
    expect(stage.peer.statuses("UPDATE")).toEqual([491]);
  });
});

describe("an orphan", () => {
  /** The dialog a first process saved, and the stage on which a second one finds it. */
  function crash(until: "ringing" | "answered") {
    const before = setStage();
    const call = dial(before);
    const invite = before.peer.last("INVITE");
    if (until === "answered") before.peer.respond(invite, 200, { sdp: peerSdp() });
    before.clock.advance(2);
    const answered = before.legEvents().find((event) => event.type === "leg-answered");
    const saved =
      answered === undefined ? { ...call.dialog, destination: before.peer.address } : answered.dialog;
    return { invite, saved, stage: setStage({ trusts: () => false }) };
  }

  it("that was answered gets a BYE inside its dialog", () => {
    const { saved, stage } = crash("answered");
    stage.us.order((agent) => agent.endOrphan(saved, undefined, true));
    stage.clock.advance(2);
    const bye = stage.peer.last("BYE");
    expect(header(bye, "CSeq")).toBe("2 BYE");
    expect(header(bye, "To")).toBe("<sip:+34600111222@trunk.test>;tag=peer-tag");
    expect(header(bye, "From")).toContain(`tag=${saved.localTag}`);
    expect(bye.uri).toBe("sip:peer@10.0.0.2:5060");
  });

  it("answers the challenge of its BYE", () => {
    const { saved, stage } = crash("answered");
    stage.us.order((agent) => agent.endOrphan(saved, credentials, true));
    stage.clock.advance(2);
    stage.peer.respond(stage.peer.last("BYE"), 407, { headers: [challenge("trunk.test")] });
    stage.clock.advance(2);
    expect(header(stage.peer.last("BYE"), "Proxy-Authorization")).toContain('username="alice"');
  });

  it("that was ringing gets a CANCEL of its INVITE, and its 487 an ACK", () => {
    const { invite, saved, stage } = crash("ringing");
    stage.us.order((agent) => agent.endOrphan(saved, undefined, false));
    stage.clock.advance(2);
    const cancel = stage.peer.last("CANCEL");
    expect(branchOf(cancel)).toBe(branchOf(invite));
    for (const name of ["From", "To", "Call-ID"]) expect(header(cancel, name)).toBe(header(invite, name));
    expect(cancel.uri).toBe(invite.uri);
    stage.peer.respond(cancel, 200);
    stage.peer.respond(invite, 487);
    stage.clock.advance(2);
    expect(branchOf(stage.peer.last("ACK"))).toBe(branchOf(invite));
    expect(stage.peer.requests("INVITE")).toHaveLength(0);
  });

  it("that was answered meanwhile gets ACK and BYE", () => {
    const { invite, saved, stage } = crash("ringing");
    stage.us.order((agent) => agent.endOrphan(saved, undefined, false));
    stage.peer.respond(invite, 200, { sdp: peerSdp() });
    stage.clock.advance(2);
    expect(header(stage.peer.last("ACK"), "CSeq")).toBe("1 ACK");
    expect(header(stage.peer.last("BYE"), "CSeq")).toBe("2 BYE");
    stage.clock.advance(300_000);
    expect(stage.us.agent.size).toBe(0);
  });
});
