import { describe, expect, it } from "vitest";
import type { Script } from "#domain";
import { noteAnswer } from "../../src/talk/answers.ts";
import { does, hangsUp, planOf, presses, says, speaks, tell, types } from "./scenario.ts";

const script: Script = {
  start: "q",
  states: {
    q: {
      ask: "¿Viene mañana? Pulse 1 o 2.",
      digits: { "1": "yes", "2": "no" },
      text: { "sí|claro": "yes" },
      otherwise: "no",
    },
    yes: {
      say: "Gracias, {{nombre}}.",
      end: { success: true, output: { viene: "{{answer}}", de: "{{nombre}}" } },
    },
    no: { say: "De acuerdo.", end: { success: false } },
  },
};
const opening = "Hola, le llamo de la clínica.";
const plan = planOf({ opening, script }, { params: { nombre: "Ana" } });

describe("the first words", () => {
  it("are synthesised while the phone rings and played in the moment of the answer", () => {
    const told = tell(plan, []);
    const ringing = told.effects.filter(([atMs]) => atMs === 0).map(([, effect]) => effect);
    expect(ringing[0]).toEqual({ type: "synthesise", speechId: "u1.1", text: opening, priority: "now" });
    expect(ringing.filter((effect) => effect.type === "synthesise").map((effect) => effect.text)).toEqual([
      opening,
      "¿Viene mañana?",
      "Pulse 1 o 2.",
    ]);
    expect(ringing.at(-1)).toMatchObject({
      type: "publish",
      event: { type: "first-word", afterAnswerMs: 0 },
    });
    expect(told.report.firstWordMs).toBe(0);
  });

  it("are the script's own when there is no opening", () => {
    const told = tell(planOf({ script }), [], { untilMs: 1000 });
    expect(told.effects[0]?.[1]).toMatchObject({
      type: "ask-dialog",
      generation: 1,
      turn: { cue: { type: "start" } },
    });
    expect(told.effects[1]?.[1]).toMatchObject({
      type: "synthesise",
      text: "¿Viene mañana?",
      priority: "now",
    });
    expect(told.effects.find(([, effect]) => effect.type === "play")).toEqual([
      0,
      { type: "play", speechId: "u1.1" },
    ]);
  });

  it("wait for nobody: neither for a verdict nor for a callee who speaks at once", () => {
    const told = tell({ ...plan, interrupt: true }, [speaks(20, 900)], { untilMs: 2000 });
    expect(told.report.firstWordMs).toBe(0);
    expect(told.effects.some(([, effect]) => effect.type === "pause")).toBe(false);
    expect(told.transcript).toContain("callee 20-920 overlap: [habla 0,9 s, sin transcriptor]");
  });

  it("come as soon as they are synthesised when that takes longer than the ringing", () => {
    const told = tell(plan, [], { synthesisMs: 1700, untilMs: 5000 });
    expect(told.report.firstWordMs).toBe(700);
  });

  it("are counted from their first packet", () => {
    const told = tell(plan, [does(40, { type: "speech-started", speechId: "u1.1", atMs: 30 })], {
      untilMs: 1500,
    });
    expect(told.report.turns[0]).toMatchObject({ speaker: "agent", startMs: 30, endMs: 1450 });
  });
});

describe("a script told to its end", () => {
  const told = tell(plan, [speaks(100, 600), presses(4000, "1")]);

  it("says each thing once, in order, and nothing at once", () => {
    expect(told.transcript).toEqual([
      "agent 0-1450: Hola, le llamo de la clínica.",
      "callee 100-700 overlap: [habla 0,6 s, sin transcriptor]",
      "agent 1450-2750: ¿Viene mañana? Pulse 1 o 2.",
      "callee 4000-4000: 1",
      "agent 4050-4700: Gracias, Ana.",
    ]);
    expect(told.doubled).toBe(false);
  });

  it("reports the script's result with its values filled in", () => {
    expect(told.report).toMatchObject({
      verdict: { kind: "person", by: "dtmf", atMs: 4000 },
      result: { success: true, output: { viene: "1", de: "Ana" }, followUp: false, doNotCall: false },
      endedBy: "agent",
      voicemailMessageLeft: false,
    });
    expect(told.report.result.summary).toBe("Contestó una persona; pulsó 1; 5 s.");
  });

  it("hangs up once, last, and a breath after the last word", () => {
    expect(told.finishedAtMs).toBe(5000);
    expect(told.effects.at(-1)?.[1]).toEqual({ type: "finish" });
    expect(told.effects.filter(([, effect]) => effect.type === "finish")).toHaveLength(1);
  });

  it("publishes each turn as it ends, numbered", () => {
    const turns = told.events.flatMap((event) => (event.type === "turn-finished" ? [event.turn] : []));
    expect(turns.map((turn) => turn.seq)).toEqual([1, 2, 3, 4, 5]);
    expect(turns.map((turn) => turn.via)).toEqual(["none", "voice", "voice", "dtmf", "voice"]);
  });

  it("gives the script's own summary when it has one", () => {
    const end = { success: true, summary: "Pulsó {{answer}}." };
    const states = { ...script.states, yes: { say: "Gracias.", end } };
    const own = tell(planOf({ script: { ...script, states } }), [presses(2000, "1")]);
    expect(own.report.result.summary).toBe("Pulsó 1.");
  });

  it("says goodbye when the last state has no words", () => {
    const states = { ...script.states, yes: { end: { success: true } } };
    const silent = tell(
      planOf({ script: { ...script, states }, goodbye: "Chao, {{n}}." }, { params: { n: "Eva" } }),
      [presses(2000, "1")],
    );
    expect(silent.transcript.at(-1)).toMatch(/: Chao, Eva\.$/);
  });

  it("marks the do-not-call wish and the follow-up of its end", () => {
    const end = { success: false, followUp: true, doNotCall: true };
    const states = { ...script.states, no: { say: "De acuerdo.", end } };
    const wish = tell(planOf({ script: { ...script, states } }), [presses(2000, "2")]);
    expect(wish.report.result).toMatchObject({ followUp: true, doNotCall: true });
    expect(wish.events.filter((event) => event.type === "opted-out")).toHaveLength(1);
  });
});

describe("an announcement: an opening alone", () => {
  it("is said, followed by the goodbye, and counts as told", () => {
    const told = tell(planOf({ opening }), [speaks(2000, 500)]);
    expect(told.transcript.filter((line) => line.startsWith("agent"))).toEqual([
      "agent 0-1450: Hola, le llamo de la clínica.",
      "agent 1450-2850: Gracias por su tiempo. Adiós.",
    ]);
    expect(told.report).toMatchObject({ endedBy: "agent", result: { success: true } });
  });
});

describe("without interruption", () => {
  it("the agent is never paused or cut, however much the callee talks", () => {
    const told = tell(plan, [speaks(300, 900), speaks(1600, 900), presses(2000, "1")]);
    const touched = told.effects.filter(([, { type }]) => type === "pause" || type === "clear-playout");
    expect(touched).toEqual([]);
    expect(told.transcript).toContain("agent 1450-2750: ¿Viene mañana? Pulse 1 o 2.");
  });

  it("a key pressed during the question is its answer, taken when the question is over", () => {
    const told = tell(plan, [presses(1700, "1")]);
    expect(told.transcript.slice(1)).toEqual([
      "agent 1450-2750: ¿Viene mañana? Pulse 1 o 2.",
      "callee 1700-1700: 1",
      "agent 2800-3450: Gracias, Ana.",
    ]);
  });

  it("a key pressed before the question answers nothing", () => {
    const told = tell(plan, [presses(700, "1")], { untilMs: 8000 });
    expect(told.transcript).toHaveLength(3);
    expect(told.transcript).not.toContain("Gracias");
  });

  it("speech inside the question is overlap, speech that goes on after it is the answer", () => {
    const inside = tell(plan, [speaks(1600, 900)], { untilMs: 6000 });
    expect(inside.transcript.at(-1)).toBe("callee 1600-2500 overlap: [habla 0,9 s, sin transcriptor]");
    const beyond = tell(plan, [says(1600, 1500, "Sí, claro.")], { untilMs: 8000, finalWithinMs: 1000 });
    expect(beyond.transcript.slice(2)).toEqual([
      "callee 1600-3100: Sí, claro.",
      "agent 3450-4100: Gracias, Ana.",
    ]);
  });
});

describe("answers", () => {
  it("in words choose by whole words, without regard to case and accents", () => {
    const told = tell(plan, [says(3500, 600, "pues SI")], { finalWithinMs: 1000 });
    expect(told.report.result.success).toBe(true);
    expect(told.report.turns.find((turn) => turn.speaker === "callee")).toMatchObject({
      text: "pues SI",
      via: "voice",
    });
  });

  it("without words match nothing: the question is repeated, then otherwise is taken", () => {
    const told = tell(plan, [speaks(3500, 1000), speaks(8000, 1000)]);
    expect(told.transcript.filter((line) => line.startsWith("agent"))).toEqual([
      "agent 0-1450: Hola, le llamo de la clínica.",
      "agent 1450-2750: ¿Viene mañana? Pulse 1 o 2.",
      "agent 5250-6550: ¿Viene mañana? Pulse 1 o 2.",
      "agent 9750-10300: De acuerdo.",
    ]);
  });

  it("are not clicks", () => {
    const told = tell(plan, [speaks(4000, 100)], { untilMs: 6000 });
    expect(told.transcript).toHaveLength(2);
  });

  it("in words outdo a sound that was heard before, and stay", () => {
    const sound = { type: "wordless-speech", durationMs: 500 } as const;
    const words = (text: string) => ({ type: "answer", text, via: "dtmf" }) as const;
    const heard = noteAnswer(tell(plan, [], { untilMs: 4000 }).state, sound).state;
    const pressed = noteAnswer(heard, words("1")).state;
    expect(pressed.dialog.answer).toEqual(words("1"));
    expect(noteAnswer(noteAnswer(pressed, words("2")).state, sound).state.dialog.answer).toEqual(words("1"));
  });

  it("of several digits wait for the rest only as long as more could follow", () => {
    const states = {
      q: { ask: "¿Nota?", digits: { "1": "one", "10": "ten" } },
      one: { say: "Uno.", end: { success: true } },
      ten: { say: "Diez.", end: { success: true } },
    };
    const rating = planOf({ script: { start: "q", states } });
    expect(tell(rating, [presses(1000, "10")]).transcript.at(-1)).toBe("agent 1350-1600: Diez.");
    expect(tell(rating, [presses(1000, "1")]).transcript.at(-1)).toBe("agent 3050-3250: Uno.");
    expect(tell(rating, [presses(1000, "1#")]).transcript.slice(1)).toEqual([
      "callee 1000-1300: 1",
      "agent 1350-1550: Uno.",
    ]);
  });

  it("to an open question are whatever was said, words or not", () => {
    const states = {
      q: { ask: "¿Algún comentario?", goto: "bye" },
      bye: { say: "Anotado.", end: { success: true, output: { comment: "{{answer.q}}" } } },
    };
    const open = planOf({ script: { start: "q", states } });
    expect(tell(open, [speaks(100, 400), speaks(2500, 4000)]).transcript.at(-1)).toBe(
      "agent 7250-7650: Anotado.",
    );
    const heard = tell(open, [speaks(100, 400), says(2500, 4000, "Todo bien.")], { finalWithinMs: 1000 });
    expect(heard.report.result.output).toEqual({ comment: "Todo bien." });
  });
});

describe("a callee who says nothing", () => {
  it("is asked for a sign of life and again, then silence is taken", () => {
    const states = { ...script.states, q: { ...script.states["q"], silence: "no" } };
    const told = tell(planOf({ script: { ...script, states } }), []);
    expect(told.transcript).toEqual([
      "agent 0-1300: ¿Viene mañana? Pulse 1 o 2.",
      "agent 7350-9200: ¿Sigue ahí? ¿Viene mañana? Pulse 1 o 2.",
      "agent 15250-15800: De acuerdo.",
    ]);
    expect(told.report.endedBy).toBe("agent");
  });

  it("without a state for silence hears the prompt, then goodbye", () => {
    const silence = { promptAfterMs: 3000, maxPrompts: 2, prompt: "¿Oiga?" };
    const told = tell(planOf({ script, silence, goodbye: "Adiós." }), []);
    expect(told.transcript.map((line) => line.replace(/^.*?: /, ""))).toEqual([
      "¿Viene mañana? Pulse 1 o 2.",
      "¿Oiga? ¿Viene mañana? Pulse 1 o 2.",
      "¿Oiga?",
      "Adiós.",
    ]);
    expect(told.report).toMatchObject({ endedBy: "silence", verdict: { kind: "silence", by: "timeout" } });
    expect(told.report.result).toMatchObject({ success: false, output: {} });
    expect(told.report.result.summary).toMatch(/^Nadie hizo ningún sonido; sin respuesta en «q»; \d+ s\.$/);
  });

  it("but then gives a sign of life is asked anew", () => {
    const patient: Script = { start: "q", states: { q: { ask: "¿Uno?", digits: { "1": "q" }, repeat: 0 } } };
    const said = (callee: readonly ReturnType<typeof speaks>[]): number =>
      tell(planOf({ script: patient }), callee).transcript.filter((line) => line.endsWith("¿Sigue ahí?"))
        .length;
    expect(said([])).toBe(2);
    expect(said([speaks(14_000, 300)])).toBe(4);
  });
});

describe("how a conversation ends early", () => {
  it("the callee hangs up: no success, no output, and the place is told", () => {
    const told = tell(plan, [speaks(100, 600), hangsUp(2500)]);
    expect(told.transcript.at(-1)).toBe("agent 1450-2500 cut: ¿Viene mañana? Pulse 1");
    expect(told.report.result).toEqual({
      success: false,
      output: {},
      summary: "Contestó una persona; colgó en «q»; 3 s.",
      followUp: false,
      doNotCall: false,
    });
    expect(told.report.endedBy).toBe("callee");
    expect(told.finishedAtMs).toBeUndefined();
  });

  it("the callee hangs up during the thanks: what they answered stands", () => {
    const told = tell(plan, [presses(4000, "1"), hangsUp(4200)]);
    expect(told.report).toMatchObject({
      endedBy: "callee",
      result: { success: true, output: { viene: "1" } },
    });
  });

  it("the callee hangs up during an announcement: it was not told", () => {
    const during = tell(planOf({ opening }), [hangsUp(1000)]);
    expect(during.report.result).toMatchObject({ success: false });
    expect(during.report.result.summary).toMatch(/colgó/);
    expect(tell(planOf({ opening }), [hangsUp(2000)]).report.result.success).toBe(true);
  });

  it("a line that falls silent before the hang-up knows best how much was heard", () => {
    const early = does(800, { type: "speech-stopped", speechId: "u1.1", playedMs: 600, totalMs: 1450 });
    const told = tell(plan, [early, hangsUp(800)]);
    expect(told.transcript).toEqual(["agent 0-800 cut: Hola, le"]);
    expect(told.effects.filter(([, { type }]) => type === "play")).toHaveLength(1);
  });

  it("an operator hangs up", () => {
    const told = tell(plan, [does(2000, { type: "operator-hung-up" })]);
    expect(told.report).toMatchObject({ endedBy: "operator", result: { success: false } });
    expect(told.report.result.summary).toMatch(/un operador colgó en «q»/);
  });

  it("the maximum length is reached: goodbye, then the end", () => {
    const told = tell(planOf({ opening, script, maxCallMs: 2000 }), []);
    expect(told.transcript.slice(1)).toEqual([
      "agent 1450-2000 cut: ¿Viene",
      "agent 2050-3450: Gracias por su tiempo. Adiós.",
    ]);
    expect(told.finishedAtMs).toBe(3750);
    expect(told.report).toMatchObject({ endedBy: "limit", result: { success: false } });
  });

  it("a hang-up while it rings leaves nothing to report", () => {
    const told = tell(plan, [], { untilMs: 0 });
    expect(told.report.turns).toEqual([]);
  });
});

describe("a dialog model in trouble", () => {
  it("that never answers is given up with an apology", () => {
    const told = tell(plan, [], { dialogAnswers: false });
    expect(told.transcript.at(-1)).toMatch(/Lo siento, ha surgido un problema/);
    expect(told.report.result.summary).toMatch(
      /el agente no pudo continuar \(the dialog model did not answer in time\)/,
    );
    expect(told.finishedAtMs).toBeGreaterThan(16_000);
  });

  it("that fails is apologised for at once", () => {
    const told = tell(plan, [does(1600, { type: "dialog-failed", generation: 1, reason: "lost" })], {
      dialogAnswers: false,
    });
    expect(told.transcript.at(-1)).toMatch(/^agent 1650-\d+: Lo siento/);
  });

  it("whose answer is stale is not listened to", () => {
    const act = { type: "say", text: "Tarde." } as const;
    const told = tell(
      plan,
      [
        does(3000, { type: "dialog-acted", generation: 1, act }),
        does(3000, { type: "dialog-acted", generation: 9, act }),
      ],
      {
        untilMs: 5000,
      },
    );
    expect(told.transcript.join()).not.toContain("Tarde");
  });

  it("whose answer is of another generation is not listened to either", () => {
    const act = { type: "say", text: "Otra." } as const;
    const told = tell(plan, [does(100, { type: "dialog-acted", generation: 9, act })], {
      dialogAnswers: false,
      untilMs: 5000,
    });
    expect(told.transcript).toEqual(["agent 0-1450: Hola, le llamo de la clínica."]);
  });

  it("that presses keys has them sent in its turn", () => {
    const told = tell(
      planOf({ opening }),
      [does(500, { type: "dialog-acted", generation: 1, act: { type: "press", digits: "12" } })],
      { dialogAnswers: false, untilMs: 3000 },
    );
    expect(told.effects).toContainEqual([1450, { type: "send-digits", digits: "12" }]);
  });
});

describe("a voice in trouble", () => {
  it("that fails ends the call in silence rather than with dead air", () => {
    const told = tell(plan, [], { failSpeech: (text) => text.startsWith("Pulse") });
    expect(told.transcript.at(-1)).toMatch(/¿Viene mañana\?$/);
    expect(told.report.result).toMatchObject({ success: false });
    expect(told.finishedAtMs).toBe(2150);
  });

  it("that never comes does the same after a while", () => {
    const told = tell(plan, [], { synthesisMs: Infinity });
    expect(told.finishedAtMs).toBe(8000);
    expect(told.report.firstWordMs).toBeNull();
  });

  it("whose end is never reported is taken for spoken after a while", () => {
    const told = tell(plan, [], { forgets: "u1.1", untilMs: 6000 });
    expect(told.transcript).toEqual([
      "agent 0-4450: Hola, le llamo de la clínica.",
      "agent 4450-5750: ¿Viene mañana? Pulse 1 o 2.",
    ]);
  });
});

describe("typed text", () => {
  it("is an answer at its line end, the agent's words go out as text too", () => {
    const told = tell(plan, [types(3000, "sí\u2028")], { rtt: true });
    expect(
      told.effects.filter(([, effect]) => effect.type === "send-text").map(([, effect]) => effect),
    ).toEqual([
      { type: "send-text", text: "Hola, le llamo de la clínica.\u2028" },
      { type: "send-text", text: "¿Viene mañana? " },
      { type: "send-text", text: "Pulse 1 o 2.\u2028" },
      { type: "send-text", text: "Gracias, Ana.\u2028" },
    ]);
    expect(told.transcript).toContain("callee 3000-3200: sí");
    expect(told.report).toMatchObject({ verdict: { kind: "person", by: "text" }, result: { success: true } });
  });

  it("is an answer after a pause as well, corrections taken in", () => {
    const told = tell(plan, [types(3000, "nx\bo")], { rtt: true });
    expect(told.transcript).toContain("callee 3000-3300: no");
    expect(
      told.transcript.find((line) => line.includes("Viene") && line.startsWith("agent 58")),
    ).toBeDefined();
  });

  it("keeps the conversation going when there is no voice", () => {
    const told = tell(plan, [types(3000, "sí\u2028")], { rtt: true, failSpeech: () => true });
    expect(told.report.result.success).toBe(true);
    expect(told.transcript.filter((line) => line.startsWith("agent"))).toHaveLength(3);
  });

  it("is not sent when it was not agreed", () => {
    expect(tell(plan, []).effects.some(([, effect]) => effect.type === "send-text")).toBe(false);
  });
});

describe("stop words", () => {
  it.each([
    ["typed", [types(500, "¡No me llame más!")], { rtt: true }],
    ["said", [says(500, 800, "Por favor, no me llame más.")], { finalWithinMs: 1000 }],
  ])(
    "%s end the call politely and for good, even when the agent is not to be interrupted",
    (_how, callee, options) => {
      const told = tell(plan, callee, options);
      expect(told.report.result).toMatchObject({ success: false, doNotCall: true });
      expect(told.events.filter((event) => event.type === "opted-out")).toHaveLength(1);
      expect(told.transcript.at(-1)).toMatch(/: De acuerdo, no volveremos a llamarle\. Adiós\.$/);
      expect(told.report.endedBy).toBe("agent");
      expect(told.report.result.summary).toMatch(/pidió que no se le llame más/);
    },
  );

  it("during the last words still count", () => {
    const told = tell(plan, [presses(4000, "1"), says(4100, 500, "no me llame más")], {
      finalWithinMs: 1000,
    });
    expect(told.report.result).toMatchObject({ doNotCall: true });
  });

  it("spoken by a voicemail do not", () => {
    const told = tell(plan, [says(100, 2000, "Deje su mensaje. Publicidad: no me llame más.")], {
      finalWithinMs: 1000,
    });
    expect(told.report.result.doNotCall).toBe(false);
  });
});
