import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ReceivedCall } from "#sip";
import { isNextReliable } from "../../src/sip/reliable-order.ts";
import type { SipHeader } from "../../src/sip/message.ts";
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

const reliably = (rseq: number): readonly SipHeader[] => [
  { name: "Require", value: "100rel" },
  { name: "RSeq", value: `${rseq}` },
];
const racks = (stage: Stage) => stage.peer.requests("PRACK").map((prack) => header(prack, "RAck"));
const earlyPorts = (stage: Stage) =>
  stage
    .legEvents()
    .flatMap((event) => (event.type === "leg-early-media" ? [event.media.audio.remote.port] : []));

/** The peer's 200 to our latest PRACK. */
function takePrack(stage: Stage): void {
  stage.clock.advance(2);
  stage.peer.respond(stage.peer.last("PRACK"), 200);
  stage.clock.advance(2);
}

describe("a reliable provisional response", () => {
  it("is acknowledged by PRACK in its early dialog, and rings like any other", () => {
    const stage = setStage();
    dial(stage);
    const invite = stage.peer.last("INVITE");
    const contact = { name: "Contact", value: "<sip:early@10.0.0.2:5060>" };
    stage.peer.respond(invite, 180, { tag: "a", headers: [...reliably(77), contact] });
    stage.clock.advance(2);
    const prack = stage.peer.last("PRACK");
    expect(prack.uri).toBe("sip:early@10.0.0.2:5060");
    expect(header(prack, "RAck")).toBe("77 1 INVITE");
    expect(header(prack, "CSeq")).toBe("2 PRACK");
    expect(header(prack, "To")).toBe("<sip:+34600111222@trunk.test>;tag=a");
    expect(header(prack, "Require")).toBeUndefined();
    expect(stage.legEvents()).toEqual([{ type: "leg-ringing", status: 180 }]);
  });

  it("that comes again is not acknowledged again, and one before its turn not at all", () => {
    const stage = setStage();
    dial(stage);
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, 180, { headers: reliably(10) });
    takePrack(stage);
    stage.peer.respond(invite, 180, { headers: reliably(10) });
    stage.peer.respond(invite, 183, { headers: reliably(12), sdp: peerSdp() });
    stage.clock.advance(2);
    expect(racks(stage)).toEqual(["10 1 INVITE"]);
    expect(stage.legEvents()).toEqual([{ type: "leg-ringing", status: 180 }]);
    stage.peer.respond(invite, 183, { headers: reliably(11), sdp: peerSdp(6100) });
    takePrack(stage);
    expect(racks(stage)).toEqual(["10 1 INVITE", "11 1 INVITE"]);
    expect(header(stage.peer.last("PRACK"), "CSeq")).toBe("3 PRACK");
    expect(earlyPorts(stage)).toEqual([6100]);
  });

  it("is acknowledged again and again until the peer says that the PRACK came", () => {
    const stage = setStage();
    dial(stage);
    stage.peer.respond(stage.peer.last("INVITE"), 180, { headers: reliably(1) });
    stage.clock.advance(1_600);
    expect(stage.peer.requests("PRACK")).toHaveLength(3);
    expect(new Set(stage.peer.requests("PRACK").map((prack) => header(prack, "CSeq"))).size).toBe(1);
  });

  it("of each fork is counted by itself", () => {
    const stage = setStage();
    dial(stage);
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, 180, { tag: "a", headers: reliably(5) });
    stage.peer.respond(invite, 180, { tag: "b", headers: reliably(5) });
    stage.peer.respond(invite, 180, { tag: "b", headers: reliably(6) });
    stage.clock.advance(2);
    for (const prack of stage.peer.requests("PRACK")) stage.peer.respond(prack, 200);
    stage.clock.advance(2);
    const seen = stage.peer
      .requests("PRACK")
      .map((prack) => `${header(prack, "To")} ${header(prack, "RAck")}`);
    expect(seen.map((one) => one.slice(one.indexOf("tag=")))).toEqual([
      "tag=a 5 1 INVITE",
      "tag=b 5 1 INVITE",
      "tag=b 6 1 INVITE",
    ]);
  });

  it("with an answer settles it: what the 200 carries besides is none", () => {
    const stage = setStage();
    const call = dial(stage);
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, 183, { tag: "a", headers: reliably(1), sdp: peerSdp(6100) });
    takePrack(stage);
    stage.peer.respond(invite, 183, { tag: "a", sdp: peerSdp(6888) });
    stage.clock.advance(2);
    expect(earlyPorts(stage)).toEqual([6100]);
    stage.peer.respond(invite, 200, { tag: "a", sdp: peerSdp(6999) });
    stage.clock.advance(2);
    expect(stage.legEvents().at(-1)).toMatchObject({
      type: "leg-answered",
      media: { audio: { remote: { port: 6100 } } },
      dialog: { localCSeq: 2 },
    });
    expect(header(stage.peer.last("ACK"), "CSeq")).toBe("1 ACK");
    stage.us.order(() => call.hangUp());
    stage.clock.advance(2);
    expect(header(stage.peer.last("BYE"), "CSeq")).toBe("3 BYE"); // PRACK was 2.
  });

  it("with an answer lets the callee change early media by UPDATE, which one without does not", () => {
    const stage = setStage();
    dial(stage);
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, 180, { tag: "a", headers: reliably(1) });
    takePrack(stage);
    stage.peer.request("UPDATE", { ...inside(stage, "a"), cseq: 1, sdp: peerSdp(6200) });
    stage.clock.advance(2);
    stage.peer.respond(invite, 183, { tag: "a", headers: reliably(2), sdp: peerSdp(6100) });
    takePrack(stage);
    const timer = [
      { name: "Supported", value: "timer" },
      { name: "Session-Expires", value: "90;refresher=uac" },
    ];
    stage.peer.request("UPDATE", { ...inside(stage, "a"), cseq: 2, sdp: peerSdp(6300), headers: timer });
    stage.peer.request("INVITE", { ...inside(stage, "a"), cseq: 3, sdp: peerSdp(6400) });
    stage.clock.advance(2);
    expect(stage.peer.statuses("UPDATE")).toEqual([491, 200]);
    expect(stage.peer.statuses("INVITE").at(-1)).toBe(491);
    expect(earlyPorts(stage)).toEqual([6100, 6300]);
    expect(header(stage.peer.responses("UPDATE")[1]!, "Session-Expires")).toBeUndefined(); // Not before the answer.
    stage.peer.respond(invite, 200, { tag: "a" });
    stage.clock.advance(2);
    expect(stage.legEvents().at(-1)).toMatchObject({ media: { audio: { remote: { port: 6300 } } } });
    stage.peer.request("OPTIONS", { ...inside(stage, "a"), cseq: 1 });
    stage.clock.advance(2);
    expect(stage.peer.statuses("OPTIONS")).toEqual([500]); // The order of its requests goes on.
  });

  it("with an answer, of a fork that is not the latest, changes nothing that is heard", () => {
    const stage = setStage();
    dial(stage);
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, 183, { tag: "a", headers: reliably(1), sdp: peerSdp(6100) });
    takePrack(stage);
    stage.peer.respond(invite, 183, { tag: "b", sdp: peerSdp(7000) });
    stage.peer.request("UPDATE", { ...inside(stage, "a"), cseq: 1, sdp: peerSdp(6200) });
    stage.clock.advance(2);
    expect(stage.peer.statuses("UPDATE")).toEqual([200]);
    expect(earlyPorts(stage)).toEqual([6100, 7000]);
    stage.peer.respond(invite, 199, { tag: "b" });
    stage.clock.advance(2);
    expect(earlyPorts(stage)).toEqual([6100, 7000, 6200]);
  });

  it("is not acknowledged any more when the call is over", () => {
    const stage = setStage();
    dial(stage);
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, 180, { headers: reliably(1) });
    stage.peer.respond(invite, 183, { headers: reliably(2) });
    stage.clock.advance(2);
    stage.peer.respond(invite, 486);
    stage.clock.advance(60_000);
    expect(new Set(racks(stage))).toEqual(new Set(["1 1 INVITE"]));
  });

  it("of a fork that ended (199) leaves the media of the fork before it", () => {
    const stage = setStage();
    dial(stage);
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, 183, { tag: "a", sdp: peerSdp(6000) });
    stage.peer.respond(invite, 183, { tag: "b", headers: reliably(1), sdp: peerSdp(7000) });
    takePrack(stage);
    stage.peer.respond(invite, 199, { tag: "b" });
    stage.clock.advance(2);
    expect(earlyPorts(stage)).toEqual([6000, 7000, 6000]);
    stage.peer.request("UPDATE", { ...inside(stage, "b"), cseq: 1, sdp: peerSdp(7100) });
    stage.clock.advance(2);
    expect(stage.peer.statuses("UPDATE")).toEqual([491]);
  });

  it("is acknowledged through the route it recorded, a strict router first in line included", () => {
    const stage = setStage();
    const proxy = new ScriptedPeer(stage.network, { address: "10.0.0.3", port: 5080 });
    dial(stage);
    const route = { name: "Record-Route", value: "<sip:10.0.0.4;lr>, <sip:10.0.0.3:5080>" };
    stage.peer.respond(stage.peer.last("INVITE"), 180, { headers: [...reliably(1), route] });
    stage.clock.advance(3);
    const prack = proxy.last("PRACK");
    expect(prack.uri).toBe("sip:10.0.0.3:5080");
    expect(prack.headers.filter(({ name }) => name === "Route").map(({ value }) => value)).toEqual([
      "<sip:10.0.0.4;lr>",
      "<sip:peer@10.0.0.2:5060>",
    ]);
  });

  it("is acknowledged also while the call is being cancelled", () => {
    const stage = setStage();
    const call = dial(stage);
    stage.us.order(() => call.hangUp());
    stage.peer.respond(stage.peer.last("INVITE"), 180, { headers: reliably(1) });
    stage.clock.advance(2);
    expect(stage.peer.requests("PRACK")).toHaveLength(1);
    expect(stage.peer.requests("CANCEL")).toHaveLength(1);
    expect(stage.legEvents()).toEqual([]);
  });

  it("without RSeq or tag is taken as an ordinary one", () => {
    const stage = setStage();
    dial(stage);
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, 180, { headers: [{ name: "Require", value: "100rel" }] });
    stage.peer.respond(invite, 183, { tag: "", headers: reliably(1), sdp: peerSdp() });
    stage.clock.advance(2);
    expect(racks(stage)).toEqual([]);
    expect(stage.legEvents()).toHaveLength(3);
  });

  it("whose second fork answers later gets a BYE with the next CSeq of that fork", () => {
    const stage = setStage();
    connect(stage);
    const other = setStage();
    dial(other);
    const invite = other.peer.last("INVITE");
    other.peer.respond(invite, 180, { tag: "b", headers: reliably(1) });
    takePrack(other);
    other.peer.respond(invite, 200, { tag: "a", sdp: peerSdp() });
    other.clock.advance(2);
    other.peer.respond(invite, 200, { tag: "b", sdp: peerSdp() });
    other.clock.advance(2);
    expect(header(other.peer.last("BYE"), "CSeq")).toBe("3 BYE");
    expect(header(other.peer.last("BYE"), "To")).toContain("tag=b");
  });

  it("whose fork answers after the end of the call gets ACK and BYE", () => {
    const stage = setStage();
    const call = dial(stage);
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, 183, { tag: "b", headers: reliably(1), sdp: peerSdp() });
    takePrack(stage);
    stage.peer.respond(invite, 200, { tag: "a", sdp: peerSdp() });
    stage.clock.advance(2);
    stage.us.order(() => call.hangUp());
    stage.peer.respond(invite, 200, { tag: "b" });
    stage.clock.advance(2);
    const byes = stage.peer
      .requests("BYE")
      .map((bye) => `${header(bye, "CSeq")} ${header(bye, "To")?.slice(-1)}`);
    expect(byes).toEqual(["2 BYE a", "3 BYE b"]);
    expect(stage.peer.requests("ACK")).toHaveLength(2);
  });

  it("is taken in the order of numbers whatever the network does to them", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9 }), fc.array(fc.nat(12)), (first, arrivals) => {
        let last: number | undefined;
        const taken: number[] = [];
        for (const offset of arrivals) {
          const number = first + offset;
          if (!isNextReliable(last, number)) continue;
          last = number;
          taken.push(number);
        }
        expect(taken).toEqual(taken.map((_, index) => taken[0]! + index));
        expect(taken.length > 0).toBe(arrivals.length > 0);
      }),
    );
  });
});

describe("a caller that insists on reliable provisional responses", () => {
  const wants = [{ name: "Require", value: "100rel" }];

  function ring(sdp: string | undefined = peerSdp()): { readonly stage: Stage; readonly call: ReceivedCall } {
    const stage = setStage();
    stage.peer.request("INVITE", { headers: wants, ...(sdp === undefined || sdp === "" ? {} : { sdp }) });
    stage.clock.advance(2);
    const call = stage.outputs.flatMap((output) =>
      output.type === "call-received" ? [output.call] : [],
    )[0]!;
    return { stage, call };
  }

  function prack(stage: Stage, cseq: number, parts: { rack?: string; sdp?: string } = {}): void {
    const latest = stage.peer.responses("INVITE").findLast(({ status }) => status > 100)!;
    const rack = parts.rack ?? `${header(latest, "RSeq")} 1 INVITE`;
    stage.peer.request("PRACK", {
      to: header(latest, "To")!,
      cseq,
      headers: [{ name: "RAck", value: rack }],
      ...(parts.sdp === undefined ? {} : { sdp: parts.sdp }),
    });
    stage.clock.advance(2);
  }

  it("gets them, repeated at 500 ms doubling until its PRACK, the next one after that", () => {
    const { stage, call } = ring();
    stage.us.order(() => {
      call.ring();
      call.earlyMedia(ourMedia);
    });
    stage.clock.advance(15_400); // Beyond 4 s the interval still doubles.
    expect(stage.peer.statuses("INVITE")).toEqual([100, 180, 180, 180, 180, 180]);
    const rseq = Number(header(stage.peer.responses("INVITE")[1]!, "RSeq"));
    expect(header(stage.peer.responses("INVITE")[1]!, "Require")).toBe("100rel");
    prack(stage, 2);
    expect(stage.peer.statuses("PRACK")).toEqual([200]);
    expect(stage.peer.statuses("INVITE").at(-1)).toBe(183);
    expect(header(stage.peer.responses("INVITE").at(-1)!, "RSeq")).toBe(`${rseq + 1}`);
    prack(stage, 3);
    stage.clock.advance(60_000);
    expect(stage.peer.statuses("INVITE").filter((status) => status === 183)).toHaveLength(1);
  });

  it("that acknowledges what was not sent is answered 481", () => {
    const { stage, call } = ring();
    stage.us.order(() => call.ring());
    stage.clock.advance(2);
    prack(stage, 2, { rack: "0 1 INVITE" });
    const rseq = header(stage.peer.responses("INVITE").at(-1)!, "RSeq");
    prack(stage, 3, { rack: `${rseq} 2 INVITE` });
    prack(stage, 4, { rack: `${rseq} 1 UPDATE` });
    prack(stage, 5);
    prack(stage, 6);
    expect(stage.peer.statuses("PRACK")).toEqual([481, 481, 481, 200, 481]);
  });

  it("and never acknowledges one is refused 504 after 32 s", () => {
    const { stage, call } = ring();
    stage.us.order(() => call.ring());
    stage.clock.advance(32_010);
    expect(stage.peer.statuses("INVITE").at(-1)).toBe(504);
    expect(stage.callEvents()).toEqual([{ type: "ended", by: "nobody" }]);
  });

  it("gets the 200 only when its PRACK of the answer came, and without a second one", () => {
    const { stage, call } = ring();
    const media = stage.us.order(() => [call.earlyMedia(ourMedia), call.answer(ourMedia)]);
    stage.clock.advance(600);
    expect(media[1]).toEqual(media[0]);
    expect(media[0]).toMatchObject({ audio: { remote: { port: 6000 } } });
    expect(stage.peer.statuses("INVITE")).toEqual([100, 183, 183]);
    prack(stage, 2);
    const ok = stage.peer.responses("INVITE").at(-1)!;
    expect(ok.status).toBe(200);
    expect(ok.body).toHaveLength(0);
    stage.peer.request("ACK", { to: header(ok, "To")! });
    stage.clock.advance(2);
    expect(stage.callEvents()).toEqual([{ type: "acknowledged" }]);
    stage.us.order(() => call.hangUp());
    stage.clock.advance(2);
    expect(stage.peer.requests("BYE")).toHaveLength(1);
  });

  it("may be answered before its PRACK of a mere ringing", () => {
    const { stage, call } = ring();
    stage.us.order(() => {
      call.ring();
      call.answer(ourMedia);
    });
    stage.clock.advance(400);
    expect(stage.peer.statuses("INVITE")).toEqual([100, 180, 200]);
    const ringing = stage.peer.responses("INVITE")[1]!;
    prack(stage, 2, { rack: `${header(ringing, "RSeq")} 1 INVITE` });
    expect(stage.peer.statuses("PRACK")).toEqual([200]);
    stage.clock.advance(1_000);
    expect(stage.peer.statuses("INVITE").filter((status) => status === 180)).toHaveLength(1);
  });

  it("may change early media by UPDATE and by PRACK once it has acknowledged the answer", () => {
    const { stage, call } = ring();
    stage.us.order(() => call.earlyMedia(ourMedia));
    stage.clock.advance(2);
    const to = header(stage.peer.responses("INVITE").at(-1)!, "To")!;
    stage.peer.request("UPDATE", { to, cseq: 2, sdp: peerSdp(6100) });
    stage.clock.advance(2);
    prack(stage, 3, { sdp: peerSdp(6200) });
    stage.peer.request("UPDATE", { to, cseq: 4, sdp: peerSdp(6300) });
    stage.clock.advance(2);
    expect(stage.peer.statuses("UPDATE")).toEqual([500, 200]);
    expect(new TextDecoder().decode(stage.peer.responses("PRACK")[0]!.body)).toContain("m=audio 4000");
    const ports = stage
      .callEvents()
      .flatMap((event) => (event.type === "media-changed" ? [event.media.audio.remote.port] : []));
    expect(ports).toEqual([6200, 6300]);
  });

  it("and offers nothing gets our offer in the first one, and answers it in its PRACK", () => {
    const { stage, call } = ring("");
    stage.us.order(() => call.ring());
    stage.clock.advance(2);
    expect(stage.peer.statuses("INVITE")).toEqual([100]);
    stage.us.order(() => call.earlyMedia(ourMedia));
    stage.clock.advance(2);
    expect(new TextDecoder().decode(stage.peer.responses("INVITE").at(-1)!.body)).toContain("m=audio 4000");
    stage.us.order(() => call.answer(ourMedia));
    prack(stage, 2, { sdp: peerSdp(6700) });
    expect(stage.callEvents()).toMatchObject([
      { type: "media-changed", media: { audio: { remote: { port: 6700 } } } },
    ]);
    expect(stage.peer.responses("INVITE").at(-1)).toMatchObject({ status: 200 });
    expect(stage.peer.responses("INVITE").at(-1)!.body).toHaveLength(0);
  });

  it("and gives up gets no more of them", () => {
    const { stage, call } = ring();
    stage.us.order(() => {
      call.ring();
      call.earlyMedia(ourMedia);
      call.reject(486);
    });
    stage.clock.advance(300);
    expect(stage.peer.statuses("INVITE")).toEqual([100, 180, 486]);
    stage.clock.advance(200_000);
    expect(stage.us.agent.size).toBe(0);
    expect(stage.us.agent.deadline()).toBe(Infinity);
  });
});
