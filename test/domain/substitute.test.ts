import { describe, expect, it } from "vitest";
import type { PlaybookSettings } from "../../src/domain/playbook.ts";
import { parsePlaybookFile } from "../../src/domain/playbook-file.ts";
import { missingParams, substitute } from "../../src/domain/substitute.ts";

function settingsOf(source: string): PlaybookSettings {
  const read = parsePlaybookFile(source);
  if (!read.ok) throw new Error(read.problem.message);
  return read.value;
}

describe("substitute", () => {
  it("puts values in, and nothing for what is missing", () => {
    expect(substitute("Hola {{ nombre }} {{apellido}}.", { nombre: "Ana" })).toBe("Hola Ana .");
  });

  it("does not read a value again", () => {
    expect(substitute("{{a}}", { a: "{{b}} $& $1", b: "no" })).toBe("{{b}} $& $1");
  });

  it("knows only the values that were given, whatever they are called", () => {
    expect(substitute("[{{constructor}}{{__proto__}}{{toString}}]", {})).toBe("[]");
    const given: Record<string, string> = JSON.parse('{"__proto__":"p","constructor":"c"}');
    expect(substitute("{{__proto__}}{{constructor}}", given)).toBe("pc");
  });
});

describe("missingParams", () => {
  const settings = settingsOf(`---
name: a
opening: Hola {{nombre}}
goodbye: Adiós {{nombre}}, {{__proto__}}
voicemail: Llame al {{tel}}
script:
  q: { ask: "¿{{hora}}?", otherwise: z }
  z: { say: "{{answer}}", end: { success: true, output: { n: ["{{deep}}", "{{answer.q}}"] }, summary: "{{sum}}" } }
---
{{body}}`);

  it("lists what the texts use and nobody gives, once each", () => {
    expect(missingParams(settings, { tel: "1" })).toEqual([
      "nombre",
      "hora",
      "deep",
      "sum",
      "__proto__",
      "body",
    ]);
  });

  it("is satisfied by values, empty ones too", () => {
    const params: Record<string, string> = JSON.parse(
      '{"nombre":"","hora":"","deep":"","sum":"","__proto__":"","body":"","tel":""}',
    );
    expect(missingParams(settings, params)).toEqual([]);
  });
});
