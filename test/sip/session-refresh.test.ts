import { describe, expect, it } from "vitest";
import type { ReceivedCall } from "#sip";
import {
  connect,
  dial,
  header,
  inside,
  ourMedia,
  peerSdp,
  ScriptedPeer,
  setStage,
  type Stage,
} from "./scripted-peer.ts";

const expires = (value: string) => ({ name: "Session-Expires", value });
const allow = { name: "Allow", value: "INVITE, ACK, BYE, CANCEL, UPDATE" };
const sdpText = (body: Uint8Array) => new TextDecoder().decode(body);
const endOf = (stage: Stage) =>
  stage.legEvents().flatMap((event) => (event.type === "leg-ended" ? [event.end] : []))[0];

describe("a call of ours", () => {
  it("asks for a session interval, and for none when told so", () => {
    const stage = setStage();
    dial(stage);
    const invite = stage.peer.last("INVITE");
    expect(header(invite, "Supported")).toBe("100rel, 199, timer");
    expect(header(invite, "Session-Expires")).toBe("1800");
    expect(header(invite, "Min-SE")).toBe("90");
    expect(header(invite, "Require")).toBeUndefined();
    const quiet = setStage();
    dial(quiet, { sessionTimer: "off" });
    expect(header(quiet.peer.last("INVITE"), "Session-Expires")).toBeUndefined();
    const named = setStage();
    dial(named, { sessionTimer: { expiresS: 600, minimumS: 120, refresher: "them" } });
    expect(header(named.peer.last("INVITE"), "Session-Expires")).toBe("600;refresher=uas");
    expect(header(named.peer.last("INVITE"), "Min-SE")).toBe("120");
  });

  it("asks again for a longer one after 422: same Call-ID, next CSeq, told like a challenge", () => {
    const stage = setStage();
    dial(stage);
    const first = stage.peer.last("INVITE");
    stage.peer.respond(first, 422, { headers: [{ name: "Min-SE", value: "3600" }] });
    stage.clock.advance(3);
    const second = stage.peer.last("INVITE");
    expect(header(second, "CSeq")).toBe("2 INVITE");
    expect(header(second, "Call-ID")).toBe("call-1");
    expect(header(second, "From")).toBe(header(first, "From"));
    expect(header(second, "To")).toBe(header(first, "To"));
    expect(header(second, "Session-Expires")).toBe("3600");
    expect(header(second, "Min-SE")).toBe("3600");
    expect(stage.legEvents()).toMatchObject([{ type: "leg-invited-again", dialog: { localCSeq: 2 } }]);
    stage.peer.respond(second, 200, { sdp: peerSdp() });
    stage.clock.advance(2);
    expect(stage.legEvents().at(-1)?.type).toBe("leg-answered");
  });

  it("takes a 422 that wants nothing longer, and the fourth one, for a refusal", () => {
    const stage = setStage();
    dial(stage);
    stage.peer.respond(stage.peer.last("INVITE"), 422, { headers: [{ name: "Min-SE", value: "1800" }] });
    stage.clock.advance(3);
    expect(endOf(stage)).toMatchObject({ by: "them", status: 422 });
    const greedy = setStage();
    dial(greedy);
    for (const minimum of ["2000", "3000", "4000", "5000", "6000"]) {
      greedy.peer.respond(greedy.peer.last("INVITE"), 422, { headers: [{ name: "Min-SE", value: minimum }] });
      greedy.clock.advance(3);
    }
    expect(greedy.peer.requests("INVITE")).toHaveLength(4);
    expect(endOf(greedy)).toMatchObject({ by: "them", status: 422 });
  });

  it("does not ask again after 422 when it is being cancelled", () => {
    const stage = setStage();
    const call = dial(stage);
    stage.us.order(() => call.hangUp());
    stage.peer.respond(stage.peer.last("INVITE"), 422, { headers: [{ name: "Min-SE", value: "3600" }] });
    stage.clock.advance(3);
    expect(stage.peer.requests("INVITE")).toHaveLength(1);
    expect(endOf(stage)).toMatchObject({ by: "us", ourAct: "cancel", status: 422 });
  });

  it("whose callee sets no interval is neither refreshed nor ended", () => {
    const stage = setStage();
    connect(stage);
    stage.clock.advance(4_000_000);
    expect(stage.peer.requests("INVITE")).toHaveLength(1);
    expect(stage.peer.requests("UPDATE")).toHaveLength(0);
    expect(endOf(stage)).toBeUndefined();
  });
});

describe("a refresh of ours", () => {
  it("goes out by UPDATE at half the interval where the peer takes it, again and again", () => {
    const stage = setStage();
    connect(stage, { answer: [expires("1800;refresher=uac"), allow] });
    for (const cseq of [2, 3, 4]) {
      stage.clock.advance(899_990);
      expect(stage.peer.requests("UPDATE")).toHaveLength(cseq - 2);
      stage.clock.advance(20);
      const update = stage.peer.last("UPDATE");
      expect(header(update, "CSeq")).toBe(`${cseq} UPDATE`);
      expect(header(update, "Session-Expires")).toBe("1800;refresher=uac");
      expect(header(update, "Contact")).toContain("10.0.0.1:5060");
      expect(update.body).toHaveLength(0);
      stage.peer.respond(update, 200, { headers: [expires("1800;refresher=uac")] });
      stage.clock.advance(1);
    }
    expect(stage.peer.requests("INVITE")).toHaveLength(1);
    expect(endOf(stage)).toBeUndefined();
  });

  it("goes out by INVITE with the session as it is where the peer takes no UPDATE", () => {
    const stage = setStage();
    connect(stage, { answer: [expires("100;refresher=uac")] });
    const first = stage.peer.last("INVITE");
    stage.clock.advance(50_000);
    const again = stage.peer.last("INVITE");
    expect(header(again, "CSeq")).toBe("2 INVITE");
    expect(header(again, "To")).toContain("tag=peer-tag");
    expect(sdpText(again.body)).toBe(sdpText(first.body));
    stage.peer.respond(again, 200, { sdp: peerSdp(), headers: [expires("100;refresher=uac")] });
    stage.clock.advance(2);
    expect(header(stage.peer.last("ACK"), "CSeq")).toBe("2 ACK");
    stage.peer.respond(again, 200, { sdp: peerSdp(), headers: [expires("100;refresher=uac")] });
    stage.clock.advance(2);
    expect(stage.peer.requests("ACK").map((ack) => header(ack, "CSeq"))).toEqual(["1 ACK", "2 ACK", "2 ACK"]);
    expect(stage.legEvents().map(({ type }) => type)).toEqual(["leg-answered", "leg-dialog-changed"]);
  });

  it("that finds UPDATE unknown goes out as INVITE", () => {
    const stage = setStage();
    connect(stage, { answer: [expires("100;refresher=uac"), allow] });
    stage.clock.advance(50_000);
    stage.peer.respond(stage.peer.last("UPDATE"), 405);
    stage.clock.advance(2);
    expect(header(stage.peer.last("INVITE"), "CSeq")).toBe("3 INVITE");
  });

  it("asks for more after 422, and hands over when the peer wants to refresh", () => {
    const stage = setStage();
    connect(stage, { answer: [expires("100;refresher=uac"), allow] });
    stage.clock.advance(50_000);
    stage.peer.respond(stage.peer.last("UPDATE"), 422, { headers: [{ name: "Min-SE", value: "500" }] });
    stage.clock.advance(10_000);
    const second = stage.peer.last("UPDATE");
    expect(header(second, "Session-Expires")).toBe("500;refresher=uac");
    expect(header(second, "Min-SE")).toBe("500");
    stage.peer.respond(second, 200, { headers: [expires("500;refresher=uas")] });
    stage.clock.advance(400_000);
    expect(header(stage.peer.last("UPDATE"), "CSeq")).toBe("3 UPDATE");
    stage.clock.advance(100_000);
    expect(stage.peer.requests("BYE").length).toBeGreaterThan(0);
    expect(endOf(stage)).toMatchObject({ by: "nobody", failure: "timeout", answered: true });
  });

  it("by INVITE asks for more after 422, and is tried again after another refusal", () => {
    const stage = setStage();
    connect(stage, { answer: [expires("200;refresher=uac")] });
    stage.clock.advance(100_000);
    stage.peer.respond(stage.peer.last("INVITE"), 422, { headers: [{ name: "Min-SE", value: "500" }] });
    stage.clock.advance(3);
    const longer = stage.peer.last("INVITE");
    expect(header(longer, "CSeq")).toBe("3 INVITE");
    expect(header(longer, "Session-Expires")).toBe("500;refresher=uac");
    stage.peer.respond(longer, 503);
    stage.clock.advance(40_000); // 68 s were left.
    expect(header(stage.peer.last("INVITE"), "CSeq")).toBe("4 INVITE");
    expect(stage.legEvents().some(({ type }) => type === "leg-offer-settled")).toBe(false);
  });

  it("is left to an INVITE of ours that is out", () => {
    const stage = setStage();
    const call = connect(stage, { answer: [expires("90;refresher=uac"), allow] });
    stage.clock.advance(40_000);
    stage.us.order(() => call.hold());
    stage.clock.advance(2);
    stage.peer.respond(stage.peer.last("INVITE"), 100);
    stage.clock.advance(8_000);
    expect(stage.peer.requests("UPDATE")).toHaveLength(0);
    stage.peer.respond(stage.peer.last("INVITE"), 488); // It did not refresh the session after all.
    stage.clock.advance(6_500);
    expect(stage.peer.requests("UPDATE").length).toBeGreaterThan(0);
  });

  it("moves the call to the Contact of its 200", () => {
    const stage = setStage();
    const call = connect(stage, { answer: [expires("100;refresher=uac"), allow] });
    stage.clock.advance(50_000);
    const headers = [expires("100;refresher=uac"), { name: "Contact", value: "<sip:moved@10.0.0.2:5060>" }];
    stage.peer.respond(stage.peer.last("UPDATE"), 200, { headers });
    stage.clock.advance(2);
    stage.us.order(() => call.hangUp());
    stage.clock.advance(2);
    expect(stage.peer.last("BYE").uri).toBe("sip:moved@10.0.0.2:5060");
  });

  it("that a Contact led to another address gives no credentials away", () => {
    const stage = setStage();
    const thief = new ScriptedPeer(stage.network, { address: "10.6.6.6", port: 5060 });
    const contact = { name: "Contact", value: "<sip:x@10.6.6.6>" };
    const credentials = { username: "alice", password: "secret" };
    connect(stage, { credentials, answer: [expires("100;refresher=uac"), allow, contact] });
    stage.clock.advance(50_000);
    const challenge = { name: "WWW-Authenticate", value: 'Digest realm="trunk.test", nonce="n", qop="auth"' };
    thief.respond(thief.last("UPDATE"), 401, { headers: [challenge] });
    stage.clock.advance(2);
    expect(thief.requests("UPDATE")).toHaveLength(1);
  });

  it("is tried again when it is refused for the moment, and the call ends when none succeeds", () => {
    const stage = setStage();
    connect(stage, { answer: [expires("300;refresher=uac"), allow] });
    stage.clock.advance(150_000);
    expect(header(stage.peer.last("UPDATE"), "CSeq")).toBe("2 UPDATE");
    stage.peer.respond(stage.peer.last("UPDATE"), 503);
    stage.clock.advance(60_000); // Half of the 118 s left at first.
    expect(header(stage.peer.last("UPDATE"), "CSeq")).toBe("3 UPDATE");
    stage.peer.respond(stage.peer.last("UPDATE"), 503);
    while (endOf(stage) === undefined && stage.clock.now() < 400_000) {
      stage.clock.advance(10);
      const latest = stage.peer.last("UPDATE");
      if (stage.peer.got.at(-1) === latest) stage.peer.respond(latest, 503);
    }
    expect(stage.clock.now()).toBeGreaterThan(267_000);
    expect(stage.clock.now()).toBeLessThan(269_000);
    expect(endOf(stage)).toMatchObject({ by: "nobody", failure: "timeout" });
  });

  it.each([
    ["481", "them", undefined],
    ["408", "nobody", "timeout"],
  ])("that is answered %s ends the call", (status, by, failure) => {
    const stage = setStage();
    connect(stage, { answer: [expires("100;refresher=uac"), allow] });
    stage.clock.advance(50_000);
    stage.peer.respond(stage.peer.last("UPDATE"), Number(status));
    stage.clock.advance(2);
    expect(stage.peer.requests("BYE")).toHaveLength(1);
    expect(endOf(stage)).toMatchObject({ by, answered: true });
    expect(endOf(stage)?.failure).toBe(failure);
  });

  it("does not go out for a call whose BYE was faster than its 200", () => {
    const stage = setStage();
    dial(stage);
    stage.peer.request("BYE", { ...inside(stage), cseq: 1 });
    stage.clock.advance(2);
    const headers = [expires("90;refresher=uac"), allow];
    stage.peer.respond(stage.peer.last("INVITE"), 200, { sdp: peerSdp(), headers });
    stage.clock.advance(200_000);
    expect(endOf(stage)).toMatchObject({ by: "them", answered: true });
    expect(stage.peer.requests("UPDATE")).toHaveLength(0);
    expect(stage.us.agent.deadline()).toBe(Infinity);
  });

  it("that nobody answers ends the call before the interval does", () => {
    const stage = setStage();
    connect(stage, { answer: [expires("90;refresher=uac"), allow] });
    stage.clock.advance(59_000);
    expect(endOf(stage)).toBeUndefined();
    stage.clock.advance(1_010);
    expect(stage.peer.requests("BYE")).toHaveLength(1);
    expect(endOf(stage)).toMatchObject({ by: "nobody", failure: "timeout", answered: true });
    stage.clock.advance(200_000);
    expect(stage.us.agent.size).toBe(0);
    expect(stage.us.agent.deadline()).toBe(Infinity);
  });

  it("is authenticated like every request of the call", () => {
    const stage = setStage();
    const credentials = { username: "alice", password: "secret" };
    connect(stage, { credentials, answer: [expires("100;refresher=uac"), allow] });
    stage.clock.advance(50_000);
    const challenge = {
      name: "Proxy-Authenticate",
      value: 'Digest realm="trunk.test", nonce="n", qop="auth"',
    };
    stage.peer.respond(stage.peer.last("UPDATE"), 407, { headers: [challenge] });
    stage.clock.advance(2);
    expect(header(stage.peer.last("UPDATE"), "CSeq")).toBe("3 UPDATE");
    expect(header(stage.peer.last("UPDATE"), "Proxy-Authorization")).toContain('username="alice"');
  });
});

describe("a refresh of the peer", () => {
  it("keeps the call, and without it the call ends 32 s before the interval does", () => {
    const stage = setStage();
    connect(stage, { answer: [expires("1800;refresher=uas"), allow] });
    stage.clock.advance(1_700_000);
    const headers = [expires("1800;refresher=uac"), { name: "Supported", value: "timer" }];
    stage.peer.request("UPDATE", { ...inside(stage), cseq: 1, headers });
    stage.clock.advance(2);
    const ok = stage.peer.responses("UPDATE")[0]!;
    expect(ok.status).toBe(200);
    expect(header(ok, "Session-Expires")).toBe("1800;refresher=uac");
    expect(header(ok, "Require")).toBe("timer");
    stage.clock.advance(1_767_900);
    expect(endOf(stage)).toBeUndefined();
    stage.clock.advance(200);
    expect(stage.peer.requests("BYE")).toHaveLength(1);
    expect(endOf(stage)).toMatchObject({ by: "nobody", failure: "timeout" });
  });

  it("by INVITE keeps the call too, and may hand the refreshing to us", () => {
    const stage = setStage();
    connect(stage, { answer: [expires("200;refresher=uas")] }); // It does not say that it takes UPDATE yet.
    stage.clock.advance(100_000);
    const headers = [expires("200;refresher=uas"), { name: "Supported", value: "timer" }, allow];
    stage.peer.request("INVITE", { ...inside(stage), cseq: 1, headers, sdp: peerSdp() });
    stage.clock.advance(2);
    expect(header(stage.peer.responses("INVITE").at(-1)!, "Session-Expires")).toBe("200;refresher=uas");
    stage.peer.request("ACK", { ...inside(stage), cseq: 1 });
    stage.clock.advance(100_000);
    expect(header(stage.peer.last("UPDATE"), "Session-Expires")).toBe("200;refresher=uac");
  });

  it("with too short an interval is answered 422", () => {
    const stage = setStage();
    connect(stage, { answer: [expires("1800;refresher=uas")] });
    const headers = [expires("60;refresher=uac"), { name: "Supported", value: "timer" }];
    stage.peer.request("UPDATE", { ...inside(stage), cseq: 1, headers });
    stage.clock.advance(2);
    const refusal = stage.peer.responses("UPDATE")[0]!;
    expect(refusal.status).toBe(422);
    expect(header(refusal, "Min-SE")).toBe("90");
    expect(endOf(stage)).toBeUndefined();
  });
});

describe("a call that comes in", () => {
  const received = (stage: Stage): ReceivedCall | undefined =>
    stage.outputs.flatMap((output) => (output.type === "call-received" ? [output.call] : []))[0];
  const timer = { name: "Supported", value: "timer" };

  function answered(headers: readonly { name: string; value: string }[]) {
    const stage = setStage();
    stage.peer.request("INVITE", { headers, sdp: peerSdp() });
    stage.clock.advance(2);
    const call = received(stage)!;
    stage.us.order(() => call.answer(ourMedia));
    stage.clock.advance(2);
    const ok = stage.peer.responses("INVITE").at(-1)!;
    stage.peer.request("ACK", { to: header(ok, "To")! });
    stage.clock.advance(2);
    return { stage, ok, call };
  }

  it("gets the interval it asks for, refreshed by its caller, and ends without a refresh", () => {
    const { stage, ok } = answered([timer, expires("300;refresher=uac")]);
    expect(header(ok, "Session-Expires")).toBe("300;refresher=uac");
    expect(header(ok, "Require")).toBe("timer");
    stage.clock.advance(267_900);
    expect(stage.peer.requests("BYE")).toHaveLength(0);
    stage.clock.advance(200);
    expect(stage.peer.requests("BYE")).toHaveLength(1);
    expect(stage.callEvents().at(-1)).toEqual({ type: "ended", by: "nobody" });
  });

  it("is refreshed by us when it leaves that to us", () => {
    const { stage, ok } = answered([timer, expires("300"), allow]);
    expect(header(ok, "Session-Expires")).toBe("300;refresher=uas");
    stage.clock.advance(150_000);
    const update = stage.peer.last("UPDATE");
    expect(header(update, "CSeq")).toBe("1 UPDATE");
    expect(header(update, "Session-Expires")).toBe("300;refresher=uac");
    expect(update.uri).toBe("sip:peer@10.0.0.2:5060");
  });

  it("whose caller knows no timers keeps even a short interval, refreshed by us", () => {
    const { stage, ok } = answered([expires("40")]);
    expect(header(ok, "Session-Expires")).toBe("40;refresher=uas");
    expect(header(ok, "Require")).toBeUndefined();
    stage.clock.advance(20_000);
    expect(header(stage.peer.last("INVITE"), "Session-Expires")).toBe("40;refresher=uac");
  });

  it("without session timers has none", () => {
    const { stage, ok } = answered([]);
    expect(header(ok, "Session-Expires")).toBeUndefined();
    stage.clock.advance(5_000_000);
    expect(stage.peer.requests("BYE")).toHaveLength(0);
  });

  it("with too short an interval is answered 422 and is no call", () => {
    const stage = setStage();
    stage.peer.request("INVITE", { headers: [timer, expires("30")], sdp: peerSdp() });
    stage.clock.advance(2);
    expect(stage.peer.statuses("INVITE")).toEqual([100, 422]);
    expect(header(stage.peer.responses("INVITE")[1]!, "Min-SE")).toBe("90");
    expect(received(stage)).toBeUndefined();
  });
});
