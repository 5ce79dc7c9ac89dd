import { describe, expect, it } from "vitest";
import type { Script } from "#domain";
import { beeps, does, planOf, presses, says, speaks, tell, type Told } from "./scenario.ts";

const script: Script = {
  start: "q",
  states: {
    q: {
      ask: "¿Viene mañana? Pulse 1 o 2.",
      digits: { "1": "yes", "2": "no" },
      otherwise: "no",
      silence: "no",
    },
    yes: { say: "Gracias.", end: { success: true } },
    no: { say: "De acuerdo.", end: { success: false } },
  },
};
const opening = "Hola, le llamo de la clínica.";
const hangUp = planOf({ opening, script });
const leaves = planOf(
  { opening, script, voicemail: { action: "leave-message", message: "Llámenos, {{nombre}}." } },
  { params: { nombre: "Ana" } },
);
const messages = (told: Told): readonly string[] =>
  told.transcript.filter((line) => line.includes("Llámenos"));

describe("who answered", () => {
  it.each([
    ["a short hello", [speaks(300, 600)], { kind: "person", by: "duration", atMs: 1600 }],
    ["a middling greeting and no beep", [speaks(300, 2500)], { kind: "person", by: "duration", atMs: 5800 }],
    ["a long speech", [speaks(300, 9000)], { kind: "voicemail", by: "duration", atMs: 3500 }],
    [
      "a long speech with short pauses",
      [speaks(300, 1500), speaks(2200, 2500)],
      { kind: "voicemail", by: "duration", atMs: 3500 },
    ],
    ["a long answer after listening", [speaks(7000, 9000)], { kind: "person", by: "duration", atMs: 16_700 }],
    ["a beep", [beeps(2000)], { kind: "voicemail", by: "beep", atMs: 2000 }],
    [
      "a beep after a short greeting",
      [speaks(300, 900), beeps(4000)],
      { kind: "voicemail", by: "beep", atMs: 4000 },
    ],
    ["a beep after a key", [presses(2000, "5"), beeps(4000)], { kind: "person", by: "dtmf", atMs: 2000 }],
    [
      "a key after a long speech",
      [speaks(300, 9000), presses(6000, "1")],
      { kind: "person", by: "dtmf", atMs: 6000 },
    ],
    ["typed text", [does(2000, { type: "text", text: "h" })], { kind: "person", by: "text", atMs: 2000 }],
    [
      "a fax",
      [does(2000, { type: "tone", kind: "fax", atMs: 1900 })],
      { kind: "fax", by: "tone", atMs: 1900 },
    ],
    ["nobody", [], { kind: "silence", by: "timeout" }],
  ] as const)("%s", (_what, callee, verdict) => {
    const told = tell(hangUp, callee, { untilMs: 60_000 });
    expect(told.report.verdict).toMatchObject(verdict);
    const last = told.events.findLast((event) => event.type === "verdict-reached");
    expect(last?.verdict).toEqual(told.report.verdict);
  });

  it.each([
    ["says so", "Deje su mensaje después de la señal.", "voicemail"],
    ["offers choices", "Para ventas, pulse 1.", "menu"],
  ])("a machine that %s is known by its words", (_what, words, kind) => {
    const told = tell(hangUp, [says(100, 1500, words)], { finalWithinMs: 1000, untilMs: 4000 });
    expect(told.report.verdict).toMatchObject({ kind, by: "transcript" });
  });

  it("remains unknown when too little was heard", () => {
    const told = tell(hangUp, [speaks(300, 2500), does(3500, { type: "callee-hung-up" })]);
    expect(told.report.verdict).toMatchObject({ kind: "unknown", by: "timeout" });
  });

  it("a beep after half a minute proves nothing any more", () => {
    const told = tell(planOf({ opening: "Hola. ".repeat(200) }), [speaks(300, 600), beeps(31_000)], {
      untilMs: 35_000,
    });
    expect(told.report.verdict).toMatchObject({ kind: "person", by: "duration" });
  });

  it("is reached although the agent's own greeting is never interrupted", () => {
    const long = planOf({ opening: "Hola. ".repeat(60), script, voicemail: leaves.settings.voicemail });
    const told = tell(long, [speaks(100, 12_000)], { untilMs: 6000 });
    expect(told.events).toContainEqual(
      expect.objectContaining({
        type: "verdict-reached",
        verdict: expect.objectContaining({ kind: "voicemail", atMs: 3300 }),
      }),
    );
  });

  it("tones are listened for only as long as they can tell something", () => {
    const detection = (told: Told): readonly unknown[] =>
      told.effects
        .filter(([, effect]) => effect.type === "detect-tones")
        .map(([atMs, effect]) => [atMs, "on" in effect && effect.on]);
    expect(detection(tell(planOf({ opening: "Hola. ".repeat(200) }), [], { untilMs: 40_000 }))).toEqual([
      [0, true],
      [30_000, false],
    ]);
    expect(detection(tell(leaves, [beeps(3000)]))).toEqual([
      [0, true],
      [3000, false],
    ]);
  });
});

describe("leaving a message", () => {
  it("begins at the beep, cutting the greeting short, and is recorded as left", () => {
    const told = tell(leaves, [speaks(100, 900), beeps(1000)]);
    expect(told.transcript).toEqual([
      "agent 0-1000 cut: Hola, le llamo de la",
      "callee 100-1000: [habla 0,9 s, sin transcriptor]",
      "agent 1050-1750: Llámenos, Ana.",
    ]);
    expect(told.events).toContainEqual({ type: "voicemail-message-left", atMs: 1750 });
    expect(told.report).toMatchObject({
      voicemailMessageLeft: true,
      endedBy: "agent",
      result: { success: false },
    });
    expect(told.report.result.summary).toBe("Contestó un buzón de voz; mensaje dejado; 2 s.");
    expect(told.finishedAtMs).toBe(2050);
  });

  it("waits for the beep after a long greeting while the script is held", () => {
    const told = tell(leaves, [speaks(100, 9000), beeps(10_500)]);
    expect(told.transcript.filter((line) => line.startsWith("agent"))).toEqual([
      "agent 0-1450: Hola, le llamo de la clínica.",
      "agent 1450-2750: ¿Viene mañana? Pulse 1 o 2.",
      "agent 10550-11250: Llámenos, Ana.",
    ]);
  });

  it("without a beep begins two seconds after the greeting ended", () => {
    const told = tell(leaves, [speaks(100, 9000)]);
    expect(messages(told)).toEqual(["agent 11150-11850: Llámenos, Ana."]);
  });

  it("begins after 25 seconds at the latest", () => {
    const told = tell(leaves, [speaks(100, 100_000)]);
    expect(messages(told)).toEqual(["agent 28350-29050: Llámenos, Ana."]);
  });

  it("happens once, however many beeps there are", () => {
    expect(messages(tell(leaves, [beeps(2000), beeps(2300), beeps(2500)]))).toHaveLength(1);
  });

  it("is not claimed when the far end hangs up during the message", () => {
    const told = tell(leaves, [beeps(2000), does(2550, { type: "callee-hung-up" })]);
    expect(told.report.voicemailMessageLeft).toBe(false);
    expect(told.transcript.at(-1)).toBe("agent 2050-2550 cut: Llámenos,");
  });

  it("gives way to the script when a hand on the keys proves a person", () => {
    const told = tell(leaves, [speaks(100, 5000), presses(6000, "1")]);
    expect(messages(told)).toEqual([]);
    expect(told.report).toMatchObject({ verdict: { kind: "person", by: "dtmf" }, result: { success: true } });
  });
});

describe("hanging up on a voicemail", () => {
  it("happens at the beep", () => {
    const told = tell(hangUp, [speaks(100, 5000), beeps(6000)]);
    expect(told.finishedAtMs).toBe(6000);
    expect(told.report).toMatchObject({
      verdict: { kind: "voicemail", by: "beep" },
      voicemailMessageLeft: false,
    });
    expect(told.report.result.summary).toMatch(/sin mensaje/);
  });

  it("happens after its greeting when its words say what it is", () => {
    const told = tell(hangUp, [says(100, 2500, "Deje su mensaje.")], { finalWithinMs: 1000 });
    expect(told.finishedAtMs).toBe(4750);
  });

  it("never happens for the length of a speech alone: the script goes on", () => {
    const told = tell(hangUp, [speaks(100, 5000), presses(14_000, "1")]);
    expect(told.report).toMatchObject({ verdict: { kind: "person" }, result: { success: true } });
  });

  it("a fax is hung up on at once", () => {
    expect(tell(hangUp, [does(800, { type: "tone", kind: "fax", atMs: 700 })]).finishedAtMs).toBe(800);
  });

  it("a script that runs to its end on a machine is no success", () => {
    const yes = planOf({
      script: { start: "yes", states: { yes: { say: "Aviso. ".repeat(40), end: { success: true } } } },
    });
    expect(tell(yes, [speaks(100, 20_000)]).report).toMatchObject({
      verdict: { kind: "voicemail" },
      result: { success: false },
    });
  });
});
