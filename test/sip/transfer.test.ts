import { describe, expect, it } from "vitest";
import { connect, dial, header, inside, setStage, type Stage } from "./scripted-peer.ts";

const transfers = (stage: Stage) =>
  stage
    .legEvents()
    .flatMap((event) =>
      event.type === "leg-transfer"
        ? [`${event.status}${event.accepted ? "" : " refused"}${event.done ? " done" : ""}`]
        : [],
    );

/** A NOTIFY of the peer on the transfer. */
function notify(
  stage: Stage,
  cseq: number,
  parts: { body?: string; state?: string; event?: string } = {},
): void {
  const { body = "", event = "refer", state = "active;expires=60" } = parts;
  stage.peer.request("NOTIFY", {
    ...inside(stage),
    cseq,
    body,
    headers: [
      { name: "Event", value: event },
      { name: "Subscription-State", value: state },
      { name: "Content-Type", value: "message/sipfrag;version=2.0" },
    ],
  });
  stage.clock.advance(2);
}

function transferring(answer?: number) {
  const stage = setStage();
  const call = connect(stage);
  stage.us.order(() => call.transfer("sip:+34911000111@trunk.test"));
  stage.clock.advance(2);
  if (answer !== undefined) stage.peer.respond(stage.peer.last("REFER"), answer);
  stage.clock.advance(2);
  return { stage, call };
}

describe("a blind transfer", () => {
  it("is a REFER inside the call, and its NOTIFYs tell how it goes", () => {
    const { stage } = transferring();
    const refer = stage.peer.last("REFER");
    expect(header(refer, "Refer-To")).toBe("<sip:+34911000111@trunk.test>");
    expect(header(refer, "Referred-By")).toBe("<sip:+34911222333@trunk.test>");
    expect(header(refer, "CSeq")).toBe("2 REFER");
    expect(header(refer, "To")).toContain("tag=peer-tag");
    stage.peer.respond(refer, 202);
    stage.clock.advance(2);
    notify(stage, 1, { body: "SIP/2.0 100 Trying\r\n" });
    notify(stage, 2, { body: "SIP/2.0 180 Ringing\r\n" });
    notify(stage, 3, { body: "SIP/2.0 180 Ringing\r\n" });
    notify(stage, 4, { body: "SIP/2.0 200 OK\r\n", state: "terminated;reason=noresource" });
    expect(stage.peer.statuses("NOTIFY")).toEqual([200, 200, 200, 200]);
    expect(transfers(stage)).toEqual(["202", "100", "180", "200 done"]);
  });

  it.each([403, 405, 501, 603])("that is refused with %i leaves the call as it was", (status) => {
    const { stage, call } = transferring(status);
    expect(transfers(stage)).toEqual([`${status} refused done`]);
    notify(stage, 1, { body: "SIP/2.0 200 OK\r\n" });
    expect(stage.peer.statuses("NOTIFY")).toEqual([481]);
    stage.us.order(() => call.transfer("tel:+34911000112"));
    stage.clock.advance(2);
    expect(header(stage.peer.last("REFER"), "Refer-To")).toBe("<tel:+34911000112>");
    expect(stage.legEvents().at(-1)?.type).not.toBe("leg-ended");
  });

  it("that fails at its target tells the status", () => {
    const { stage } = transferring(202);
    notify(stage, 1, { body: "SIP/2.0 486 Busy Here\r\n", state: "terminated" });
    expect(transfers(stage)).toEqual(["202", "486 done"]);
  });

  it("whose first NOTIFY is faster than the 202 is told all the same", () => {
    const { stage } = transferring();
    notify(stage, 1, { body: "SIP/2.0 100 Trying\r\n" });
    stage.peer.respond(stage.peer.last("REFER"), 202);
    stage.clock.advance(2);
    notify(stage, 2, { body: "SIP/2.0 200 OK\r\n" });
    notify(stage, 3, { body: "SIP/2.0 200 OK\r\n", state: "terminated" });
    expect(transfers(stage)).toEqual(["100", "200 done"]);
    expect(stage.peer.statuses("NOTIFY")).toEqual([200, 200, 200]);
  });

  it("that the peer stops reporting on is done with what is known", () => {
    const { stage } = transferring(202);
    notify(stage, 1, { body: "SIP/2.0 183 Session Progress\r\n" });
    notify(stage, 2, { body: "nonsense", state: "terminated;reason=timeout" });
    expect(transfers(stage)).toEqual(["202", "183", "183 done"]);
  });

  it("of a peer that says nothing any more is done with 408 after four minutes", () => {
    const { stage } = transferring(202);
    stage.clock.advance(239_000);
    expect(transfers(stage)).toEqual(["202"]);
    stage.clock.advance(2_000);
    expect(transfers(stage)).toEqual(["202", "408 done"]);
  });

  it("that nobody answers is refused as 408, and the call goes on", () => {
    const { stage } = transferring();
    stage.clock.advance(32_010);
    expect(transfers(stage)).toEqual(["408 refused done"]);
    expect(stage.legEvents().at(-1)?.type).toBe("leg-transfer");
  });

  it("without a subscription (Refer-Sub: false) is done with the answer to the REFER", () => {
    const { stage } = transferring();
    stage.peer.respond(stage.peer.last("REFER"), 202, { headers: [{ name: "Refer-Sub", value: "false" }] });
    stage.clock.advance(2);
    expect(transfers(stage)).toEqual(["202 done"]);
  });

  it("tells nothing after the end of the call", () => {
    const { stage } = transferring(202);
    stage.peer.request("BYE", { ...inside(stage), cseq: 1 });
    stage.clock.advance(2);
    notify(stage, 2, { body: "SIP/2.0 200 OK\r\n" });
    stage.clock.advance(100_000);
    expect(stage.us.agent.deadline()).toBe(Infinity);
    expect(transfers(stage)).toEqual(["202"]);
    expect(stage.legEvents().at(-1)?.type).toBe("leg-ended");
    expect(stage.us.agent.size).toBe(0);
  });

  it("is one at a time, to a SIP or tel URI, in an answered call", () => {
    const { call } = transferring(202);
    expect(() => call.transfer("sip:other@b")).toThrow("a transfer is under way");
    const stage = setStage();
    const ringing = dial(stage);
    stage.us.order(() => ringing.transfer("sip:a@b"));
    stage.clock.advance(2);
    expect(stage.peer.requests("REFER")).toHaveLength(0);
    const other = connect(setStage());
    for (const target of ["http://a", "sip:a@b>\r\nX: y", "+34911", "sip:a b@c", ""]) {
      expect(() => other.transfer(target)).toThrow("no SIP or tel URI");
    }
  });
});

describe("a NOTIFY that no transfer asked for", () => {
  it("is answered 481, of another event 489", () => {
    const stage = setStage();
    connect(stage);
    notify(stage, 1, { body: "SIP/2.0 200 OK\r\n" });
    notify(stage, 2, { event: "presence" });
    expect(stage.peer.statuses("NOTIFY")).toEqual([481, 489]);
    expect(header(stage.peer.responses("NOTIFY")[1]!, "Allow-Events")).toBe("refer");
  });
});

describe("digits by INFO", () => {
  it("go out one after the other, so that none overtakes another", () => {
    const stage = setStage();
    const call = connect(stage);
    stage.us.order(() => {
      call.sendInfoDtmf("5", 160);
      call.sendInfoDtmf("#", 200.4);
    });
    stage.clock.advance(400);
    expect(stage.peer.requests("INFO")).toHaveLength(1);
    const first = stage.peer.last("INFO");
    expect(header(first, "Content-Type")).toBe("application/dtmf-relay");
    expect(new TextDecoder().decode(first.body)).toBe("Signal=5\r\nDuration=160\r\n");
    expect(header(first, "CSeq")).toBe("2 INFO");
    stage.peer.respond(first, 200);
    stage.clock.advance(2);
    expect(new TextDecoder().decode(stage.peer.last("INFO").body)).toBe("Signal=#\r\nDuration=200\r\n");
    stage.peer.respond(stage.peer.last("INFO"), 200);
    stage.clock.advance(2);
    expect(stage.legEvents().map(({ type }) => type)).toEqual([
      "leg-answered",
      "leg-dialog-changed",
      "leg-dialog-changed",
    ]);
  });

  it("that are not taken are told, and the call goes on", () => {
    const stage = setStage();
    const call = connect(stage);
    stage.us.order(() => call.sendInfoDtmf("1", 100));
    stage.clock.advance(2);
    stage.peer.respond(stage.peer.last("INFO"), 415);
    stage.clock.advance(2);
    stage.us.order(() => call.sendInfoDtmf("2", 100));
    stage.clock.advance(32_010);
    const refused = stage.legEvents().filter(({ type }) => type === "leg-dtmf-refused");
    expect(refused).toEqual([
      { type: "leg-dtmf-refused", digit: "1", status: 415 },
      { type: "leg-dtmf-refused", digit: "2" },
    ]);
    expect(stage.legEvents().at(-1)?.type).toBe("leg-dtmf-refused");
  });

  it("are checked before anything is sent", () => {
    const stage = setStage();
    const call = connect(stage);
    for (const digit of ["", "12", "a", "\r", "E"])
      expect(() => call.sendInfoDtmf(digit, 100)).toThrow("digit");
    for (const ms of [0, -1, 60_001, Number.NaN]) expect(() => call.sendInfoDtmf("1", ms)).toThrow("lasts");
  });

  it("still waiting are dropped when the peer says goodbye", () => {
    const stage = setStage();
    const call = connect(stage);
    stage.us.order(() => {
      call.sendInfoDtmf("1", 100);
      call.sendInfoDtmf("2", 100);
    });
    stage.clock.advance(2);
    stage.peer.request("BYE", { ...inside(stage), cseq: 1 });
    stage.peer.respond(stage.peer.last("INFO"), 200);
    stage.clock.advance(2);
    expect(stage.peer.requests("INFO")).toHaveLength(1);
  });

  it("still waiting are dropped with the call", () => {
    const stage = setStage();
    const call = connect(stage);
    stage.us.order(() => {
      call.sendInfoDtmf("1", 100);
      call.sendInfoDtmf("2", 100);
      call.hangUp();
    });
    stage.clock.advance(2);
    stage.peer.respond(stage.peer.last("INFO"), 481);
    stage.clock.advance(2);
    expect(stage.peer.requests("INFO")).toHaveLength(1);
    expect(header(stage.peer.last("BYE"), "CSeq")).toBe("3 BYE");
    expect(stage.legEvents().at(-1)?.type).toBe("leg-ended");
  });
});
