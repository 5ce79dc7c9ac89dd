import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { DtmfReceiver, DtmfSender, isDialString, type DtmfTiming } from "../../src/media/dtmf.ts";
import type { RtpHeader } from "../../src/media/rtp.ts";

interface Event {
  readonly frame: number;
  readonly marker: boolean;
  readonly timestamp: number;
  readonly payload: Uint8Array;
}

function sent(digits: string, timing: DtmfTiming = {}, firstTimestamp = 2 ** 32 - 800): Event[] {
  const sender = new DtmfSender();
  sender.press(digits, timing);
  const events: Event[] = [];
  for (let frame = 0; sender.busy; frame++) {
    if (sender.next((firstTimestamp + frame * 160) >>> 0)) {
      const { marker, timestamp, payload } = sender;
      events.push({ frame, marker, timestamp, payload: payload.slice() });
    }
  }
  return events;
}

function header({ marker, timestamp, payload }: Event): RtpHeader {
  return { payloadType: 101, marker, sequence: 0, timestamp, ssrc: 1, offset: 0, length: payload.length };
}

function heard(events: readonly Event[]): string {
  const receiver = new DtmfReceiver();
  return events.map((event) => receiver.receive(event.payload, header(event)) ?? "").join("");
}

describe("sending telephone events", () => {
  test("one digit is one timestamp, one marker, updates of 20 ms and the end three times", () => {
    const events = sent("5", { digitMs: 100, gapMs: 60 });
    expect(events.map(({ frame }) => frame)).toEqual([0, 1, 2, 3, 4, 5, 6]);
    expect(events.map(({ marker }) => marker)).toEqual([true, false, false, false, false, false, false]);
    expect(new Set(events.map(({ timestamp }) => timestamp)).size).toBe(1);
    expect(events.map(({ payload }) => [...payload])).toEqual([
      [5, 10, 0, 160],
      [5, 10, 1, 64],
      [5, 10, 1, 224],
      [5, 10, 2, 128],
      [5, 0x8a, 3, 32],
      [5, 0x8a, 3, 32],
      [5, 0x8a, 3, 32],
    ]);
  });

  test("the next digit waits for the pause", () => {
    const starts = sent("12", { digitMs: 100, gapMs: 100 }).filter(({ marker }) => marker);
    expect(starts.map(({ frame }) => frame)).toEqual([0, 10]);
  });

  test("characters that are no keys are left out", () => {
    expect(heard(sent("1-2 a#"))).toBe("12A#");
    expect(isDialString("0123456789*#ABCDabcd")).toBe(true);
    expect(isDialString("12x")).toBe(false);
    expect(isDialString("")).toBe(false);
  });
});

describe("hearing telephone events", () => {
  const digits = fc
    .array(fc.constantFrom(...Array.from("0123456789*#ABCD")), { minLength: 1, maxLength: 12 })
    .map((d) => d.join(""));

  test("every digit is heard once as long as one of its packets comes, in order, single or repeated", () => {
    fc.assert(
      fc.property(digits, fc.infiniteStream(fc.nat({ max: 3 })), (text, fate) => {
        const events = sent(text, { digitMs: 60, gapMs: 60 });
        const perDigit = 3 + 2;
        const arrived = events.flatMap((event, i) => {
          const chance = fate.next().value;
          const keep = i % perDigit === 1; // at least this one comes
          if (!keep && chance <= 1) return [];
          return chance === 3 ? [event, event] : [event];
        });
        expect(heard(arrived)).toBe(text);
      }),
    );
  });

  test("a digit whose ends are all lost is heard, and so is the same digit after it", () => {
    const events = sent("77").filter(({ payload }) => (payload[1]! & 0x80) === 0);
    expect(heard(events)).toBe("77");
  });

  test("a straggler of an earlier digit is not heard again", () => {
    const events = sent("12");
    expect(heard([...events, events[1]!, events[6]!])).toBe("12");
  });

  test("a press longer than eight seconds goes on in a new segment and stays one digit", () => {
    const long: Event[] = [
      { frame: 0, marker: true, timestamp: 0, payload: Uint8Array.of(3, 10, 0, 160) },
      { frame: 1, marker: false, timestamp: 0, payload: Uint8Array.of(3, 10, 0xff, 0xff) },
      { frame: 2, marker: false, timestamp: 0xffff, payload: Uint8Array.of(3, 10, 0, 160) },
      { frame: 3, marker: false, timestamp: 0xffff, payload: Uint8Array.of(3, 0x8a, 2, 0) },
    ];
    expect(heard(long)).toBe("3");
  });

  test("a sender that gives each update a new timestamp is understood", () => {
    const moving = sent("4").map((event, i) => ({ ...event, timestamp: 8000 + i * 160, marker: i === 0 }));
    expect(heard(moving)).toBe("4");
  });

  test("events that are no keys and payloads too short are nothing", () => {
    const at = { frame: 0, marker: true, timestamp: 1 };
    expect(heard([{ ...at, payload: Uint8Array.of(16, 10, 0, 160) }])).toBe("");
    expect(heard([{ ...at, payload: Uint8Array.of(5, 10, 0) }])).toBe("");
  });
});
