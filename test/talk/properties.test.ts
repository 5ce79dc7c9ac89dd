import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Script } from "#domain";
import {
  conversation,
  reportOf,
  startConversation,
  type ConversationEffect,
  type ConversationInput,
} from "#talk";
import { planOf, presses, says, speaks, tell, types, beeps, does, type Doing } from "./scenario.ts";

const script: Script = {
  start: "hello",
  states: {
    hello: { say: "Buenos días. Le llamo de la clínica del doctor García.", goto: "q" },
    q: {
      ask: "¿Viene mañana? Pulse 1 o 2.",
      digits: { "1": "ask", "12": "no" },
      text: { sí: "ask" },
      otherwise: "no",
    },
    ask: { ask: "¿Algún comentario?", goto: "bye", silence: "bye" },
    bye: { say: "Gracias.", end: { success: true } },
    no: { say: "De acuerdo.", end: { success: false } },
  },
};
const maxCallMs = 40_000;
/** Closing: 15 s of patience. */
const longestMs = maxCallMs + 15_000;

const atMs = fc.integer({ min: 0, max: 50_000 });
const doing: fc.Arbitrary<Doing> = fc.oneof(
  fc.tuple(atMs, fc.integer({ min: 20, max: 12_000 })).map(([at, forMs]) => speaks(at, forMs)),
  fc
    .tuple(
      atMs,
      fc.integer({ min: 100, max: 3000 }),
      fc.constantFrom("sí", "eh", "no me llame más", "deje su mensaje"),
    )
    .map(([at, forMs, text]) => says(at, forMs, text)),
  fc.tuple(atMs, fc.constantFrom("1", "2", "12", "9#", "*")).map(([at, digits]) => presses(at, digits)),
  fc.tuple(atMs, fc.constantFrom("sí\u2028", "no", "\b", "hola.")).map(([at, text]) => types(at, text)),
  atMs.map(beeps),
  atMs.map((at) => does(at, { type: "tone", kind: "fax", atMs: at })),
  atMs.map((at) => does(at, { type: "callee-hung-up" })),
  atMs.map((at) => does(at, { type: "operator-hung-up" })),
);

const plans = fc.record({
  interrupt: fc.boolean(),
  opening: fc.constantFrom(undefined, "Hola. Soy el Sr. García."),
  leaves: fc.boolean(),
  repeat: fc.integer({ min: 0, max: 3 }),
});
const lines = fc.record({
  rtt: fc.boolean(),
  synthesisMs: fc.constantFrom(0, 50, 700, 3000),
  hears: fc.boolean(),
});

describe("whatever the callee does", () => {
  it("the call ends in time, one speech sounds at a time, and nothing follows the end", () => {
    const property = fc.property(
      plans,
      lines,
      fc.array(doing, { maxLength: 12 }),
      (settings, line, callee) => {
        const states = { ...script.states, q: { ...script.states["q"], repeat: settings.repeat } };
        const plan = planOf(
          {
            opening: settings.opening,
            script: { ...script, states },
            maxCallMs,
            voicemail: settings.leaves
              ? { action: "leave-message", message: "Llámenos." }
              : { action: "hang-up", message: undefined },
          },
          { interrupt: settings.interrupt },
        );
        const told = tell(plan, callee, { ...line, ...(line.hears && { finalWithinMs: 1500 }) });
        const finishes = told.effects.filter(([, effect]) => effect.type === "finish");
        const hungUp = told.report.endedBy === "callee" || told.report.endedBy === "operator";
        expect(conversation.isOver(told.state)).toBe(true);
        expect(finishes).toHaveLength(hungUp ? 0 : 1);
        expect(told.effects.at(-1)?.[1].type === "finish" || hungUp).toBe(true);
        expect(told.effects.at(-1)?.[0]).toBeLessThanOrEqual(longestMs);
        expect(told.doubled).toBe(false);
        expect(told.report.turns.every((turn) => turn.endMs >= turn.startMs && turn.text !== "")).toBe(true);
        const left = told.events.filter((event) => event.type === "voicemail-message-left");
        expect(left).toHaveLength(told.report.voicemailMessageLeft ? 1 : 0);
        expect(told.events.filter((event) => event.type === "opted-out")).toHaveLength(
          told.report.result.doNotCall ? 1 : 0,
        );
        const turns = told.events.flatMap((event) => (event.type === "turn-finished" ? [event.turn] : []));
        expect(turns.map((turn) => turn.seq)).toEqual(turns.map((_turn, i) => i + 1));
      },
    );
    expect(() => fc.assert(property, { numRuns: 300 })).not.toThrow();
  });

  it("an agent that is not to be interrupted is only cut for the callee's own good", () => {
    const talk = fc.tuple(atMs, fc.integer({ min: 20, max: 3000 })).map(([at, forMs]) => speaks(at, forMs));
    const keys = fc.tuple(atMs, fc.constantFrom("1", "2", "9")).map(([at, digits]) => presses(at, digits));
    const property = fc.property(fc.array(fc.oneof(talk, keys), { maxLength: 10 }), (callee) => {
      const told = tell(planOf({ script, maxCallMs: 100_000 }), callee);
      expect(told.effects.some(([, { type }]) => type === "pause" || type === "clear-playout")).toBe(false);
      expect(told.report.turns.some((turn) => turn.cutOff)).toBe(false);
    });
    expect(() => fc.assert(property, { numRuns: 150 })).not.toThrow();
  });
});

describe("whatever a line reports, in whatever order", () => {
  const speechId = fc.constantFrom("u1.1", "u1.2", "u2.1", "u3.1", "nonsense");
  const time = fc.oneof(fc.integer({ min: -10, max: 60_000 }), fc.constantFrom(NaN, Infinity, -1));
  const input: fc.Arbitrary<ConversationInput> = fc.oneof(
    fc.constant({ type: "answered", rtt: true } as const),
    fc.record({ type: fc.constant("callee-speech" as const), active: fc.boolean(), atMs: time }),
    fc.record({ type: fc.constant("beep" as const), atMs: time }),
    fc.record({ type: fc.constant("digit" as const), digit: fc.constantFrom("1", "x", "", "#") }),
    fc.record({ type: fc.constant("text" as const), text: fc.string() }),
    fc.record({
      type: fc.constant("heard" as const),
      kind: fc.constantFrom("partial" as const, "final" as const),
      text: fc.string(),
      startMs: time,
      endMs: time,
    }),
    fc.record({ type: fc.constant("speech-ready" as const), speechId }),
    fc.record({ type: fc.constant("speech-started" as const), speechId, atMs: time }),
    fc.record({ type: fc.constant("speech-played" as const), speechId }),
    fc.record({ type: fc.constant("speech-stopped" as const), speechId, playedMs: time, totalMs: time }),
    fc.record({
      type: fc.constant("dialog-acted" as const),
      generation: fc.integer({ min: 0, max: 5 }),
      act: fc.constantFrom(
        { type: "say", text: "Sí." } as const,
        { type: "ask", text: "", digits: ["1"] } as const,
        { type: "ask", text: "¿Qué?", digits: ["1"] } as const,
        { type: "pass" } as const,
        { type: "press", digits: "1" } as const,
        { type: "begin" } as const,
        { type: "say", text: "Y otra.", answerable: true, continues: true } as const,
        { type: "note", note: { success: true, followUp: true } } as const,
      ),
    }),
    fc.record({
      type: fc.constant("dialog-failed" as const),
      generation: fc.integer({ min: 0, max: 5 }),
      reason: fc.constant("429"),
    }),
    fc.record({ type: fc.constantFrom("turn-ending" as const, "turn-ended" as const), text: fc.string() }),
    fc.constant({ type: "turn-resumed" } as const),
    fc.constant({ type: "hearing-lost", reason: "gone" } as const),
  );
  const faculties = fc.record({
    revocable: fc.boolean(),
    endsTurns: fc.boolean(),
    streaming: fc.boolean(),
    finalWithinMs: fc.constantFrom(300, 2000),
  });

  it("a step never throws, plays only what was asked for, and never leaves a deadline behind", () => {
    const feeding = fc.array(fc.tuple(input, fc.integer({ min: 0, max: 3000 })));
    const property = fc.property(feeding, fc.option(faculties, { nil: {} }), (inputs, facts) => {
      const asked = new Set<string>();
      const note = (effects: readonly ConversationEffect[]): void => {
        for (const effect of effects) {
          if (effect.type === "synthesise") asked.add(effect.speechId);
          if (effect.type === "play") expect(asked).toContain(effect.speechId);
        }
      };
      const first = startConversation(planOf({ opening: "Hola." }, { interrupt: true }), facts);
      note(first.effects);
      let { state } = first;
      let now = 1_790_000_000_000.37;
      for (const [next, waitMs] of inputs) {
        now += waitMs + 0.13;
        const step = conversation.step(state, next, now);
        const over = conversation.isOver(state);
        if (over) expect(step.effects).toEqual([]);
        state = step.state;
        note(step.effects);
        if (!conversation.isOver(state)) expect(conversation.deadline(state)).toBeGreaterThan(now);
        expect(reportOf(state).turns.every((turn) => turn.endMs >= turn.startMs)).toBe(true);
      }
    });
    expect(() => fc.assert(property, { numRuns: 500 })).not.toThrow();
  });
});
