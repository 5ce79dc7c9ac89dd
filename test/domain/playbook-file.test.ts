import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { parsePlaybookFile } from "../../src/domain/playbook-file.ts";

const whole = `---
name: appointment
language: PT-br
voice: 3
interrupt: true
opening: Hola {{nombre}}, le llamo de la clínica.
voicemail: Le llamaremos más tarde.
rtt: true
success: The appointment is confirmed.
goodbye: Adiós.
max_minutes: 2.5
speakers: { agent: Clara, callee: Paciente }
silence: { after_seconds: 4, max_prompts: 1, prompt: ¿Oiga? }
output:
  type: object
  properties: { confirmed: { type: boolean } }
script:
  confirm:
    ask: ¿Viene el {{fecha}}? Pulse 1 para sí, 2 para no.
    digits: { 1: yes, 2: no, "*": confirm }
    text: { sí|claro: yes }
    otherwise: no
    silence: no
    repeat: 2
  yes:
    say: Gracias.
    end: { success: true, output: { confirmed: true, key: "{{answer}}" }, summary: Confirmó. }
  no:
    say: De acuerdo.
    goto: over
  over:
    end: { success: false, follow_up: true, do_not_call: true }
---

You are Clara.
`;

describe("a whole playbook file", () => {
  const read = parsePlaybookFile(whole);
  const settings = read.ok ? read.value : undefined;

  it("gives every setting", () => {
    expect(settings).toMatchObject({
      name: "appointment",
      language: "pt-br",
      voice: "3",
      interrupt: true,
      opening: "Hola {{nombre}}, le llamo de la clínica.",
      voicemail: { action: "leave-message", message: "Le llamaremos más tarde." },
      rtt: true,
      success: "The appointment is confirmed.",
      goodbye: "Adiós.",
      maxCallMs: 150_000,
      speakers: { agent: "Clara", callee: "Paciente" },
      silence: { promptAfterMs: 4000, maxPrompts: 1, prompt: "¿Oiga?" },
      output: { type: "object", properties: { confirmed: { type: "boolean" } } },
      prompt: "You are Clara.",
    });
  });

  it("gives the script, the first state starts", () => {
    expect(settings?.script?.start).toBe("confirm");
    expect(settings?.script?.states["confirm"]).toEqual({
      ask: "¿Viene el {{fecha}}? Pulse 1 para sí, 2 para no.",
      digits: { "1": "yes", "2": "no", "*": "confirm" },
      text: { "sí|claro": "yes" },
      otherwise: "no",
      silence: "no",
      repeat: 2,
    });
    expect(settings?.script?.states["yes"]?.end).toEqual({
      success: true,
      output: { confirmed: true, key: "{{answer}}" },
      summary: "Confirmó.",
    });
    expect(settings?.script?.states["over"]?.end).toEqual({
      success: false,
      followUp: true,
      doNotCall: true,
    });
  });
});

describe("what a playbook may leave out", () => {
  it("an opening alone is enough, the rest has defaults", () => {
    const read = parsePlaybookFile("---\nname: hello\nopening: Hi.\n---\n");
    expect(read).toEqual({
      ok: true,
      value: {
        name: "hello",
        language: "es",
        voice: undefined,
        interrupt: undefined,
        opening: "Hi.",
        script: undefined,
        prompt: undefined,
        voicemail: { action: "hang-up", message: undefined },
        output: undefined,
        success: undefined,
        rtt: false,
        speakers: { agent: "Assistant", callee: "Customer" },
        silence: { promptAfterMs: 6000, maxPrompts: 2, prompt: undefined },
        goodbye: undefined,
        maxCallMs: 600_000,
      },
    });
  });

  it.each([
    ["a prompt alone", "---\nname: a\n---\nBe kind."],
    ["Windows line ends and a byte order mark", "\uFEFF---\r\nname: a\r\nopening: Hi.\r\n---\r\n"],
    ["a rule in the body", "---\nname: a\n---\nOne\n\n---\n\nTwo"],
    ["a voicemail map", "---\nname: a\nopening: Hi.\nvoicemail: { action: hang-up }\n---\n"],
  ])("%s is accepted", (_what, source) => {
    expect(parsePlaybookFile(source)).toMatchObject({ ok: true });
  });

  it("a state may be named like an object's own business", () => {
    const read = parsePlaybookFile(
      "---\nname: a\nscript:\n  __proto__: { say: Hi., goto: constructor }\n  constructor: { end: { success: true } }\n---\n",
    );
    expect(read).toMatchObject({ ok: true });
    if (read.ok) expect(Object.keys(read.value.script?.states ?? {})).toEqual(["__proto__", "constructor"]);
  });
});

const front = (yaml: string): string => `---\nname: a\nopening: Hi.\n${yaml}\n---\n`;
const script = (yaml: string): string => `---\nname: a\nscript:\n${yaml}\n---\n`;

describe("problems carry their line, column and what would be accepted", () => {
  it.each<[what: string, source: string, line: number, column: number, where: string, says: RegExp]>([
    ["no front matter", "Hello", 1, 1, "", /must begin with ---/],
    ["broken YAML", front('goodbye: "x'), 5, 1, "", /is no readable YAML: Missing closing/],
    ["a field twice", front("name: b"), 4, 1, "", /unique/],
    ["no name", "---\nopening: Hi.\n---\n", 2, 1, "", /lacks name/],
    ["nothing to say", "---\nname: a\n---\n \n", 2, 1, "", /nothing to say/],
    ["an empty front matter", "---\n---\n", 2, 1, "", /must be a map/],
    ["an unknown field", front("openning: Hi."), 4, 1, "openning", /did you mean opening\?/],
    ["a far-off field", front("zzzzzzzz: 1"), 4, 1, "zzzzzzzz", /is no field here; accepted: name, /],
    ["a wrong type", front("rtt: sometimes"), 4, 6, "rtt", /must be true or false/],
    ["a number for a text", front("goodbye: 7"), 4, 10, "goodbye", /must be a text; put it in quotes/],
    ["an empty text", front("goodbye:"), 4, 9, "goodbye", /must be a text/],
    ["a blank text", front('goodbye: "  "'), 4, 10, "goodbye", /is empty/],
    ["a language form", front("language: es_ES"), 4, 11, "language", /no language code; accepted/],
    ["an unknown voice", front("voice: 8"), 4, 8, "voice", /"8" is no voice; accepted: 1, 2/],
    ["too many minutes", front("max_minutes: 500"), 4, 14, "max_minutes", /from 0.1 to 120/],
    [
      "a voicemail action",
      front("voicemail: { action: shout, message: x }"),
      4,
      22,
      "voicemail.action",
      /accepted: hang-up, leave-message/,
    ],
    [
      "a message without words",
      front("voicemail: { action: leave-message }"),
      4,
      22,
      "voicemail.action",
      /add message/,
    ],
    [
      "a message nobody hears",
      front("voicemail: { action: hang-up, message: x }"),
      4,
      22,
      "voicemail.action",
      /never be heard/,
    ],
    [
      "an output that is no object",
      front("output: { type: string }"),
      4,
      17,
      "output.type",
      /must be object/,
    ],
    ["an alias", front("goodbye: *x"), 4, 10, "", /alias/],
    [
      "a malformed placeholder",
      front('goodbye: "Bye {{name}"'),
      4,
      10,
      "goodbye",
      /"\{\{name\}" is no whole placeholder/,
    ],
    ["an empty placeholder", front('goodbye: "Bye {{ }}"'), 4, 10, "goodbye", /placeholder/],
    ["a placeholder of the prompt", "---\nname: a\n---\nOne\nTwo {{x", 5, 5, "prompt", /"\{\{x" is no whole/],
    ["no states", script("  {}"), 4, 3, "script", /has no states/],
    [
      "say and ask",
      script("  a: { say: x, ask: y, otherwise: a }"),
      4,
      21,
      "script.a.ask",
      /both say and ask/,
    ],
    ["neither", script("  a: { goto: a }"), 4, 3, "script.a", /says nothing/],
    [
      "goto and end",
      script("  a: { say: x, goto: a, end: { success: true } }"),
      4,
      22,
      "script.a.goto",
      /both goto and end/,
    ],
    ["a say that leads nowhere", script("  a: { say: x }"), 4, 3, "script.a", /leads nowhere/],
    ["an ask without a way on", script("  a: { ask: x, silence: a }"), 4, 13, "script.a.ask", /no way on/],
    [
      "an answer to nothing",
      script("  a: { say: x, digits: { 1: a } }"),
      4,
      24,
      "script.a.digits",
      /asks nothing/,
    ],
    [
      "a missing state",
      script("  hello: { ask: x, digits: { 1: helo } }"),
      4,
      33,
      "script.hello.digits.1",
      /leads to "helo", which is no state; did you mean hello\?/,
    ],
    [
      "an unreachable state",
      script("  a: { say: x, end: { success: true } }\n  b: { say: y, goto: a }"),
      5,
      3,
      "script.b",
      /never reached/,
    ],
    [
      "an endless talk",
      script("  a: { say: x, goto: b }\n  b: { say: y, goto: a }"),
      4,
      22,
      "script.a.goto",
      /without ever asking/,
    ],
    [
      "keys that do not exist",
      script("  a: { ask: x, digits: { one: a } }"),
      4,
      26,
      "script.a.digits.one",
      /cannot be pressed/,
    ],
    [
      "an empty alternative",
      script("  a: { ask: x, text: { a|: a } }"),
      4,
      24,
      "script.a.text.a|",
      /empty alternative/,
    ],
    [
      "an end that hides success",
      script("  a: { say: x, end: { summary: y } }"),
      4,
      21,
      "script.a.end",
      /lacks success/,
    ],
    [
      "half a repetition",
      script("  a: { ask: x, otherwise: a, repeat: 0.5 }"),
      4,
      38,
      "script.a.repeat",
      /whole number/,
    ],
    [
      "a field of a state",
      script("  a: { tell: x, end: { success: true } }"),
      4,
      8,
      "script.a.tell",
      /is no field here/,
    ],
  ])("%s", (_what, source, line, column, where, says) => {
    const read = parsePlaybookFile(source);
    expect(read).toMatchObject({ ok: false, problem: { where, line, column } });
    if (!read.ok) expect(read.problem.message).toMatch(says);
  });

  it("of several problems the first in the file is told", () => {
    const read = parsePlaybookFile("---\nvoice: 9\nrtt: maybe\nname: 1\n---\n");
    expect(read).toMatchObject({ ok: false, problem: { line: 2 } });
  });
});

describe("any text at all", () => {
  it("is read or refused, never thrown at", () => {
    const yamlish = fc.array(
      fc.constantFrom(
        "name",
        ": ",
        "\n",
        "  ",
        "script",
        "[",
        "{",
        "}",
        "- ",
        "&a ",
        "*a",
        "!!x ",
        '"',
        "---",
        "|\n",
        "{{",
        "1",
      ),
      { maxLength: 40 },
    );
    const property = fc.property(
      fc.oneof(
        fc.string(),
        yamlish.map((parts) => `---\n${parts.join("")}\n---\n`),
      ),
      (source) => {
        const read = parsePlaybookFile(source);
        if (!read.ok) expect(read.problem.line).toBeGreaterThan(0);
      },
    );
    expect(() => fc.assert(property, { numRuns: 500 })).not.toThrow();
  });
});
