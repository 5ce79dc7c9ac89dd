import { describe, expect, it } from "vitest";
import type { Script } from "#domain";
import { scriptDialog, unsupportedReason, type DialogAct } from "#talk";
import type { DialogCue } from "../../src/talk/ports.ts";
import { planOf } from "./scenario.ts";

const script: Script = {
  start: "hello",
  states: {
    hello: { say: "Hola {{nombre}}.", goto: "rate" },
    rate: {
      ask: "¿Nota del 1 al 3?",
      digits: { "1": "why", "2": "why", "3": "bye" },
      text: { "tres|muy bien": "bye" },
    },
    why: { ask: "¿Por qué?", goto: "bye" },
    bye: {
      say: "Adiós.",
      end: {
        success: true,
        output: { nota: "{{answer.rate}}", por: ["{{answer.why}}"], n: 1, __proto__x: "{{__proto__}}" },
      },
    },
  },
};
const plan = planOf({ script }, { params: { nombre: "Ana" } });

async function ask(
  model: ReturnType<typeof scriptDialog>,
  cue: DialogCue,
  abortAt?: number,
): Promise<readonly DialogAct[]> {
  const abort = new AbortController();
  const acts: DialogAct[] = [];
  if (abortAt === 0) abort.abort();
  for await (const act of model.answer({ cue, turns: [] }, abort.signal)) {
    acts.push(act);
    if (acts.length === abortAt) abort.abort();
  }
  return acts;
}
const answer = (text: string, via: "dtmf" | "rtt" | "voice" = "dtmf"): DialogCue => ({
  type: "answer",
  text,
  via,
});

describe("a script as a dialog model", () => {
  it("speaks through to the first question", async () => {
    expect(await ask(scriptDialog(script, plan), { type: "start" })).toEqual([
      { type: "say", text: "Hola Ana.", step: "hello" },
      { type: "ask", text: "¿Nota del 1 al 3?", step: "rate", digits: ["1", "2", "3"] },
    ]);
  });

  it("fills its output with every state's own answer", async () => {
    const model = scriptDialog(script, plan);
    await ask(model, { type: "start" });
    await ask(model, answer("2"));
    const acts = await ask(model, answer("{{nombre}}", "rtt"));
    expect(acts.at(-1)).toMatchObject({
      type: "end",
      result: {
        success: true,
        output: { nota: "2", por: ["{{nombre}}"], n: 1, __proto__x: "" },
        summary: "",
      },
    });
  });

  it("understands words, whole ones, and digits that are typed", async () => {
    for (const [text, step] of [
      ["Muy bien, gracias", "bye"],
      ["TRES", "bye"],
      [" 3 ", "bye"],
      ["trescientos", "rate"],
    ] as const) {
      const model = scriptDialog(script, plan);
      await ask(model, { type: "start" });
      expect((await ask(model, answer(text, "rtt")))[0]).toMatchObject({ step });
    }
  });

  it("asks again once by default, then gives up without success", async () => {
    const model = scriptDialog(script, plan);
    await ask(model, { type: "start" });
    expect(await ask(model, answer("9"))).toMatchObject([{ type: "ask", text: "¿Nota del 1 al 3?" }]);
    expect(await ask(model, answer("9"))).toMatchObject([
      { type: "end", result: { success: false, output: {} } },
    ]);
  });

  it("keeps listening when it hears speech it cannot know", async () => {
    const model = scriptDialog(script, plan);
    await ask(model, { type: "start" });
    const sound: DialogCue = { type: "wordless-speech", durationMs: 800 };
    expect(await ask(model, sound)).toMatchObject([{ type: "ask", text: "¿Nota del 1 al 3?" }]);
    expect(await ask(model, sound)).toMatchObject([{ type: "ask", text: "", digits: ["1", "2", "3"] }]);
    expect(await ask(model, answer("3"))).toMatchObject([{ type: "say", text: "Adiós." }, { type: "end" }]);
  });

  it("passes over a silence it has no state for, after asking again", async () => {
    const model = scriptDialog(script, plan);
    await ask(model, { type: "start" });
    expect(await ask(model, { type: "silence", round: 1 })).toMatchObject([
      { text: "¿Sigue ahí? ¿Nota del 1 al 3?" },
    ]);
    expect(await ask(model, { type: "silence", round: 2 })).toEqual([{ type: "pass" }]);
  });

  it("stays where it was when its answer is aborted", async () => {
    const model = scriptDialog(script, plan);
    await ask(model, { type: "start" });
    expect(await ask(model, answer("3"), 1)).toHaveLength(1);
    expect(await ask(model, answer("3"), 0)).toHaveLength(0);
    expect(await ask(model, answer("9"))).toMatchObject([{ type: "ask", step: "rate" }]);
  });

  it("whose states are gone or go round in circles ends instead of talking for ever", async () => {
    const circle: Script = {
      start: "a",
      states: { a: { say: "A.", goto: "b" }, b: { say: "B.", goto: "a" } },
    };
    const lost: Script = { start: "constructor", states: {} };
    expect((await ask(scriptDialog(circle, plan), { type: "start" })).map((act) => act.type)).toEqual([
      "say",
      "say",
      "end",
    ]);
    expect((await ask(scriptDialog(lost, plan), { type: "start" })).map((act) => act.type)).toEqual(["end"]);
  });

  it("that is absent leaves an announcement, which is over when its opening is", async () => {
    expect(await ask(scriptDialog(undefined, plan), { type: "start" })).toMatchObject([
      { type: "end", result: { success: true } },
    ]);
  });
});

describe("what cannot be held without a language model", () => {
  it("is a prompt alone, and the reason names the way out", () => {
    expect(unsupportedReason(planOf({ prompt: "Be kind." }))).toMatch(
      /"test" has only a prompt.*add a script or an opening/,
    );
  });

  it.each([[{ script }], [{ opening: "Hola.", prompt: "Be kind." }]])("is not %j", (settings) => {
    expect(unsupportedReason(planOf(settings))).toBeUndefined();
  });
});
