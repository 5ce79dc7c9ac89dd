import { silentLog } from "#host";
import type { PlaybookSettings } from "#domain";
import { describe, expect, test } from "vitest";
import { Renderer } from "../../src/lines/renderer.ts";
import { Voices, type ProvidedVoice } from "../../src/lines/voices.ts";
import { scriptedModel, scriptedSynthesizer, scriptedTranscriber } from "../support/scripted-voices.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { scriptPlan } from "./loopback-call.ts";

const clock = new VirtualClock();
const rendererOf = (synthesizer: ProvidedVoice["synthesizer"]): Renderer =>
  new Renderer({
    synthesizer,
    engine: synthesizer.engine,
    rateHz: 8000,
    parallel: 1,
    store: { find: () => undefined, keep: () => undefined },
  });
const embedded = rendererOf(scriptedSynthesizer(clock));

function setUp(voice: Partial<ProvidedVoice> = {}, failure?: Error) {
  const opened: string[] = [];
  const closed: string[] = [];
  let renderers = 0;
  const voices = new Voices({
    log: silentLog,
    now: () => 0,
    embedded,
    rendererFor: async (synthesizer) => {
      renderers++;
      return rendererOf(synthesizer);
    },
    openSource: ({ config }) => {
      const name = String(config["name"]);
      const provided = {
        transcriber: undefined,
        languageModel: undefined,
        synthesizer: scriptedSynthesizer(clock),
        ...voice,
      };
      opened.push(name);
      return {
        voice: async () => {
          if (failure !== undefined) throw failure;
          return provided;
        },
        [Symbol.asyncDispose]: async () => void closed.push(name),
      };
    },
  });
  const order = (name: string) => ({ config: { name }, secrets: {} });
  const plan = (settings: Partial<PlaybookSettings> = {}) =>
    scriptPlan({ start: "x", states: {} }, { script: undefined, ...settings });
  return { voices, opened, closed, order, plan, renderers: () => renderers };
}

describe("the voices of a worker", () => {
  test("without a configuration are the embedded ones", async () => {
    const t = setUp();
    const voice = await t.voices.voiceFor(t.plan({ opening: "Hi." }), undefined);
    expect(voice).toMatchObject({ transcriber: undefined, debriefer: undefined, renderer: embedded });
    expect(voice.dialog.revocable).toBeUndefined();
    expect(t.opened).toEqual([]);
  });

  test("each configuration is opened once for all calls, and closed when a newer one has taken its place", async () => {
    const t = setUp();
    const first = await t.voices.voiceFor(t.plan({ opening: "Hi." }), t.order("a"));
    const second = await t.voices.voiceFor(t.plan({ opening: "Hi." }), t.order("a"));
    expect(first.renderer).toBe(second.renderer);
    expect(t.renderers()).toBe(1);
    first.release();
    first.release();
    const third = await t.voices.voiceFor(t.plan({ opening: "Hi." }), t.order("b"));
    third.release();
    expect([t.opened, t.closed]).toEqual([["a", "b"], []]);
    second.release();
    expect(t.closed).toEqual(["a"]);
    await t.voices[Symbol.asyncDispose]();
    expect(t.closed).toEqual(["a", "b"]);
  });

  test("a prompt is the model's, a script is followed to the letter, and both are heard by the transcriber", async () => {
    const languageModel = scriptedModel(clock, []);
    const transcriber = scriptedTranscriber(clock, []);
    const t = setUp({ languageModel, transcriber });
    const prompted = await t.voices.voiceFor(t.plan({ prompt: "Be kind." }), t.order("a"));
    expect(prompted).toMatchObject({ transcriber, debriefer: languageModel, dialog: { revocable: true } });
    const scripted = await t.voices.voiceFor(
      t.plan({
        prompt: "Be kind.",
        script: { start: "x", states: { x: { say: "Hi.", end: { success: true } } } },
      }),
      t.order("a"),
    );
    expect(scripted).toMatchObject({ transcriber, debriefer: undefined });
    expect(scripted.dialog.revocable).toBeUndefined();
  });

  test("providers that cannot be used leave the call to what is built in, unless nothing there can hold it", async () => {
    const t = setUp({}, new Error("no key"));
    const voice = await t.voices.voiceFor(t.plan({ opening: "Hi." }), t.order("a"));
    expect(voice.renderer).toBe(embedded);
    await expect(t.voices.voiceFor(t.plan({ prompt: "Be kind." }), t.order("a"))).rejects.toMatchObject({
      code: "playbook-unsupported",
    });
  });

  test("a provider that is not there yet does not hold the ringing up", async () => {
    const languageModel = {
      ...scriptedModel(clock, []),
      warm: async () => Promise.reject(new Error("down")),
    };
    const t = setUp({ languageModel });
    const voice = await t.voices.voiceFor(t.plan({ prompt: "Be kind." }), t.order("a"));
    await expect(voice.warm(new AbortController().signal)).resolves.toBeUndefined();
  });
});
