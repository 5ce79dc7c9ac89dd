import { describe, expect, it } from "vitest";
import type { ReceivedCall } from "#sip";
import { header, ourMedia, peerSdp, setStage, type Stage } from "./scripted-peer.ts";

const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

function received(stage: Stage): readonly ReceivedCall[] {
  return stage.outputs.flatMap((output) => (output.type === "call-received" ? [output.call] : []));
}

/** An INVITE of the peer arrives. */
function ring(stage: Stage, sdp: string | undefined = peerSdp()): ReceivedCall {
  stage.peer.request("INVITE", { branch: "z9hG4bKinvite", ...(sdp === undefined ? {} : { sdp }) });
  stage.clock.advance(2);
  return received(stage)[0]!;
}

/** Headers of a later request of the peer in the call it began. */
function inside(stage: Stage) {
  const tagged = stage.peer.responses("INVITE").findLast((response) => response.status > 100)!;
  return { to: header(tagged, "To")! };
}

function answered(stage: Stage): ReceivedCall {
  const call = ring(stage);
  stage.us.order(() => call.answer(ourMedia));
  stage.clock.advance(2);
  stage.peer.request("ACK", inside(stage));
  stage.clock.advance(2);
  return call;
}

describe("a call that comes in", () => {
  it("gets 100 at once and tells who calls whom with what", () => {
    const stage = setStage();
    const sdp = peerSdp().replace("a=sendrecv", "a=lang:es\r\na=sendrecv");
    stage.peer.request("INVITE", {
      uri: "sip:+999000%30001@10.0.0.1",
      from: '"A, B" <sip:%2B34911@x>;tag=t',
      sdp: `${sdp}m=text 7000 RTP/AVP 98\r\na=rtpmap:98 t140/1000\r\n`,
    });
    stage.clock.advance(2);
    expect(stage.peer.statuses("INVITE")).toEqual([100]);
    expect(stage.outputs).toMatchObject([
      {
        type: "call-received",
        invite: {
          number: "+9990000001",
          from: "+34911",
          to: "+34911222333",
          offered: { text: true, language: "es" },
          remote: { address: "10.0.0.2", port: 5060 },
        },
      },
    ]);
  });

  it("rings, plays early media and is answered under one tag", () => {
    const stage = setStage();
    const call = ring(stage);
    const media = stage.us.order(() => {
      call.ring();
      return [call.earlyMedia(ourMedia), call.answer(ourMedia)];
    });
    stage.clock.advance(2);
    expect(stage.peer.statuses("INVITE")).toEqual([100, 180, 183, 200]);
    expect(media[0]).toEqual(media[1]);
    expect(media[1]).toMatchObject({ audio: { remote: { address: "10.0.0.2", port: 6000 }, codec: "PCMA" } });
    const [, ...tagged] = stage.peer.responses("INVITE").map((response) => header(response, "To"));
    expect(new Set(tagged).size).toBe(1);
    expect(tagged[0]).toMatch(/;tag=\w+$/);
  });

  it("makes no second call when its INVITE comes again, whatever happened to the first", () => {
    const stage = setStage();
    const call = ring(stage);
    const again = () => {
      stage.peer.request("INVITE", { branch: "z9hG4bKinvite", sdp: peerSdp() });
      stage.clock.advance(2);
    };
    again();
    stage.us.order(() => call.reject(486));
    stage.clock.advance(2);
    again();
    stage.peer.request("ACK", { ...inside(stage), branch: "z9hG4bKinvite" });
    stage.clock.advance(20_000);
    again(); // Its transaction is forgotten by now, the call is not.
    expect(received(stage)).toHaveLength(1);
    expect(stage.peer.statuses("INVITE")).toEqual([100, 100, 486, 486, 100, 482]);
  });

  it("that reached us by two ways is one call", () => {
    const stage = setStage();
    ring(stage);
    stage.peer.request("INVITE", { branch: "z9hG4bKother", sdp: peerSdp() });
    stage.clock.advance(2);
    expect(received(stage)).toHaveLength(1);
    expect(stage.peer.statuses("INVITE")).toEqual([100, 100, 482]);
  });

  it("goes through the recorded route in our requests and shows it in our answers", () => {
    const stage = setStage();
    const headers = [{ name: "Record-Route", value: "<sip:10.0.0.2;lr;a>, <sip:10.0.0.5;lr;b>" }];
    stage.peer.request("INVITE", { headers, sdp: peerSdp() });
    stage.clock.advance(2);
    const call = received(stage)[0]!;
    stage.us.order(() => call.answer(ourMedia));
    stage.clock.advance(2);
    const ok = stage.peer.responses("INVITE").at(-1)!;
    expect(ok.headers.filter(({ name }) => name === "Record-Route").map(({ value }) => value)).toEqual([
      "<sip:10.0.0.2;lr;a>",
      "<sip:10.0.0.5;lr;b>",
    ]);
    stage.peer.request("ACK", inside(stage));
    stage.clock.advance(2);
    stage.us.order(() => call.hangUp());
    stage.clock.advance(2);
    const bye = stage.peer.last("BYE");
    expect(bye.uri).toBe("sip:peer@10.0.0.2:5060");
    expect(bye.headers.filter(({ name }) => name === "Route").map(({ value }) => value)).toEqual([
      "<sip:10.0.0.2;lr;a>",
      "<sip:10.0.0.5;lr;b>",
    ]);
  });
});

describe("an answer", () => {
  it("is repeated at 500 ms, doubling up to 4 s, until the ACK", () => {
    const stage = setStage();
    const call = ring(stage);
    stage.us.order(() => call.answer(ourMedia));
    stage.clock.advance(7501);
    expect(stage.peer.statuses("INVITE").filter((status) => status === 200)).toHaveLength(5);
    stage.peer.request("ACK", inside(stage));
    stage.clock.advance(60_000);
    expect(stage.peer.statuses("INVITE").filter((status) => status === 200)).toHaveLength(5);
    expect(stage.callEvents()).toEqual([{ type: "acknowledged" }]);
  });

  it("that is never acknowledged is followed by BYE after 32 s", () => {
    const stage = setStage();
    const call = ring(stage);
    stage.us.order(() => call.answer(ourMedia));
    stage.clock.advance(31_999);
    expect(stage.peer.requests("BYE")).toHaveLength(0);
    stage.clock.advance(2);
    expect(stage.peer.requests("BYE")).toHaveLength(1);
    expect(stage.callEvents()).toEqual([{ type: "ended", by: "nobody" }]);
  });

  it("to an offer we cannot meet is 488", () => {
    const stage = setStage();
    const call = ring(stage, peerSdp().replace("8 101", "9 101").replace("8 PCMA", "9 G722"));
    expect(stage.us.order(() => call.earlyMedia(ourMedia))).toBeUndefined();
    expect(stage.us.order(() => call.answer(ourMedia))).toBeUndefined();
    stage.clock.advance(2);
    expect(stage.peer.statuses("INVITE")).toEqual([100, 488]);
    expect(stage.callEvents()).toEqual([{ type: "ended", by: "us" }]);
  });

  it("to an INVITE without an offer carries ours, and the ACK brings the media", () => {
    const stage = setStage();
    stage.peer.request("INVITE");
    stage.clock.advance(2);
    const call = received(stage)[0]!;
    expect(stage.us.order(() => call.answer(ourMedia))).toBeUndefined();
    stage.clock.advance(2);
    expect(decode(stage.peer.responses("INVITE").at(-1)!.body)).toContain("m=audio 4000");
    stage.peer.request("ACK", { ...inside(stage), sdp: peerSdp(6100) });
    stage.clock.advance(2);
    expect(stage.callEvents()).toMatchObject([
      { type: "media-changed", media: { audio: { remote: { port: 6100 } } } },
      { type: "acknowledged" },
    ]);
  });
});

describe("the end of a call that came in", () => {
  it("by CANCEL is answered 200 and 487", () => {
    const stage = setStage();
    ring(stage);
    stage.peer.request("CANCEL", { branch: "z9hG4bKinvite" });
    stage.clock.advance(2);
    expect(stage.peer.statuses("CANCEL")).toEqual([200]);
    expect(stage.peer.statuses("INVITE")).toEqual([100, 487]);
    expect(stage.callEvents()).toEqual([{ type: "cancelled" }]);
  });

  it("by a CANCEL that comes after the answer is none", () => {
    const stage = setStage();
    const call = ring(stage);
    stage.us.order(() => call.answer(ourMedia));
    stage.peer.request("CANCEL", { branch: "z9hG4bKinvite" });
    stage.clock.advance(2);
    expect(stage.peer.statuses("CANCEL")).toEqual([200]);
    expect(stage.peer.statuses("INVITE")).toEqual([100, 200]);
    expect(stage.callEvents()).toEqual([]);
  });

  it("by a BYE of the caller while it rings is a CANCEL", () => {
    const stage = setStage();
    const call = ring(stage);
    stage.us.order(() => call.ring());
    stage.clock.advance(2);
    stage.peer.request("BYE", { ...inside(stage), cseq: 2 });
    stage.clock.advance(2);
    expect(stage.peer.statuses("BYE")).toEqual([200]);
    expect(stage.peer.statuses("INVITE")).toEqual([100, 180, 487]);
    expect(stage.callEvents()).toEqual([{ type: "cancelled" }]);
  });

  it("by refusal carries the cause and the time to wait, and is repeated until its ACK", () => {
    const stage = setStage();
    const call = ring(stage);
    stage.us.order(() => call.reject(503, { reason: "Full", q850: 42, retryAfterS: 9 }));
    stage.clock.advance(600);
    stage.peer.request("ACK", { ...inside(stage), branch: "z9hG4bKinvite" });
    stage.clock.advance(60_000);
    const refusals = stage.peer.responses("INVITE").filter(({ status }) => status === 503);
    expect(refusals).toHaveLength(2);
    expect(refusals[0]!.reason).toBe("Full");
    expect(header(refusals[0]!, "Reason")).toBe("Q.850;cause=42");
    expect(header(refusals[0]!, "Retry-After")).toBe("9");
    expect(stage.callEvents()).toEqual([{ type: "ended", by: "us" }]);
  });

  it("by our BYE comes once", () => {
    const stage = setStage();
    const call = answered(stage);
    stage.us.order(() => call.hangUp());
    stage.us.order(() => call.hangUp());
    stage.clock.advance(2);
    expect(stage.peer.requests("BYE")).toHaveLength(1);
    expect(stage.callEvents()).toEqual([{ type: "acknowledged" }, { type: "ended", by: "us" }]);
  });

  it("by us before the ACK waits with the BYE for it", () => {
    const stage = setStage();
    const call = ring(stage);
    stage.us.order(() => {
      call.answer(ourMedia);
      call.hangUp();
    });
    stage.clock.advance(1000);
    expect(stage.peer.requests("BYE")).toHaveLength(0);
    stage.peer.request("ACK", inside(stage));
    stage.clock.advance(2);
    expect(stage.peer.requests("BYE")).toHaveLength(1);
    expect(stage.callEvents()).toEqual([{ type: "ended", by: "us" }]);
  });

  it("by us before the ACK is told with nothing after it", () => {
    const stage = setStage();
    const call = ring(stage);
    stage.us.order(() => {
      call.answer(ourMedia);
      call.hangUp();
    });
    stage.clock.advance(2);
    stage.peer.request("INVITE", { ...inside(stage), cseq: 2, sdp: peerSdp(6500) });
    stage.clock.advance(2);
    expect(stage.callEvents()).toEqual([{ type: "ended", by: "us" }]);
  });

  it("by the peer's BYE is told with nothing after it", () => {
    const stage = setStage();
    answered(stage);
    stage.peer.request("BYE", { ...inside(stage), cseq: 2 });
    stage.peer.request("INFO", { ...inside(stage), cseq: 3 });
    stage.clock.advance(2);
    expect(stage.peer.statuses("BYE")).toEqual([200]);
    expect(stage.peer.statuses("INFO")).toEqual([481]);
    expect(stage.callEvents()).toEqual([{ type: "acknowledged" }, { type: "ended", by: "them" }]);
  });

  it("comes by itself when nobody answers for three minutes", () => {
    const stage = setStage();
    ring(stage);
    stage.clock.advance(180_000);
    expect(stage.peer.statuses("INVITE")).toEqual([100, 480]);
    expect(stage.callEvents()).toEqual([{ type: "ended", by: "us" }]);
  });
});

describe("requests of the caller inside its call", () => {
  it("for another session before the answer are overlapping: 500 and a time to wait", () => {
    const stage = setStage();
    const call = ring(stage);
    stage.us.order(() => call.ring());
    stage.clock.advance(2);
    stage.peer.request("INVITE", { ...inside(stage), cseq: 2, sdp: peerSdp() });
    stage.peer.request("UPDATE", { ...inside(stage), cseq: 3, sdp: peerSdp() });
    stage.clock.advance(2);
    for (const refusal of [stage.peer.responses("INVITE").at(-1)!, stage.peer.responses("UPDATE")[0]!]) {
      expect(refusal.status).toBe(500);
      expect(Number(header(refusal, "Retry-After"))).toBeGreaterThanOrEqual(1);
      expect(Number(header(refusal, "Retry-After"))).toBeLessThanOrEqual(10);
    }
    expect(received(stage)).toHaveLength(1);
  });

  it("hold it and take it back", () => {
    const stage = setStage();
    answered(stage);
    stage.peer.request("INVITE", { ...inside(stage), cseq: 2, sdp: peerSdp(6000, "inactive") });
    stage.clock.advance(2);
    stage.peer.request("ACK", { ...inside(stage), cseq: 2 });
    stage.peer.request("INVITE", { ...inside(stage), cseq: 3, sdp: peerSdp() });
    stage.clock.advance(2);
    const changes = stage
      .callEvents()
      .flatMap((event) => (event.type === "media-changed" ? [event.media] : []));
    expect(changes.map((media) => media.audio.direction)).toEqual(["inactive", "sendrecv"]);
  });

  it("press keys by INFO", () => {
    const stage = setStage();
    answered(stage);
    const headers = [{ name: "Content-Type", value: "application/dtmf-relay" }];
    stage.peer.request("INFO", { ...inside(stage), cseq: 2, headers, body: "Signal=1\r\n" });
    stage.clock.advance(2);
    expect(stage.callEvents().at(-1)).toEqual({ type: "dtmf", digit: "1" });
  });
});

describe("where calls are not taken", () => {
  it("an INVITE is answered 480", () => {
    const stage = setStage({ takesCalls: false });
    stage.peer.request("INVITE", { sdp: peerSdp() });
    stage.clock.advance(2);
    expect(stage.peer.statuses("INVITE")).toEqual([100, 480]);
    expect(stage.outputs).toEqual([]);
  });
});
