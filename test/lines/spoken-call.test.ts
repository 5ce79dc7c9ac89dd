import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { holdCall, type SpokenScenario } from "./spoken-call.ts";

const opening = "Hello Ana, this is the clinic.";
const bye = {
  text: "Thank you, goodbye.",
  calls: [{ name: "end_call", arguments: { reason: "done", success: true } }],
};
const question = { text: "I call about your appointment of tomorrow at ten in the morning. Will you come?" };
const says = (atMs: number, text: string, wordMs?: number) =>
  ({ type: "says", atMs, text, ...(wordMs !== undefined && { wordMs }) }) as const;
const call = async (scenario: Partial<SpokenScenario>) =>
  holdCall({ settings: { opening }, callee: [], replies: [question], ...scenario });

describe("a conversation held by a language model", () => {
  test("goes to and fro, is asked as soon as the callee pauses, and ends with what the model said and noted", async () => {
    const told = await call({
      callee: [says(2500, "Yes, who is it?"), says(9000, "I will come.")],
      replies: [question, bye],
    });
    expect(told.transcript).toEqual([
      "agent 20-1500: Hello Ana, this is the clinic.",
      "callee 2500-3500: Yes, who is it?",
      expect.stringMatching(
        /^agent 4\d\d\d-.*: I call about your appointment of tomorrow at ten in the morning\. Will you come\?$/,
      ),
      expect.stringMatching(/^callee 9000-97[56]0: I will come\.$/),
      expect.stringMatching(/^agent .*: Thank you, goodbye\.$/),
    ]);
    expect(told.model.asked).toHaveLength(2);
    expect(told.model.asked[1]).toEqual([
      "callee: [The callee has picked up the telephone.]",
      "agent: Hello Ana, this is the clinic.",
      "callee: Yes, who is it?",
      "agent: I call about your appointment of tomorrow at ten in the morning. Will you come?",
      "callee: I will come.",
    ]);
    expect(told.report).toMatchObject({ endedBy: "agent", result: { success: true } });
    expect(told.finishedAtMs).toBeLessThan(13_000);
  });

  test("what each reply took is told step by step, what others took apart from what we did", async () => {
    const told = await call({ callee: [says(2500, "Yes, who is it?")], firstAudioMs: 120, untilMs: 9000 });
    const [timing] = told.report.timings ?? [];
    expect(timing).toMatchObject({ seq: 3, speechEndMs: 3500 });
    const { endOfTurnMs, firstTextMs, firstAudioMs = 0, firstPacketMs, ownMs, firstTokenMs = 0 } = timing!;
    expect(firstTokenMs).toBeLessThan(firstTextMs);
    expect(firstAudioMs - firstTextMs).toBe(120);
    expect(ownMs).toBe(firstPacketMs - firstAudioMs);
    expect(ownMs).toBeLessThanOrEqual(40);
    expect(endOfTurnMs).toBeGreaterThan(3500);
    const turn = told.events.find((event) => event.type === "turn-finished" && event.turn.seq === 3);
    expect(turn).toMatchObject({ timing: { firstPacketMs } });
  });

  test("without an opening the model greets, and its greeting is ready before anyone picks up", async () => {
    const told = await call({ settings: {}, replies: [{ text: "Good morning Ana." }], untilMs: 2000 });
    expect(told.transcript).toEqual(["agent 20-860: Good morning Ana."]);
    expect(told.model.asked[0]!.at(-1)).toContain("Greet the callee");
  });

  test("silence is answered by the usual prompts and then a goodbye, and costs the model nothing", async () => {
    const told = await call({ untilMs: 40_000 });
    expect(told.transcript.map((line) => line.replace(/^.*?: /, ""))).toEqual([
      opening,
      "Are you still there?",
      "Thank you for your time. Goodbye.",
    ]);
    expect(told.report.endedBy).toBe("silence");
    expect(told.model.asked).toHaveLength(0);
  });

  test("a long answer is one turn", async () => {
    const text = Array.from({ length: 80 }, (_, i) => `word${i}`).join(" ");
    const told = await call({ callee: [says(2500, text)], replies: [{ text: "I see." }] });
    expect(told.transcript[1]).toBe(`callee 2500-22500: ${text}`);
    expect(told.model.asked.at(-1)!.at(-1)).toBe(`callee: ${text}`);
  });
});

describe("whose turn it is", () => {
  test.each([
    ["a whole sentence", "I will come.", 150],
    ["a phrase", "I will come", 300],
    ["a number", "Room 12", 600],
    ["a hesitation", "I will um", 1200],
  ])("%s: the agent waits as long as it sounds unfinished", async (_what, text, pauseMs) => {
    const told = await call({ callee: [says(2500, text)], ears: { finalAfterMs: 20 }, untilMs: 8000 });
    const { endOfTurnMs = 0, speechEndMs = 0 } = told.report.timings?.[0] ?? {};
    // The detector itself needs 200 ms, the words 20 more.
    expect(endOfTurnMs - speechEndMs).toBeGreaterThanOrEqual(Math.max(pauseMs, 220));
    expect(endOfTurnMs - speechEndMs).toBeLessThanOrEqual(Math.max(pauseMs, 220) + 60);
  });

  test("a transcriber that ends turns itself is believed, and 2.5 s are the longest wait for it", async () => {
    const quick = await call({
      callee: [says(2500, "I will um")],
      ears: { endsTurns: true, finalAfterMs: 100 },
      untilMs: 8000,
    });
    const waitOf = ({ report }: typeof quick): number =>
      (report.timings?.[0]?.endOfTurnMs ?? 0) - (report.timings?.[0]?.speechEndMs ?? 0);
    expect(waitOf(quick)).toBeLessThanOrEqual(140);
    const slow = await call({
      callee: [says(2500, "I will come.")],
      ears: { endsTurns: true, finalAfterMs: 9000 },
      untilMs: 9000,
    });
    expect(waitOf(slow)).toBeGreaterThanOrEqual(2500);
    expect(waitOf(slow)).toBeLessThanOrEqual(2560);
  });

  test("an early hint that the turn may be over has the model asked, and nothing is lost when it was wrong", async () => {
    const told = await call({
      callee: [says(2500, "Tell me who you are.")],
      ears: { endsTurns: true, eagerAfterMs: 40, finalAfterMs: 400 },
      untilMs: 8000,
    });
    expect(told.report.timings?.[0]?.firstTokenMs).toBeLessThan(told.report.timings?.[0]?.endOfTurnMs ?? 0);
    expect(told.model.asked).toHaveLength(1);
  });

  test("an answer to half of what the callee says is taken back before a word of it was spoken", async () => {
    const told = await call({
      callee: [says(2500, "I want to know"), says(4300, "who gave you my number.")],
      replies: (words) => ({
        text: words.includes("number") ? "You did." : "Ask me anything.",
        firstTokenMs: 1500,
      }),
      untilMs: 11_000,
    });
    expect(told.transcript.filter((line) => line.startsWith("agent"))).toEqual([
      "agent 20-1500: Hello Ana, this is the clinic.",
      expect.stringMatching(/: You did\.$/),
    ]);
    expect(told.model.asked.at(-1)!.at(-1)).toBe("callee: I want to know\nwho gave you my number.");
    expect(told.model.aborted).toBeGreaterThan(0);
  });

  test("the model is asked ahead three times a turn at most", async () => {
    const parts = [0, 1, 2, 3, 4, 5].map((i) => says(2500 + i * 800, "then I and", 150));
    const told = await call({
      callee: parts,
      ears: { finalAfterMs: 20 },
      replies: [{ text: "Well.", firstTokenMs: 3000 }],
    });
    expect(told.model.asked.length).toBeLessThanOrEqual(4);
    expect(told.report.turns.filter((turn) => turn.speaker === "callee")).toHaveLength(1);
  });
});

describe("both speak at once", () => {
  const story = {
    text: "Your appointment is tomorrow at ten in the morning with the doctor you saw in spring. Please be on time.",
  };

  test("an interruption in words cuts the agent, and the model is told only what was heard", async () => {
    const told = await call({
      interrupt: true,
      callee: [says(2500, "Who is it?"), says(6000, "No wait, I cannot come then.")],
      replies: (words) => (words.includes("cannot") ? { text: "I see." } : story),
    });
    const cut = told.report.turns.find((turn) => turn.cutOff)!;
    expect(cut.text).toMatch(/^Your appointment is tomorrow/);
    expect(cut.text).not.toContain("spring");
    expect(cut.endMs).toBeLessThan(6700);
    const last = told.model.asked.at(-1)!;
    expect(last.at(-2)).toBe(`agent: ${cut.text} —`);
    expect(last.at(-1)).toBe("callee: No wait, I cannot come then.");
  });

  test("a listener's yes does not: the agent goes on where it was", async () => {
    const told = await call({
      interrupt: true,
      callee: [says(2500, "Who is it?"), says(5500, "yes", 400)],
      replies: [story],
      untilMs: 12_000,
    });
    expect(told.report.turns.some((turn) => turn.cutOff)).toBe(false);
    expect(told.report.turns.find((turn) => turn.text === "yes")).toMatchObject({ overlap: true });
    expect(told.model.asked).toHaveLength(1);
  });

  test("one word that asks for the floor gets it, although it is over at once", async () => {
    const told = await call({
      interrupt: true,
      callee: [says(2500, "Who is it?"), says(5500, "wait", 400)],
      replies: [story, { text: "Yes?" }],
      untilMs: 12_000,
    });
    expect(told.report.turns.find((turn) => turn.cutOff)?.text).toMatch(/^Your appointment/);
    expect(told.transcript.at(-1)).toMatch(/: Yes\?$/);
  });

  test("an agent that is not to be interrupted finishes; what was said into it is kept and not answered", async () => {
    const told = await call({
      callee: [says(2500, "Who is it?"), says(5500, "I cannot come then.")],
      replies: [story],
      untilMs: 12_000,
    });
    expect(told.report.turns.some((turn) => turn.cutOff)).toBe(false);
    expect(told.report.turns.find((turn) => turn.text.startsWith("I cannot"))).toMatchObject({
      overlap: true,
    });
    expect(told.model.asked).toHaveLength(1);
  });

  test("never call me again counts whoever is speaking", async () => {
    const told = await call({
      callee: [says(2500, "Who is it?"), says(5500, "Stop calling me please.")],
      replies: [story],
    });
    expect(told.report.result.doNotCall).toBe(true);
    expect(told.transcript.at(-1)).toMatch(/we will not call you again/);
  });
});

describe("a provider that fails", () => {
  const callee = [says(2500, "Who is it?")];
  const agentSaid = (told: Awaited<ReturnType<typeof call>>): readonly string[] =>
    told.report.turns.filter((turn) => turn.speaker === "agent").map((turn) => turn.text);

  test("a model without a first word for 4 s is asked again behind a filler", async () => {
    const told = await call({ callee, replies: [{ firstTokenMs: Infinity }, question], untilMs: 15_000 });
    expect(agentSaid(told)).toEqual([opening, "One moment, please.", question.text]);
    expect(told.events.filter((event) => event.type === "dialog-asked-again")).toHaveLength(1);
    expect(told.model.aborted).toBe(1);
  });

  test("a refusal (429) is tried once more after a second, and the second one closes the call with an apology", async () => {
    const refusal = { fails: new Error("429: too many requests"), firstTokenMs: 50 };
    const once = await call({ callee, replies: [refusal, refusal, question], untilMs: 15_000 });
    expect(agentSaid(once)).toEqual([opening, "One moment, please.", question.text]);
    const always = await call({ callee, replies: [refusal] });
    expect(agentSaid(always).at(-1)).toBe("I am sorry, something went wrong. Goodbye.");
    expect(always.report.result).toMatchObject({ success: false, summary: expect.stringContaining("429") });
    expect(always.finishedAtMs).toBeLessThan(12_000);
  });

  test("an answer that breaks off is left as it is, and the callee has the floor", async () => {
    const told = await call({
      callee: [...callee, says(9000, "Hello?")],
      replies: [{ ...question, breaksAfter: 14 }, { text: "I am here." }],
      untilMs: 13_000,
    });
    expect(agentSaid(told)).toEqual([
      opening,
      "I call about your appointment of tomorrow at ten in the morning.",
      "I am here.",
    ]);
  });

  test("a model that says nothing is asked again, and then the call is closed: nobody is left in silence", async () => {
    const told = await call({ callee, replies: [{}] });
    expect(agentSaid(told).at(-1)).toBe("I am sorry, something went wrong. Goodbye.");
  });

  test("a transcriber's dropped connection is replaced, and what was said meanwhile is heard", async () => {
    const told = await call({
      callee: [says(2500, "Who is it?")],
      ears: { breaksAtMs: [2400] },
      untilMs: 9000,
    });
    expect(told.transcriber.opened).toBe(2);
    expect(told.transcript[1]).toMatch(/^callee 2500-32[56]0: Who is it\?$/);
    expect(told.events.some((event) => event.type === "hearing-lost")).toBe(false);
  });

  test("one that cannot be had is given up after two more tries: the callee is told, and keys still answer", async () => {
    const told = await call({
      callee: [says(5000, "Who is it?"), { type: "presses", atMs: 16_000, digits: "1" }],
      ears: { breaksAtMs: [2000, 2500, 3200] },
      replies: (words) => (words.includes("presses 1") ? bye : { text: "Press one if you will come." }),
      untilMs: 25_000,
    });
    expect(told.transcriber.opened).toBe(3);
    expect(told.events.filter((event) => event.type === "hearing-lost")).toHaveLength(1);
    expect(agentSaid(told)[1]).toMatch(/^I am sorry, I cannot hear you well/);
    expect(told.model.asked[0]!.at(-1)).toContain("only keys");
    expect(told.report.result.success).toBe(true);
  });
});

describe("what the model does besides speaking", () => {
  test("is noted however the call ends, and shown to it again", async () => {
    const told = await call({
      settings: { opening, prompt: "Transfers: +34 600 111 222." },
      callee: [says(2500, "Who is it?"), says(8000, "Call me tomorrow."), { type: "hangs-up", atMs: 13_000 }],
      replies: [
        {
          text: "The clinic. Shall I note it?",
          calls: [
            { name: "mark_result", arguments: { success: true, output: { confirmed: true } } },
            { name: "transfer", arguments: { to: "+34600111222" } },
          ],
        },
        {
          text: "I will.",
          calls: [{ name: "schedule_callback", arguments: { at: "1970-01-02T10:00:00+01:00" } }],
        },
      ],
    });
    expect(told.report.endedBy).toBe("callee");
    expect(told.report.result).toMatchObject({
      success: true,
      output: { confirmed: true },
      followUp: true,
      callbackAt: "1970-01-02T10:00:00+01:00",
      transferTo: "+34600111222",
    });
    expect(told.model.asked.at(-1)!.at(-1)).toContain('"confirmed":true');
  });

  test("a tool alone is followed by another question to the model", async () => {
    const told = await call({
      callee: [says(2500, "For the office press two.")],
      replies: [{ calls: [{ name: "send_dtmf", arguments: { digits: "2" } }] }, { text: "Hello there." }],
      untilMs: 8000,
    });
    expect(told.digitsSent).toEqual(["2"]);
    expect(told.model.asked[1]!.at(-1)).toBe("tool: pressed");
    expect(told.transcript.at(-1)).toMatch(/: Hello there\.$/);
  });

  test("an opt-out is spoken in our own words and ends the call", async () => {
    const told = await call({
      callee: [says(2500, "I am not interested at all.")],
      replies: [{ text: "Sorry.", calls: [{ name: "opt_out" }] }],
    });
    expect(told.report.result.doNotCall).toBe(true);
    expect(told.transcript.at(-1)).toMatch(/All right, we will not call you again\. Goodbye\.$/);
  });

  test("a model that is hostile in every way can only speak and use the tools, and the call still ends", async () => {
    const name = fc.oneof(
      fc.constantFrom(
        "end_call",
        "send_dtmf",
        "mark_result",
        "ask_human",
        "schedule_callback",
        "transfer",
        "constructor",
      ),
      fc.string({ maxLength: 8 }),
    );
    const reply = fc.record({
      text: fc.oneof(
        fc.string({ maxLength: 300 }),
        fc.constantFrom("", "\u0000\b\u2028", "a. ".repeat(2000), "<think>never ends"),
      ),
      calls: fc.array(
        fc.record({
          name,
          arguments: fc.oneof(
            fc.anything(),
            fc.object(),
            fc.record({
              digits: fc.string(),
              to: fc.string(),
              at: fc.string(),
              success: fc.anything(),
              output: fc.object(),
            }),
          ),
        }),
        { maxLength: 3 },
      ),
      firstTokenMs: fc.constantFrom(0, 100, 5000, Infinity),
      wordMs: fc.constant(0),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(reply, { minLength: 1, maxLength: 4 }), async (replies) => {
        const told = await call({
          settings: { opening, maxCallMs: 20_000 },
          callee: [says(2500, "Who is it?"), says(9000, "I cannot come then.")],
          replies,
          charMs: 10,
          untilMs: 40_000,
        });
        const { result } = told.report;
        expect(told.lost).toBe(false);
        expect(told.finishedAtMs).toBeLessThanOrEqual(36_000);
        expect(told.digitsSent.every((digits) => /^[0-9*#]{1,32}$/.test(digits))).toBe(true);
        expect(result.transferTo).toBeUndefined();
        expect(result.doNotCall).toBe(false);
        expect(typeof result.success).toBe("boolean");
        expect(Object.getPrototypeOf(result.output)).toBe(Object.prototype);
        expect(() => structuredClone(told.report)).not.toThrow();
        // eslint-disable-next-line no-control-regex
        expect(told.report.turns.some((turn) => /[\u0000-\u001f]/.test(turn.text))).toBe(false);
      }),
      { numRuns: 25 },
    );
  });
});
