import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dial, header, inside, ourMedia, peerSdp, setStage } from "./scripted-peer.ts";

/** Headers that steer a dialog, right and wrong. */
const headers = fc.array(
  fc.oneof(
    fc.record({
      name: fc.constantFrom("Session-Expires", "Min-SE", "RSeq", "RAck", "Retry-After"),
      value: fc.oneof(
        fc.constantFrom(
          "0",
          "1",
          "90",
          "1800;refresher=uac",
          "1800;refresher=uas",
          "1 1 INVITE",
          "99999999999",
          ";;;",
        ),
        fc.string({ unit: "grapheme-ascii", maxLength: 12 }),
      ),
    }),
    fc.record({
      name: fc.constantFrom("Require", "Supported"),
      value: fc.constantFrom("100rel", "timer", "100rel, timer", ","),
    }),
    fc.record({ name: fc.constant("Allow"), value: fc.constantFrom("UPDATE", "INVITE", "") }),
    fc.record({ name: fc.constant("Event"), value: fc.constantFrom("refer", "refer;id=2", "x") }),
    fc.record({ name: fc.constant("Subscription-State"), value: fc.constantFrom("terminated", "active") }),
    fc.record({
      name: fc.constant("Record-Route"),
      value: fc.constantFrom("<sip:10.0.0.2>", "<sip:10.0.0.2;lr>", "x"),
    }),
    fc.record({ name: fc.constant("Refer-Sub"), value: fc.constantFrom("false", "true") }),
  ),
  { maxLength: 4 },
);
const sdp = fc.constantFrom(
  undefined,
  peerSdp(),
  peerSdp(6100, "sendonly"),
  peerSdp(6200, "inactive"),
  "v=0\r\nx",
);
const tag = fc.constantFrom("a", "b", "peer-tag", "");

const step = fc.oneof(
  fc.record({
    type: fc.constant("request" as const),
    method: fc.constantFrom("INVITE", "UPDATE", "INFO", "PRACK", "NOTIFY", "ACK", "REFER", "OPTIONS", "BYE"),
    cseq: fc.integer({ min: 0, max: 9 }),
    tag,
    headers,
    sdp,
  }),
  fc.record({
    type: fc.constant("response" as const),
    status: fc.constantFrom(100, 180, 183, 199, 200, 202, 401, 408, 422, 481, 488, 491, 500, 603),
    nth: fc.nat(5),
    tag,
    headers,
    sdp,
  }),
  fc.record({
    type: fc.constant("order" as const),
    act: fc.constantFrom("hold", "resume", "offer", "transfer", "dtmf", "hangUp"),
  }),
  fc.record({ type: fc.constant("wait" as const), ms: fc.constantFrom(1, 600, 5_000, 40_000, 900_000) }),
);

describe("a call whose peer says anything at any time", () => {
  it("never throws, ends once at most, and leaves nothing behind when it is hung up", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const stage = setStage();
        stage.peer.readsPastMalformed = true;
        const call = dial(stage);
        let transfers = 0;
        for (const one of steps) {
          if (one.type === "wait") stage.clock.advance(one.ms);
          else if (one.type === "request") {
            const parts = {
              cseq: one.cseq,
              headers: one.headers,
              ...(one.sdp === undefined ? {} : { sdp: one.sdp }),
            };
            stage.peer.request(one.method, { ...inside(stage, one.tag), ...parts });
          } else if (one.type === "response") {
            const requests = stage.peer.got.filter((message) => message.type === "request");
            const to = requests.at(-1 - (one.nth % requests.length))!;
            const { headers: more, status } = one;
            stage.peer.respond(to, status, {
              tag: one.tag,
              headers: more,
              ...(one.sdp === undefined ? {} : { sdp: one.sdp }),
            });
          } else {
            stage.us.order(() => {
              if (one.act === "offer") call.offer({ ...ourMedia, audioPort: 4100 });
              else if (one.act === "dtmf") call.sendInfoDtmf("1", 100);
              else if (one.act === "transfer") {
                if (transfers++ === 0) call.transfer("sip:a@b");
              } else if (one.act === "hold") call.hold();
              else if (one.act === "resume") call.resume();
              else call.hangUp();
            });
          }
          stage.clock.advance(2);
        }
        stage.us.order(() => call.hangUp());
        stage.clock.advance(1_000_000);
        const ends = stage.legEvents().filter(({ type }) => type === "leg-ended");
        expect(ends).toHaveLength(1);
        expect(stage.legEvents().at(-1)?.type).toBe("leg-ended");
        expect(stage.us.agent.size).toBe(0);
        expect(stage.us.agent.deadline()).toBe(Infinity);
      }),
      { numRuns: 300 },
    );
  });
});

const answeringStep = fc.oneof(
  fc.record({
    type: fc.constant("request" as const),
    method: fc.constantFrom("INVITE", "UPDATE", "INFO", "PRACK", "NOTIFY", "ACK", "CANCEL", "OPTIONS", "BYE"),
    cseq: fc.integer({ min: 0, max: 9 }),
    rack: fc.boolean(),
    headers,
    sdp,
  }),
  fc.record({
    type: fc.constant("response" as const),
    status: fc.constantFrom(100, 200, 401, 408, 422, 481, 491, 500),
    headers,
    sdp,
  }),
  fc.record({
    type: fc.constant("order" as const),
    act: fc.constantFrom("ring", "earlyMedia", "answer", "reject", "hold", "resume", "hangUp"),
  }),
  fc.record({ type: fc.constant("wait" as const), ms: fc.constantFrom(1, 600, 5_000, 40_000, 900_000) }),
);

describe("a call that came in whose peer says anything at any time", () => {
  it("never throws, ends once, and leaves nothing behind", () => {
    fc.assert(
      fc.property(headers, sdp, fc.array(answeringStep, { maxLength: 25 }), (invite, offer, steps) => {
        const stage = setStage();
        stage.peer.readsPastMalformed = true;
        const described = offer === undefined ? {} : { sdp: offer };
        stage.peer.request("INVITE", { branch: "z9hG4bKsoup", headers: invite, ...described });
        stage.clock.advance(2);
        const call = stage.outputs.flatMap((output) =>
          output.type === "call-received" ? [output.call] : [],
        )[0];
        if (call === undefined) return;
        for (const one of steps) {
          const answers = stage.peer.responses("INVITE").filter(({ status }) => status > 100);
          if (one.type === "wait") stage.clock.advance(one.ms);
          else if (one.type === "request") {
            const to = answers.map((answer) => header(answer, "To")).at(-1);
            const rseq = answers.map((answer) => header(answer, "RSeq")).at(-1);
            const rack = one.rack ? [{ name: "RAck", value: `${rseq} 1 INVITE` }] : [];
            stage.peer.request(one.method, {
              cseq: one.cseq,
              headers: [...rack, ...one.headers],
              ...(to === undefined ? {} : { to }),
              ...(one.sdp === undefined ? {} : { sdp: one.sdp }),
              ...(one.method === "CANCEL" ? { branch: "z9hG4bKsoup" } : {}),
            });
          } else if (one.type === "response") {
            const asked = stage.peer.got.findLast((message) => message.type === "request");
            const parts = { headers: one.headers, ...(one.sdp === undefined ? {} : { sdp: one.sdp }) };
            if (asked !== undefined) stage.peer.respond(asked, one.status, parts);
          } else {
            stage.us.order(() => {
              if (one.act === "earlyMedia" || one.act === "answer") call[one.act](ourMedia);
              else if (one.act === "reject") call.reject(486);
              else call[one.act]();
            });
          }
          stage.clock.advance(2);
        }
        stage.us.order(() => call.hangUp());
        stage.clock.advance(1_000_000);
        const mine = stage.outputs.flatMap((output) =>
          output.type === "call-event" && output.call === call ? [output.event.type] : [],
        );
        expect(mine.filter((type) => type === "ended" || type === "cancelled")).toHaveLength(1);
        expect(["ended", "cancelled"]).toContain(mine.at(-1));
        expect(stage.us.agent.size).toBe(0);
        expect(stage.us.agent.deadline()).toBe(Infinity);
      }),
      { numRuns: 300 },
    );
  });
});
