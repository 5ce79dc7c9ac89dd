import { silentLog, systemEntropy } from "#host";
import { scriptDialog, type LanguageModel } from "#talk";
import { expect, onTestFinished, test } from "vitest";
import { CarriedCall } from "../../src/lines/carried-call.ts";
import { startPortDrain } from "../../src/lines/port-drain.ts";
import { Renderer } from "../../src/lines/renderer.ts";
import type { CallVoice } from "../../src/lines/voices.ts";
import { scriptedModel, scriptedSynthesizer } from "../support/scripted-voices.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { mediaTo, scriptPlan } from "./loopback-call.ts";

const judged = { outcome: "achieved", reason: "Pressed one.", quotes: ["1"] };

/** A call in which the callee has pressed a key; the model reads it over at its end. */
async function pressedCall(debriefer: (clock: VirtualClock) => LanguageModel) {
  const clock = new VirtualClock();
  clock.advance(1000);
  const drain = startPortDrain();
  let released = 0;
  const voice: CallVoice = {
    transcriber: undefined,
    dialog: scriptDialog(undefined, scriptPlan({ start: "x", states: {} }, { script: undefined })),
    debriefer: debriefer(clock),
    renderer: new Renderer({
      synthesizer: scriptedSynthesizer(clock),
      engine: "scripted",
      rateHz: 8000,
      parallel: 1,
      store: { find: () => undefined, keep: () => undefined },
    }),
    warm: async () => undefined,
    release: () => void released++,
  };
  const call = await CarriedCall.open(
    {
      callId: "c",
      attempt: 1,
      address: "127.0.0.1",
      plan: scriptPlan({ start: "x", states: { x: { ask: "Press.", digits: { "1": "x" } } } }),
      recordingPath: undefined,
      portRange: undefined,
    },
    { clock, entropy: systemEntropy, log: silentLog, drain, voiceFor: async () => voice },
    () => undefined,
  );
  onTestFinished(() => drain.close());
  call.connect(mediaTo({ address: "127.0.0.1", audioPort: 9 }));
  call.pressed("1");
  clock.advance(5000);
  return { call, clock, released: () => released };
}

const settled = async (): Promise<void> => {
  for (let i = 0; i < 50; i++) await new Promise(setImmediate);
};

/** One that does not even obey its signal. */
const mute = (): LanguageModel => ({
  ...scriptedModel(new VirtualClock(), []),
  object: async () => new Promise(() => {}),
});

test("a conversation is read over at its end, and its providers are given back", async () => {
  const t = await pressedCall((clock) => scriptedModel(clock, [], [{ summary: "She pressed one." }, judged]));
  const { conversation } = await t.call.close("callee");
  expect(conversation.result).toMatchObject({ success: true, summary: "She pressed one.", quotes: ["1"] });
  expect(t.released()).toBe(1);
});

test("for 20 s at most: then the report is what the conversation itself knew, and says so", async () => {
  const t = await pressedCall(mute);
  const closing = t.call.close("callee");
  await settled();
  t.clock.advance(20_000);
  const { conversation } = await closing;
  expect(conversation.result).toMatchObject({
    success: false,
    debriefProblem: "the model did not answer in time",
    summary: expect.stringContaining("pressed 1"),
  });
  expect(t.released()).toBe(1);
});

test("a program that stops does not wait for it", async () => {
  const t = await pressedCall(mute);
  const stopping = new AbortController();
  const closing = t.call.close("operator", stopping.signal);
  await settled();
  stopping.abort(new Error("the program is stopping"));
  expect((await closing).conversation.result.debriefProblem).toBe("the program is stopping");
});
