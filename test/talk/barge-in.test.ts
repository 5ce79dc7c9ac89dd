import { describe, expect, it } from "vitest";
import type { Script } from "#domain";
import { does, planOf, presses, says, speaks, tell, types, type Told } from "./scenario.ts";

const script: Script = {
  start: "intro",
  states: {
    intro: { say: "Le llamo por su cita de mañana a las diez de la mañana con el doctor.", goto: "q" },
    q: {
      ask: "¿Viene? Pulse uno para confirmar o dos para anular la cita.",
      digits: { "1": "yes" },
      text: { sí: "yes" },
      otherwise: "no",
    },
    yes: { say: "Gracias.", end: { success: true } },
    no: { say: "De acuerdo.", end: { success: false } },
  },
};
const plan = planOf({ script }, { interrupt: true });
const playout = (told: Told): readonly (readonly [number, string])[] =>
  told.effects
    .filter(([, { type }]) => ["play", "pause", "resume", "clear-playout"].includes(type))
    .map(([atMs, { type }]) => [atMs, type] as const);

describe("an agent that may be interrupted", () => {
  it("pauses after 240 ms of speech and goes on from there 1200 ms after a false alarm", () => {
    const told = tell(plan, [speaks(1600, 350)], { untilMs: 6000 });
    expect(playout(told).slice(0, 3)).toEqual([
      [0, "play"],
      [1840, "pause"],
      [3150, "resume"],
    ]);
    expect(told.transcript[0]).toBe(
      "agent 0-4760: Le llamo por su cita de mañana a las diez de la mañana con el doctor.",
    );
    expect(told.transcript[1]).toBe("callee 1600-1950 overlap: [habla 0,3 s, sin transcriptor]");
  });

  it("does not even pause for a click", () => {
    expect(playout(tell(plan, [speaks(1600, 30)], { untilMs: 3000 }))).toEqual([[0, "play"]]);
  });

  it("gives up the floor after 600 ms and keeps only the words that were played", () => {
    const told = tell(plan, [speaks(1600, 1500)], { untilMs: 5000 });
    expect(playout(told).slice(0, 3)).toEqual([
      [0, "play"],
      [1840, "pause"],
      [2200, "clear-playout"],
    ]);
    expect(told.transcript[0]).toBe("agent 0-1840 cut: Le llamo por su cita de mañana a las");
    expect(told.report.turns[0]).toMatchObject({ cutOff: true });
    expect(told.transcript[1]).toBe("callee 1600-3100: [habla 1,5 s, sin transcriptor]");
  });

  it("goes on to the question, politely, when what was cut was no question", () => {
    const told = tell(plan, [speaks(1600, 1500)], { untilMs: 12_000 });
    expect(told.transcript[2]).toBe(
      "agent 3800-6700: ¿Viene? Pulse uno para confirmar o dos para anular la cita.",
    );
  });

  it("does not let itself be kept silent for ever", () => {
    const told = tell(plan, [speaks(100, 400), speaks(1600, 60_000)], { untilMs: 12_000 });
    expect(playout(told).filter(([, type]) => type === "play")[1]).toEqual([6200, "play"]);
  });

  it("takes words during the question as its answer", () => {
    const told = tell(plan, [speaks(100, 500), says(5200, 700, "Sí, sí, vengo.")], { finalWithinMs: 1000 });
    expect(told.transcript).toContain("callee 5200-5900: Sí, sí, vengo.");
    expect(told.transcript.at(-1)).toMatch(/: Gracias\.$/);
  });

  it("lets two words count at once, but not those of a listener", () => {
    const partial = (text: string): ReturnType<typeof does> =>
      does(2000, { type: "heard", kind: "partial", text, startMs: 1600, endMs: 1950 });
    const options = { finalWithinMs: 1000, untilMs: 2500 };
    const cut = (text: string): number | undefined =>
      playout(tell(plan, [speaks(1600, 1300), partial(text)], options)).find(
        ([, type]) => type === "clear-playout",
      )?.[0];
    expect(cut("espere un")).toBe(2000);
    expect(cut("espere")).toBe(2200);
    expect(cut("sí sí")).toBeUndefined();
  });

  it("is cut by a key at once, and the key answers the question it was pressed in", () => {
    const told = tell(plan, [presses(4500, "1")]);
    expect(told.transcript.slice(1, 3)).toEqual([
      "agent 3450-4500 cut: ¿Viene? Pulse uno para",
      "callee 4500-4500: 1",
    ]);
    expect(told.report.result.success).toBe(true);
  });

  it("a key before the question only skips to it", () => {
    const told = tell(plan, [presses(1000, "1")], { untilMs: 5000 });
    expect(told.transcript[0]).toBe("agent 0-1000 cut: Le llamo por su cita");
    expect(told.effects.filter(([, { type }]) => type === "ask-dialog")).toHaveLength(1);
  });

  it("is cut by a typed line", () => {
    const told = tell(plan, [types(4400, "sí\u2028")], { rtt: true });
    expect(told.report.turns.filter((turn) => turn.cutOff)).toHaveLength(1);
    expect(told.report.result.success).toBe(true);
  });

  it("does not let its goodbye be cut", () => {
    const told = tell(planOf({ script, maxCallMs: 1000 }, { interrupt: true }), [speaks(1600, 2000)]);
    expect(told.transcript[1]).toBe("agent 1050-2450: Gracias por su tiempo. Adiós.");
  });

  it("answers no later than the callee can be heard to have finished", () => {
    const told = tell(plan, [says(8000, 500, "sí.")], { finalWithinMs: 2000 });
    expect(told.transcript.at(-1)).toMatch(/^agent 8850-/);
  });
});

describe("a dialog whose words may be answered at any time", () => {
  const act = (atMs: number, text: string): ReturnType<typeof does> =>
    does(atMs, { type: "dialog-acted", generation: 1, act: { type: "say", text, answerable: true } });
  const told = tell(
    planOf({}, { interrupt: true }),
    [
      act(0, "Tengo que contarle una historia muy larga."),
      act(10, "Y otra."),
      says(1600, 900, "Espere, no tengo tiempo."),
    ],
    { dialogAnswers: false, finalWithinMs: 1000, untilMs: 5000 },
  );

  it("is broken off, what it had not said is dropped, and it is asked about what it heard", () => {
    expect(told.effects).toContainEqual([2200, { type: "abort-dialog", generation: 1 }]);
    expect(told.effects).toContainEqual([2200, { type: "discard", speechId: "u2.1" }]);
    const asked = told.effects.findLast(([, { type }]) => type === "ask-dialog")?.[1];
    expect(asked).toMatchObject({
      turn: { cue: { type: "answer", text: "Espere, no tengo tiempo.", via: "voice" } },
    });
  });

  it("is told only the words that were really heard", () => {
    const asked = told.effects.findLast(([, { type }]) => type === "ask-dialog")?.[1];
    const turns = asked?.type === "ask-dialog" ? asked.turn.turns : [];
    expect(turns[0]).toMatchObject({
      speaker: "agent",
      cutOff: true,
      text: "Tengo que contarle una historia muy",
    });
  });
});
