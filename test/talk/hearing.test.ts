import { describe, expect, it } from "vitest";
import { conversation, startConversation, type ConversationInput, type ConversationState } from "#talk";
import { planOf } from "./scenario.ts";

/** Steps a conversation with a transcriber through inputs at their times (ms since the answer). */
function hear(
  inputs: readonly (readonly [atMs: number, ConversationInput])[],
  facts: Parameters<typeof startConversation>[1] = {},
  untilMs = 9000,
): { state: ConversationState; effects: readonly string[] } {
  let { state } = startConversation(planOf({ opening: "Hola." }), {
    finalWithinMs: 600,
    revocable: true,
    ...facts,
  });
  const effects: string[] = [];
  const timed = [
    [0, { type: "answered", rtt: false }] as const,
    ...inputs,
    [untilMs, { type: "tick" }] as const,
  ];
  for (const [atMs, input] of timed) {
    const step = conversation.step(state, input, 1000 + atMs);
    state = step.state;
    effects.push(...step.effects.map(({ type }) => type));
  }
  return { state, effects };
}

const sound = (active: boolean, atMs: number): ConversationInput => ({ type: "callee-speech", active, atMs });
const words = (
  text: string,
  startMs: number,
  endMs: number,
  kind: "partial" | "final" = "final",
): ConversationInput => ({
  type: "heard",
  kind,
  text,
  startMs,
  endMs,
});
const said = ({ state }: { state: ConversationState }): readonly string[] =>
  state.turns
    .filter((turn) => turn.speaker === "callee")
    .map(({ text, startMs, endMs }) => `${startMs}-${endMs} ${text}`);

describe("what the callee says, as a transcriber hears it", () => {
  const pause = [
    [2060, sound(true, 2000)],
    [3200, sound(false, 3000)],
  ] as const;

  it("final words are asked for at each pause, unless the transcriber ends turns itself", () => {
    expect(hear(pause).effects).toContain("finalise-hearing");
    expect(hear(pause, { endsTurns: true }).effects).not.toContain("finalise-hearing");
  });

  it("ends with the sound, though the transcriber counts the pause in", () => {
    expect(said(hear([...pause, [3300, words("Sí, voy.", 1900, 3220)]]))).toEqual(["1900-3000 Sí, voy."]);
  });

  it("is not told twice when the final words come after the supposed ones were taken", () => {
    const late = [
      [2500, words("sí voy", 2000, 2500, "partial")],
      [4500, words("Sí, voy.", 2000, 3100)],
    ] as const;
    expect(said(hear([pause[0], late[0], pause[1], late[1]]))).toEqual(["2000-3000 sí voy"]);
  });

  it("words that come late for a sound without words are news", () => {
    expect(said(hear([...pause, [4500, words("Sí, voy.", 2000, 3000)]]))).toEqual([
      "2000-3000 [habla 1,0 s, sin transcripción]",
      "2000-3000 Sí, voy.",
    ]);
  });

  it("is over at once when the transcriber has listened to it and found no words", () => {
    const early = hear([...pause, [3350, words("", 3000, 3300)]], {}, 3710);
    expect(said(early)).toEqual(["2000-3000 [habla 1,0 s, sin transcripción]"]);
  });

  it("out of silence only a transcriber of whole recordings makes words", () => {
    const dream: readonly (readonly [number, ConversationInput])[] = [
      ...pause,
      [3300, words("Sí.", 2000, 3000)],
      [6000, words("Gracias por ver el vídeo.", 4000, 5000)],
    ] as const;
    expect(said(hear(dream, { streaming: false }))).toEqual(["2000-3000 Sí."]);
    expect(said(hear(dream))).toHaveLength(2);
  });

  it("a turn that the transcriber calls over is over, even on a line that is never silent", () => {
    const noisy = hear(
      [pause[0], [3100, words("Sí, voy.", 2000, 3000)], [3150, { type: "turn-ended", text: "Sí, voy." }]],
      { endsTurns: true },
    );
    expect(said(noisy)).toEqual(["2000-3150 Sí, voy."]);
  });

  it("a person who speaks at length is not taken for a voicemail once their words are known", () => {
    const long = hear([
      [1060, sound(true, 1000)],
      [6200, sound(false, 6000)],
      [6300, words("Mire, es que ahora mismo estoy conduciendo y no sé qué día es.", 1000, 6000)],
    ]);
    expect(long.state.screening.verdict).toMatchObject({ kind: "person", by: "transcript" });
    const machine = hear([
      [1060, sound(true, 1000)],
      [6200, sound(false, 6000)],
      [6300, words("Este es el buzón de voz de Juan. Deje su mensaje.", 1000, 6000)],
    ]);
    expect(machine.state.screening.verdict).toMatchObject({ kind: "voicemail", by: "transcript" });
  });
});
