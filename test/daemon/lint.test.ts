import { expect, test } from "vitest";
import { lintSource } from "../../src/daemon/lint.ts";

function file(output: string, language = "en"): string {
  return `---\nname: welcome\nlanguage: ${language}\nopening: "Hi"\nvoicemail: "Call back"\noutput:\n${output}---\n`;
}

async function lint(source: string) {
  return (await lintSource({ source })).map(
    ({ severity, where, line, message }) => `${severity} ${where} ${line}: ${message}`,
  );
}

test("an output that is a schema is let pass", async () => {
  expect(
    await lint(file("  type: object\n  properties:\n    date: { type: string, format: date }\n")),
  ).toEqual([]);
});

test("an output that is no schema is an error, at its place", async () => {
  const found = await lint(
    file(
      "  type: object\n  properties:\n    size:\n      type: strng\n    amount: { type: number, minimum: low }\n",
    ),
  );
  expect(found).toEqual([
    expect.stringMatching(/^error output\.properties\.size\.type 10: must be equal to one of.*string/),
    expect.stringMatching(/^error output\.properties\.amount\.minimum 11: must be number/),
  ]);
});

test("a reference that leads nowhere is an error, a word that means nothing a warning", async () => {
  expect(await lint(file("  properties: { a: { $ref: '#/nope' } }\n"))).toEqual([
    expect.stringMatching(/^error output 6: can't resolve reference/),
  ]);
  expect(await lint(file("  properties: { a: { typ: string } }\n"))).toEqual([
    'warning output 6: "typ" is no word of JSON Schema',
  ]);
});

test("a language without phrases of its own is a warning", async () => {
  expect(await lint(file("  type: object\n", "sv"))).toEqual([
    expect.stringMatching(/^warning language 3: .*English/),
  ]);
});

test("a file that cannot be applied has its mistakes only", async () => {
  expect(await lint("---\nname: x\nlanguage: sv\n---\n")).toEqual([expect.stringMatching(/^error /)]);
});
