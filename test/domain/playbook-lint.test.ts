import { lintPlaybook } from "#domain";
import { describe, expect, test } from "vitest";

function file(head: string, body = ""): string {
  return `---\nname: welcome\nlanguage: en\n${head}---\n${body}`;
}

const sound = 'opening: "Hello {{first_name}}"\nvoicemail: "Please call back."\n';

function warnings(source: string, given: readonly string[] = []) {
  return lintPlaybook(source, given).findings.map(
    ({ severity, where, line, column }) => `${severity} ${where} ${line}:${column}`,
  );
}

describe("the lint of a playbook", () => {
  test("finds nothing in a sound one", () => {
    expect(lintPlaybook(file(sound)).findings).toEqual([]);
  });

  test("gives every mistake of the file, each with its place, and then no warnings", () => {
    expect(warnings(file('voice: 9\nopening: "{{x}}"\nvoicemail: { action: leave-message }\n'))).toEqual([
      "error voice 4:8",
      "error voicemail.action 6:22",
    ]);
    expect(warnings("no front matter")).toEqual(["error  1:1"]);
    expect(lintPlaybook("no front matter").settings).toBeUndefined();
  });

  test("names values that only the call can bring, once each, unless they will be given", () => {
    const source = file(
      'opening: "{{first_name}}, {{course}}"\nvoicemail: "{{ course }}"\n',
      "Sell {{course}} of {{school}}.",
    );
    expect(warnings(source)).toEqual(["warning {{course}} 4:27", "warning {{school}} 7:20"]);
    expect(lintPlaybook(source).findings[0]?.message).toContain("--param course=");
    expect(warnings(source, ["course", "school"])).toEqual([]);
  });

  test("knows the answers of a script", () => {
    const script = (text: string) =>
      file(
        `${sound}script:\n  size:\n    ask: "Big?"\n    otherwise: end\n  end:\n    say: "${text}"\n    end: { success: true }\n`,
      );
    expect(warnings(script("{{answer.size}} {{answer}}"))).toEqual([]);
    expect(lintPlaybook(script("{{answer.siz}}")).findings).toMatchObject([
      { line: 11, column: 11, message: expect.stringContaining("did you mean answer.size?") },
    ]);
    expect(lintPlaybook(file(sound, "{{answer}}")).findings[0]?.message).toContain("only a script");
  });

  test("speaks up when mailboxes are not spoken of", () => {
    expect(lintPlaybook(file('opening: "Hi"\n')).findings).toMatchObject([
      { severity: "warning", message: expect.stringContaining("hangs up on them") },
    ]);
    expect(warnings(file('opening: "Hi"\nvoicemail: { action: hang-up }\n'))).toEqual([]);
  });

  test("knows which codes are languages", () => {
    expect(warnings(`---\nname: a\nlanguage: pt-br\n${sound}---\n`)).toEqual([]);
    expect(warnings(`---\nname: a\nlanguage: qq\n${sound}---\n`)).toEqual(["warning language 3:1"]);
  });

  test("compares what a script ends with to what the output promises", () => {
    const source = file(
      `${sound}output:\n  type: object\n  properties:\n    interested: { type: boolean }\nscript:\n  end:\n    say: "Bye"\n    end: { success: true, output: { intrested: true } }\n`,
    );
    expect(lintPlaybook(source).findings).toMatchObject([
      { where: "script.end.end.output.intrested", line: 13, message: expect.stringContaining("interested?") },
    ]);
  });

  test("minds the patience of people and models", () => {
    const source = file(`opening: "${"word ".repeat(120)}"\nvoicemail: "x"\n`, "long ".repeat(5_000));
    expect(warnings(source)).toEqual(["warning prompt 2:1", "warning opening 4:1"]);
  });
});
