import { describe, expect, it } from "vitest";
import type { OutgoingCall } from "#sip";
import type { SipRequest } from "../../src/sip/message.ts";
import { connect, dial, header, inside, ourMedia, peerSdp, setStage, type Stage } from "./scripted-peer.ts";

const text = (request: SipRequest) => new TextDecoder().decode(request.body);
const version = (request: SipRequest) => /^o=\S+ \d+ (\d+) /m.exec(text(request))?.[1];
const directions = (stage: Stage) =>
  stage
    .legEvents()
    .flatMap((event) => (event.type === "leg-media-changed" ? [event.media.audio.direction] : []));
const settled = (stage: Stage) =>
  stage.legEvents().flatMap((event) => (event.type === "leg-offer-settled" ? [event] : []));
const endOf = (stage: Stage) => stage.legEvents().find((event) => event.type === "leg-ended");

function order(stage: Stage, call: OutgoingCall, act: (call: OutgoingCall) => void): void {
  stage.us.order(() => act(call));
  stage.clock.advance(2);
}

describe("hold and resume", () => {
  it("offer sendonly, then sendrecv, each a version later, and tell what came of it", () => {
    const stage = setStage();
    const call = connect(stage);
    const first = stage.peer.last("INVITE");
    order(stage, call, () => call.hold());
    const hold = stage.peer.last("INVITE");
    expect(header(hold, "CSeq")).toBe("2 INVITE");
    expect(text(hold)).toContain("a=sendonly");
    expect(Number(version(hold))).toBe(Number(version(first)) + 1);
    expect(header(hold, "Contact")).toContain("10.0.0.1");
    stage.peer.respond(hold, 200, { sdp: peerSdp(6000, "recvonly") });
    stage.clock.advance(2);
    expect(header(stage.peer.last("ACK"), "CSeq")).toBe("2 ACK");
    order(stage, call, () => call.resume());
    const resume = stage.peer.last("INVITE");
    expect(text(resume)).toContain("a=sendrecv");
    expect(Number(version(resume))).toBe(Number(version(hold)) + 1);
    stage.peer.respond(resume, 200, { sdp: peerSdp() });
    stage.clock.advance(2);
    expect(directions(stage)).toEqual(["sendonly", "sendrecv"]);
    expect(settled(stage)).toEqual([
      { type: "leg-offer-settled", agreed: true, status: 200 },
      { type: "leg-offer-settled", agreed: true, status: 200 },
    ]);
  });

  it("takes a careless answer that would send on for a held call all the same", () => {
    const stage = setStage();
    const call = connect(stage);
    order(stage, call, () => call.hold());
    stage.peer.respond(stage.peer.last("INVITE"), 200, { sdp: peerSdp(6000, "sendrecv") });
    stage.clock.advance(2);
    expect(directions(stage)).toEqual(["sendonly"]);
  });

  it("of both sides is inactive, and each comes back by itself", () => {
    const stage = setStage();
    const call = connect(stage);
    const ask = (cseq: number, direction: string) => {
      stage.peer.request("INVITE", { ...inside(stage), cseq, sdp: peerSdp(6000, direction) });
      stage.clock.advance(2);
      const answer = new TextDecoder().decode(stage.peer.responses("INVITE").at(-1)!.body);
      stage.peer.request("ACK", { ...inside(stage), cseq });
      stage.clock.advance(2);
      return answer;
    };
    expect(ask(1, "sendonly")).toContain("a=recvonly");
    order(stage, call, () => call.hold());
    expect(text(stage.peer.last("INVITE"))).toContain("a=inactive");
    stage.peer.respond(stage.peer.last("INVITE"), 200, { sdp: peerSdp(6000, "inactive") });
    stage.clock.advance(2);
    expect(ask(2, "sendrecv")).toContain("a=sendonly"); // The peer comes back; we still hold.
    order(stage, call, () => call.resume());
    stage.peer.respond(stage.peer.last("INVITE"), 200, { sdp: peerSdp() });
    stage.clock.advance(2);
    expect(directions(stage)).toEqual(["recvonly", "inactive", "sendonly", "sendrecv"]);
  });

  it("stays in our answer and in our own offer when the peer asks for a session", () => {
    const stage = setStage();
    const call = connect(stage);
    order(stage, call, () => call.hold());
    stage.peer.respond(stage.peer.last("INVITE"), 200, { sdp: peerSdp(6000, "recvonly") });
    stage.clock.advance(2);
    stage.peer.request("INVITE", { ...inside(stage), cseq: 1 });
    stage.clock.advance(2);
    expect(new TextDecoder().decode(stage.peer.responses("INVITE").at(-1)!.body)).toContain("a=sendonly");
    stage.peer.request("ACK", { ...inside(stage), cseq: 1, sdp: peerSdp(6600, "sendrecv") });
    stage.clock.advance(2);
    expect(stage.legEvents().at(-1)).toMatchObject({
      type: "leg-media-changed",
      media: { audio: { direction: "sendonly", remote: { port: 6600 } } },
    });
  });

  it("is not disturbed by a peer that asked for our offer and leaves it unanswered", () => {
    const stage = setStage();
    connect(stage);
    stage.peer.request("INVITE", { ...inside(stage), cseq: 1 });
    stage.clock.advance(2);
    stage.peer.request("ACK", { ...inside(stage), cseq: 1 });
    stage.clock.advance(40_000);
    expect(directions(stage)).toEqual([]);
    expect(endOf(stage)).toBeUndefined();
    stage.peer.request("INVITE", { ...inside(stage), cseq: 2, sdp: peerSdp(6000, "sendonly") });
    stage.clock.advance(2);
    expect(directions(stage)).toEqual(["recvonly"]);
  });

  it("has no effect before the answer and after the end", () => {
    const stage = setStage();
    const call = dial(stage);
    order(stage, call, () => call.hold());
    stage.peer.respond(stage.peer.last("INVITE"), 200, { sdp: peerSdp() });
    stage.clock.advance(2);
    expect(stage.peer.requests("INVITE")).toHaveLength(1);
    order(stage, call, () => call.hangUp());
    order(stage, call, () => call.hold());
    expect(stage.peer.requests("INVITE")).toHaveLength(1);
  });
});

describe("an offer of ours", () => {
  it("may be other media, and leaves a held call held", () => {
    const stage = setStage();
    const call = connect(stage);
    order(stage, call, () => call.hold());
    stage.peer.respond(stage.peer.last("INVITE"), 200, { sdp: peerSdp(6000, "recvonly") });
    stage.clock.advance(2);
    order(stage, call, () => call.offer({ ...ourMedia, audioPort: 4900, codecs: ["PCMA"] }));
    const offer = stage.peer.last("INVITE");
    expect(text(offer)).toContain("m=audio 4900 RTP/AVP 8 101");
    expect(text(offer)).toContain("a=sendonly");
  });

  it.each([488, 403, 500, 606])("that is refused with %i leaves the session as it was", (status) => {
    const stage = setStage();
    const call = connect(stage);
    order(stage, call, () => call.hold());
    stage.peer.respond(stage.peer.last("INVITE"), status);
    stage.clock.advance(2);
    expect(settled(stage)).toEqual([{ type: "leg-offer-settled", agreed: false, status }]);
    expect(directions(stage)).toEqual([]);
    stage.peer.request("INVITE", { ...inside(stage), cseq: 1, sdp: peerSdp() });
    stage.clock.advance(2);
    expect(new TextDecoder().decode(stage.peer.responses("INVITE").at(-1)!.body)).toContain("a=sendrecv");
    stage.peer.request("ACK", { ...inside(stage), cseq: 1 });
    order(stage, call, () => call.offer({ ...ourMedia, audioPort: 4900 }));
    expect(text(stage.peer.last("INVITE"))).toContain("a=sendrecv");
    expect(endOf(stage)).toBeUndefined();
  });

  it("that is answered with nothing usable leaves the session as it was", () => {
    const stage = setStage();
    const call = connect(stage);
    order(stage, call, () => call.hold());
    stage.peer.respond(stage.peer.last("INVITE"), 200);
    stage.clock.advance(2);
    expect(stage.peer.requests("ACK")).toHaveLength(2);
    expect(settled(stage)).toMatchObject([{ agreed: false, status: 200 }]);
  });

  it.each([
    ["481", 481, "them"],
    ["408", 408, "nobody"],
  ])("that finds the call gone (%s) ends it", (_, status, by) => {
    const stage = setStage();
    const call = connect(stage);
    order(stage, call, () => call.hold());
    stage.peer.respond(stage.peer.last("INVITE"), status);
    stage.clock.advance(2);
    expect(endOf(stage)).toMatchObject({ end: { by, answered: true } });
    expect(stage.peer.requests("BYE")).toHaveLength(1);
  });

  it("that nobody answers ends the call after 32 s", () => {
    const stage = setStage();
    const call = connect(stage);
    order(stage, call, () => call.hold());
    stage.clock.advance(31_900);
    expect(endOf(stage)).toBeUndefined();
    stage.clock.advance(200);
    expect(endOf(stage)).toMatchObject({ end: { by: "nobody", failure: "timeout" } });
    expect(stage.peer.requests("CANCEL")).toHaveLength(0);
  });

  it("that only gets provisional answers is cancelled after 32 s, and the call goes on", () => {
    const stage = setStage();
    const call = connect(stage);
    order(stage, call, () => call.hold());
    const offer = stage.peer.last("INVITE");
    stage.peer.respond(offer, 100);
    stage.clock.advance(32_010);
    const cancel = stage.peer.last("CANCEL");
    expect(header(cancel, "CSeq")).toBe("2 CANCEL");
    stage.peer.respond(cancel, 200);
    stage.peer.respond(offer, 487);
    stage.clock.advance(2);
    expect(settled(stage)).toMatchObject([{ agreed: false, status: 487 }]);
    expect(endOf(stage)).toBeUndefined();
  });

  it("is not settled a second time by the repeated answer to the one before", () => {
    const stage = setStage();
    const call = connect(stage);
    order(stage, call, () => call.hold());
    const hold = stage.peer.last("INVITE");
    stage.peer.respond(hold, 200, { sdp: peerSdp(6000, "recvonly") });
    stage.clock.advance(2);
    order(stage, call, () => call.resume());
    stage.peer.respond(hold, 200, { sdp: peerSdp(6000, "recvonly") });
    stage.peer.request("INVITE", { ...inside(stage), cseq: 1, sdp: peerSdp() });
    stage.clock.advance(2);
    expect(settled(stage)).toHaveLength(1);
    expect(stage.peer.statuses("INVITE").at(-1)).toBe(491);
    expect(stage.peer.requests("ACK").map((ack) => header(ack, "CSeq"))).toEqual(["1 ACK", "2 ACK", "2 ACK"]);
  });

  it("is authenticated when asked, and its ACK repeats the credentials", () => {
    const stage = setStage();
    const call = connect(stage, { credentials: { username: "alice", password: "secret" } });
    order(stage, call, () => call.hold());
    const challenge = {
      name: "Proxy-Authenticate",
      value: 'Digest realm="trunk.test", nonce="n", qop="auth"',
    };
    stage.peer.respond(stage.peer.last("INVITE"), 407, { headers: [challenge] });
    stage.clock.advance(3);
    const again = stage.peer.last("INVITE");
    expect(header(again, "CSeq")).toBe("3 INVITE");
    expect(header(again, "Proxy-Authorization")).toContain('username="alice"');
    expect(version(again)).toBe("2");
    stage.peer.respond(again, 200, { sdp: peerSdp(6000, "recvonly") });
    stage.clock.advance(2);
    const ack = stage.peer.last("ACK");
    expect(header(ack, "CSeq")).toBe("3 ACK");
    expect(header(ack, "Proxy-Authorization")).toBe(header(again, "Proxy-Authorization"));
    expect(settled(stage)).toMatchObject([{ agreed: true }]);
  });

  it("joins what is wanted while another is out", () => {
    const stage = setStage();
    const call = connect(stage);
    order(stage, call, () => call.hold());
    order(stage, call, () => call.offer({ ...ourMedia, audioPort: 4900 }));
    order(stage, call, () => call.resume());
    expect(stage.peer.requests("INVITE")).toHaveLength(2);
    stage.peer.respond(stage.peer.last("INVITE"), 200, { sdp: peerSdp(6000, "recvonly") });
    stage.clock.advance(2);
    const next = stage.peer.last("INVITE");
    expect(text(next)).toContain("m=audio 4900");
    expect(text(next)).toContain("a=sendrecv");
    stage.peer.respond(next, 200, { sdp: peerSdp() });
    stage.clock.advance(2);
    expect(stage.peer.requests("INVITE")).toHaveLength(3);
    expect(settled(stage)).toHaveLength(2);
  });

  it("moves the call to the Contact of its answer, and says so", () => {
    const stage = setStage();
    const call = connect(stage);
    order(stage, call, () => call.hold());
    const contact = { name: "Contact", value: "<sip:moved@10.0.0.2:5060>" };
    stage.peer.respond(stage.peer.last("INVITE"), 200, {
      sdp: peerSdp(6000, "recvonly"),
      headers: [contact],
    });
    stage.clock.advance(2);
    expect(stage.peer.last("ACK").uri).toBe("sip:moved@10.0.0.2:5060");
    const dialogs = stage
      .legEvents()
      .flatMap((event) => (event.type === "leg-dialog-changed" ? [event.dialog] : []));
    expect(dialogs.map(({ localCSeq, remoteTarget }) => [localCSeq, remoteTarget])).toEqual([
      [2, "sip:peer@10.0.0.2:5060"],
      [2, "sip:moved@10.0.0.2:5060"],
    ]);
    order(stage, call, () => call.hangUp());
    expect(stage.peer.last("BYE").uri).toBe("sip:moved@10.0.0.2:5060");
    expect(header(stage.peer.last("BYE"), "CSeq")).toBe("3 BYE");
  });

  it("goes through a strict router first in line as RFC 2543 wants it, without what a Request-URI cannot have", () => {
    const stage = setStage();
    const call = connect(stage, {
      answer: [
        { name: "Record-Route", value: "<sip:10.0.0.4;lr>, <sip:10.0.0.2;method=INVITE?Subject=x>" },
        { name: "Contact", value: "<sip:real@10.0.0.9?Route=evil>" },
      ],
    });
    order(stage, call, () => call.hold());
    const offer = stage.peer.last("INVITE");
    expect(offer.uri).toBe("sip:10.0.0.2");
    expect(offer.headers.filter(({ name }) => name === "Route").map(({ value }) => value)).toEqual([
      "<sip:10.0.0.4;lr>",
      "<sip:real@10.0.0.9?Route=evil>",
    ]);
  });

  it("never has the headers of the peer's Contact in its Request-URI", () => {
    const stage = setStage();
    const call = connect(stage, {
      answer: [{ name: "Contact", value: "<sip:real@10.0.0.2;method=BYE;x=1?Route=evil>" }],
    });
    order(stage, call, () => call.hold());
    expect(stage.peer.last("INVITE").uri).toBe("sip:real@10.0.0.2;x=1");
  });
});

describe("a target refresh of the peer", () => {
  it.each(["INVITE", "UPDATE"])("by %s is told, and the BYE goes there", (method) => {
    const stage = setStage();
    const call = connect(stage);
    const moved = { name: "Contact", value: "<sip:else@10.0.0.2:5060>" };
    stage.peer.send(
      new TextEncoder().encode(
        [
          `${method} sip:us@10.0.0.1 SIP/2.0`,
          "Via: SIP/2.0/UDP 10.0.0.2:5060;branch=z9hG4bKmoved;rport",
          `From: ${inside(stage).from}`,
          `To: ${inside(stage).to}`,
          "Call-ID: call-1",
          `CSeq: 7 ${method}`,
          "Max-Forwards: 70",
          `Contact: ${moved.value}`,
          "Content-Length: 0",
          "",
          "",
        ].join("\r\n"),
      ),
    );
    stage.clock.advance(2);
    expect(stage.legEvents().at(-1)).toMatchObject({
      type: "leg-dialog-changed",
      dialog: {
        remoteTarget: "sip:else@10.0.0.2:5060",
        localCSeq: 1,
        remoteTag: "peer-tag",
        inviteBranch: null,
      },
    });
    order(stage, call, () => call.hangUp());
    expect(stage.peer.last("BYE").uri).toBe("sip:else@10.0.0.2:5060");
  });
});

describe("offers that cross", () => {
  it("are refused with 491 while ours is out, an UPDATE without SDP is not", () => {
    const stage = setStage();
    const call = connect(stage);
    order(stage, call, () => call.hold());
    stage.peer.request("INVITE", { ...inside(stage), cseq: 1, sdp: peerSdp() });
    stage.peer.request("UPDATE", { ...inside(stage), cseq: 2, sdp: peerSdp() });
    stage.peer.request("UPDATE", { ...inside(stage), cseq: 3 });
    stage.clock.advance(2);
    expect(stage.peer.statuses("INVITE").at(-1)).toBe(491);
    expect(stage.peer.statuses("UPDATE")).toEqual([491, 200]);
  });

  it("are put again by us, who own the Call-ID, after 2.1 to 4 s", () => {
    const moments: number[] = [];
    for (let seed = 0; seed < 12; seed++) {
      const stage = setStage({ seed });
      const call = connect(stage);
      order(stage, call, () => call.hold());
      stage.peer.respond(stage.peer.last("INVITE"), 491);
      stage.clock.advance(1);
      const from = stage.clock.now();
      while (stage.peer.requests("INVITE").length < 3 && stage.clock.now() < from + 10_000)
        stage.clock.advance(1);
      moments.push(stage.clock.now() - from);
      expect(text(stage.peer.last("INVITE"))).toContain("a=sendonly");
      expect(version(stage.peer.last("INVITE"))).toBe("2");
      expect(settled(stage)).toEqual([]);
    }
    expect(Math.min(...moments)).toBeGreaterThanOrEqual(2_100);
    expect(Math.max(...moments)).toBeLessThanOrEqual(4_002);
    expect(new Set(moments).size).toBeGreaterThan(6);
  });

  it("are put again by the callee within 2 s", () => {
    const stage = setStage();
    stage.peer.request("INVITE", { sdp: peerSdp() });
    stage.clock.advance(2);
    const call = stage.outputs.flatMap((output) =>
      output.type === "call-received" ? [output.call] : [],
    )[0]!;
    stage.us.order(() => call.answer(ourMedia));
    stage.us.order(() => call.hold());
    stage.clock.advance(2);
    expect(stage.peer.requests("INVITE")).toHaveLength(0); // Not before the ACK.
    stage.peer.request("ACK", { to: header(stage.peer.responses("INVITE").at(-1)!, "To")! });
    stage.clock.advance(2);
    expect(header(stage.peer.last("INVITE"), "CSeq")).toBe("1 INVITE");
    stage.peer.respond(stage.peer.last("INVITE"), 491);
    stage.clock.advance(2_005);
    expect(header(stage.peer.last("INVITE"), "CSeq")).toBe("2 INVITE");
    stage.peer.respond(stage.peer.last("INVITE"), 200, { sdp: peerSdp(6000, "recvonly") });
    stage.clock.advance(2);
    expect(stage.callEvents()).toMatchObject([
      { type: "acknowledged" },
      { type: "media-changed", media: { audio: { direction: "sendonly" } } },
      { type: "offer-settled", agreed: true },
    ]);
  });

  it("with a peer still at an INVITE of its own are put again when it says", () => {
    const stage = setStage();
    const call = connect(stage);
    order(stage, call, () => call.hold());
    stage.peer.respond(stage.peer.last("INVITE"), 500, { headers: [{ name: "Retry-After", value: "7" }] });
    stage.clock.advance(6_990);
    expect(stage.peer.requests("INVITE")).toHaveLength(2);
    stage.clock.advance(15);
    expect(stage.peer.requests("INVITE")).toHaveLength(3);
  });

  it("wait for the peer's INVITE to be over", () => {
    const stage = setStage();
    const call = connect(stage);
    stage.peer.request("INVITE", { ...inside(stage), cseq: 1, sdp: peerSdp(6500) });
    stage.clock.advance(2);
    order(stage, call, () => call.hold());
    expect(stage.peer.requests("INVITE")).toHaveLength(1);
    stage.peer.request("ACK", { ...inside(stage), cseq: 1 });
    stage.clock.advance(2);
    expect(stage.peer.requests("INVITE")).toHaveLength(2);
  });
});
