import { drive } from "#base";
import fc from "fast-check";
import { expect, test } from "vitest";
import { attempt, startAttempt, type AttemptEffect, type AttemptInput } from "../../src/daemon/attempt.ts";
import type { LegEnd, LineMedia, LineReport, SavedDialog } from "../../src/daemon/ports.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const media: LineMedia = {
  audio: {
    remote: { address: "127.0.0.1", port: 4000, rtcpPort: 4001 },
    codec: "PCMU",
    payloadType: 0,
    direction: "sendrecv",
  },
};
const dialog: SavedDialog = {
  sipCallId: "c",
  localTag: "a",
  remoteTag: "b",
  localUri: "sip:us@x",
  remoteUri: "sip:them@x",
  remoteTarget: "sip:them@x",
  routeSet: [],
  localCSeq: 1,
  inviteBranch: null,
  requestUri: "sip:them@x",
  destination: { address: "127.0.0.1", port: 5060 },
};
const report: LineReport = {
  recordedMs: 0,
  media: {},
  conversation: {
    verdict: { kind: "person", by: "duration", atMs: 0, evidence: "" },
    turns: [],
    result: { success: true, output: {}, summary: "", followUp: false, doNotCall: false },
    endedBy: "agent",
    voicemailMessageLeft: false,
    firstWordMs: 20,
  },
};
const bye: LegEnd = { by: "them", answered: true, ringing: true };

test("a call rings, is answered, talks and is hung up by the callee", () => {
  const { log, feed, clock } = place();
  feed({ type: "leg", event: { type: "leg-ringing", status: 180 } });
  feed({ type: "leg", event: { type: "leg-ringing", status: 180 } });
  clock.advance(2_000);
  feed({ type: "leg", event: { type: "leg-answered", media, dialog } });
  clock.advance(5_000);
  feed({ type: "leg", event: { type: "leg-ended", end: bye } });
  feed({ type: "report", report });
  expect(log).toEqual([
    "0 save-ringing",
    "2000 connect-line",
    "2000 save-answered",
    "7000 close-line callee",
    "7000 conclude answered 2000 ended 7000 why undefined",
  ]);
});

test("the finished conversation hangs up, and counts until then even if the BYE is slow", () => {
  const { log, feed, clock } = place();
  feed({ type: "leg", event: { type: "leg-answered", media, dialog } });
  clock.advance(4_000);
  feed({ type: "line", event: { type: "conversation-finished" } });
  clock.advance(600);
  feed({ type: "leg", event: { type: "leg-ended", end: { ...bye, by: "us" } } });
  feed({ type: "report", report });
  expect(log.slice(2)).toEqual([
    "4000 hang-up-leg",
    "4600 close-line callee",
    "4600 conclude answered 0 ended 4000 why finished",
  ]);
});

test("a leg that never confirms its end is given up after 35 s", () => {
  const { log, feed, clock } = place();
  feed({ type: "hang-up", why: "operator" });
  clock.advance(34_999);
  expect(log).toEqual(["0 hang-up-leg"]);
  clock.advance(1);
  expect(log.at(-1)).toBe("35000 close-line operator");
});

test("an answer that crosses our hang-up is remembered, and its audio stays closed", () => {
  const { log, feed } = place();
  feed({ type: "hang-up", why: "operator" });
  feed({ type: "leg", event: { type: "leg-answered", media, dialog } });
  expect(log).toEqual(["0 hang-up-leg", "0 save-answered"]);
});

test("early media is no answer", () => {
  const { log, feed } = place();
  feed({ type: "leg", event: { type: "leg-early-media", media } });
  expect(log).toEqual([]);
});

test("whatever happens, in whatever order, an attempt concludes at most once and is silent afterwards", () => {
  const inputs: AttemptInput[] = [
    { type: "leg", event: { type: "leg-ringing", status: 180 } },
    { type: "leg", event: { type: "leg-answered", media, dialog } },
    { type: "leg", event: { type: "leg-ended", end: bye } },
    { type: "line", event: { type: "conversation-finished" } },
    { type: "line", event: { type: "media-timeout", first: true } },
    { type: "line", event: { type: "line-lost", reason: "x" } },
    { type: "hang-up", why: "shutdown" },
    { type: "report", report },
  ];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...inputs), { maxLength: 30 }), (script) => {
      const { log, feed, clock } = place();
      for (const input of script) {
        feed(input);
        clock.advance(500);
      }
      feed({ type: "hang-up", why: "shutdown" });
      clock.advance(40_000);
      feed({ type: "report", report });
      expect(log.filter((line) => line.includes("conclude"))).toHaveLength(1);
      expect(log.at(-1)).toContain("conclude");
      expect(log.filter((line) => line.includes("connect-line")).length).toBeLessThanOrEqual(1);
      expect(log.filter((line) => line.includes("hang-up-leg")).length).toBeLessThanOrEqual(1);
    }),
  );
});

function place() {
  const clock = new VirtualClock();
  const log: string[] = [];
  const driver = drive(attempt, startAttempt(), clock, (effect) =>
    log.push(`${clock.now()} ${worded(effect)}`),
  );
  return { clock, log, feed: (input: AttemptInput) => driver.feed(input) };
}

function worded(effect: AttemptEffect): string {
  if (effect.type === "close-line") return `close-line ${effect.endedBy}`;
  if (effect.type !== "conclude") return effect.type;
  const { answeredAt, endedAt, why } = effect.facts;
  return `conclude answered ${answeredAt} ended ${endedAt} why ${why}`;
}
