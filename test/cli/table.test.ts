import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { commands, nouns } from "../../src/cli/commands.ts";
import { exitCodes } from "../../src/cli/exit-codes.ts";
import { canonical, findRequest } from "../../src/cli/find-command.ts";
import { globalOptions } from "../../src/cli/global-options.ts";
import { handlers } from "../../src/cli/handlers.ts";
import { commandHelp, generalHelp } from "../../src/cli/help-text.ts";
import { helpTopics } from "../../src/cli/help-topics.ts";
import { optionName, optionShort } from "../../src/cli/option-spec.ts";
import { parseCommand } from "../../src/cli/parse.ts";
import { runCli } from "../support/run-cli.ts";
import { TempHome } from "../support/temp-home.ts";

const visible = commands.filter((spec) => spec.hidden !== true);

describe("the table of commands", () => {
  it.each(visible.map((spec) => [spec.name, spec] as const))(
    "%s has a summary, examples and a handler",
    async (_, spec) => {
      expect(spec.summary).toMatch(/^[A-Z].*[^.]$/);
      expect(spec.examples.length).toBeGreaterThan(0);
      for (const { note } of spec.examples) expect(note.length).toBeGreaterThan(3);
      expect(await handlers[spec.name]?.()).toBeTypeOf("function");
    },
  );

  it("has no handler without a row, but for the overview", () => {
    expect(Object.keys(handlers).filter((name) => !commands.some((spec) => spec.name === name))).toEqual([
      "",
    ]);
  });

  it("has no option twice in a command, nor one that hides a shared one", () => {
    for (const spec of commands) {
      const options = [...globalOptions, ...(spec.options ?? [])];
      const flags = options
        .flatMap((option) => [optionName(option), optionShort(option)])
        .filter((flag) => flag !== undefined);
      expect([spec.name, ...flags.filter((flag, at) => flags.indexOf(flag) !== at)]).toEqual([spec.name]);
    }
  });

  it("names only exit codes that are published", () => {
    const published: readonly number[] = exitCodes.map(({ code }) => code);
    for (const spec of commands) for (const code of spec.exits ?? []) expect(published).toContain(code);
  });

  it.each(visible.flatMap((spec) => spec.examples.map(({ run }) => [run])))("example parses: %s", (run) => {
    const ours = run.split(" | ").find((part) => part.startsWith("outdial ")) ?? run;
    const line = ours.replace(/^source <\((.*)\)$/, "$1").split(/[;<>]/)[0] ?? "";
    const [program, ...words] = (line.match(/"[^"]*"|'[^']*'|\S+/g) ?? []).map((word) =>
      word.replace(/^["']|["']$/g, ""),
    );
    expect(program).toBe("outdial");
    const request = findRequest(words);
    expect(request.type === "command" || request.type === "overview").toBe(true);
    if (request.type === "command") expect(() => parseCommand(request.spec, request.words)).not.toThrow();
  });

  it("takes the plural of every noun for the noun", () => {
    for (const noun of nouns) if (noun.plural !== undefined) expect(canonical(noun.plural)).toBe(noun.name);
    expect(findRequest(["calls", "list"])).toEqual(findRequest(["call", "list"]));
    expect(findRequest(["playbooks", "versions", "list", "x"])).toMatchObject({
      spec: { name: "playbook version list" },
    });
  });

  it("tells every command in the general help, and every exit code of a command in its own", () => {
    for (const spec of visible) {
      expect(generalHelp()).toContain(`  ${spec.name} `);
      for (const code of spec.exits ?? []) expect(commandHelp(spec)).toContain(`  ${code} `);
    }
  });

  it("prints every topic, within 100 columns but for lines to copy", async () => {
    await using home = await TempHome.create();
    for (const { name } of helpTopics) {
      const { code, stdout, stderr } = await runCli(["help", name], { home: home.directory });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      expect(stdout.startsWith(`${name}: `)).toBe(true);
    }
  });

  it("prints no escape sequence into a pipe", async () => {
    await using home = await TempHome.create();
    for (const argv of [
      ["--help"],
      ["help", "csv"],
      ["sandbox", "numbers"],
      ["status"],
      ["nope"],
      ["call"],
    ]) {
      const { stdout, stderr } = await runCli(argv, { home: home.directory });
      expect(stdout + stderr).not.toContain("\u001b");
    }
  });

  it("does nothing at import but define", async () => {
    const index = await readFile(new URL("../../src/cli/index.ts", import.meta.url), "utf8");
    expect(index.split("\n").filter((line) => line !== "" && !/^(?:\/\*\*| \*|export )/.test(line))).toEqual(
      [],
    );
  });
});

describe("a line that asks for nothing that exists", () => {
  it.each([
    [["call"], "outdial call: "],
    [["call", "strat"], "did you mean start?"],
    [["cal", "list"], "did you mean call?"],
    [["frobnicate"], 'no command "frobnicate"'],
    [["playbook", "version", "lits", "x"], "did you mean list?"],
    [["call", "list", "--sinse", "1d"], "Did you mean --since?"],
    [["call", "start"], "missing required argument 'phone'"],
    [["call", "list", "surplus"], "too many arguments"],
    [["call", "list", "--limit", "many"], "--limit takes a whole number"],
    [["call", "list", "--status", "nope"], "Allowed choices are"],
    [["call", "list", "-o", "yaml"], "use one of table, wide, json"],
    [["call", "list", "--tz", "Mars/Base"], "is no time zone"],
    [["call", "list", "--fields", "nope"], "fields: id, created_time"],
    [["help", "nope"], "topics: exit-codes"],
  ])("%j: exit 2 or 5, nothing on standard output", async (argv, says) => {
    await using home = await TempHome.create();
    const { code, stdout, stderr } = await runCli([...argv, "--no-start"], { home: home.directory });
    expect(code).toBe(argv[0] === "help" ? 5 : 2);
    expect(stdout).toBe("");
    expect(stderr).toContain(says);
  });

  it("is told in one line of JSON when the answer would have been JSON", async () => {
    await using home = await TempHome.create();
    const { code, stderr } = await runCli(["call", "list", "--json=nope"], { home: home.directory });
    expect(code).toBe(2);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "usage", exit_code: 2 } });
    expect(stderr.trimEnd()).not.toContain("\n");
  });
});
