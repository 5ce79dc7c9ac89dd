import { spawnSync } from "node:child_process";
import { chmod, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { completionScript } from "../../src/cli/completion.ts";
import { RecordingServer, type Answers } from "../support/recording-server.ts";
import { runCli } from "../support/run-cli.ts";
import { TempHome } from "../support/temp-home.ts";

async function candidates(words: readonly string[], answers: Answers = {}) {
  await using home = await TempHome.create();
  await using _server = await RecordingServer.onSocket(home.socketPath, answers);
  const { code, stdout, stderr } = await runCli(["__complete", "--", "bash", ...words], {
    home: home.directory,
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  const [mode, ...lines] = stdout.trimEnd().split("\n");
  return { mode, values: lines.map((line) => line.split("\t")[0]), lines };
}

describe("completion", () => {
  it("offers nouns and single commands with their summaries, hidden ones not", async () => {
    const { mode, values, lines } = await candidates([""]);
    expect(mode).toBe(":nofile");
    expect(values).toContain("call");
    expect(values).toContain("status");
    expect(values).not.toContain("__complete");
    expect(lines).toContain("call\tPlace calls and read what became of them");
  });

  it.each([
    [["ca"], ["call", "campaign"]],
    [
      ["call", "re"],
      ["recording", "resolve"],
    ],
    [["calls", "li"], ["list"]],
    [
      ["playbook", "version", ""],
      ["list", "promote"],
    ],
    [
      ["completion", ""],
      ["bash", "zsh", "fish"],
    ],
    [["call", "start", "--voice-m"], ["--voice-model"]],
    [
      ["call", "start", "--voice-model", ""],
      ["fast", "human"],
    ],
    [["call", "start", "--voice-model=h"], ["--voice-model=human"]],
    [["call", "transcript", "x", "-o", "te"], ["text"]],
    [
      ["calls", "list", "--json=id,stat"],
      ["--json=id,status", "--json=id,status_label"],
    ],
    [["calls", "list", "--fields", "to,dur"], ["to,duration"]],
    [["help", "ex"], ["exit-codes"]],
    [
      ["call", "start", "+999000001"],
      ["+9990000010", "+9990000011", "+9990000012", "+9990000013", "+9990000014"],
    ],
    [["nope", ""], []],
    [["--account", "x", "call", "resol"], ["resolve"]],
  ])("%j gives %j", async (words, wanted) => expect((await candidates(words)).values).toEqual(wanted));

  it("offers the options of the command only, and those of all", async () => {
    const { values } = await candidates(["call", "view", "--"]);
    expect(values).toContain("--transcript");
    expect(values).toContain("--json");
    expect(values).not.toContain("--playbook");
  });

  it("does not offer an option twice, but for those that may be repeated", async () => {
    const { values } = await candidates(["call", "start", "--playbook", "x", "--param", "a=1", "--pa"]);
    expect(values).toEqual(["--param", "--params-file"]);
  });

  it("asks the daemon for names and ids, for the account of the line", async () => {
    await using home = await TempHome.create();
    await using server = await RecordingServer.onSocket(home.socketPath, {
      listPlaybooks: () => ({
        body: [
          { name: "welcome", language: "es" },
          { name: "renewals", language: "en" },
        ],
      }),
    });
    const { stdout } = await runCli(
      ["__complete", "--", "zsh", "call", "start", "--account", "clinic", "--playbook", "w"],
      { home: home.directory },
    );
    expect(stdout).toBe(":nofile\nwelcome\tes\n");
    expect(server.of("listPlaybooks")[0]?.headers["outdial-account"]).toBe("clinic");
  });

  it("leaves files to the shell, and is silent when the daemon does not answer", async () => {
    expect((await candidates(["campaign", "launch", ""])).mode).toBe(":file");
    expect(
      (await candidates(["call", "view", ""], { listCalls: () => ({ status: 500, body: {} }) })).values,
    ).toEqual([]);
    await using home = await TempHome.create();
    const { code, stdout } = await runCli(["__complete", "--", "bash", "call", "view", ""], {
      home: home.directory,
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: ":nofile\n" });
  });

  it("does not wait for a daemon that never answers", async () => {
    expect(
      (await candidates(["call", "view", ""], { listCalls: () => new Promise(() => undefined) })).values,
    ).toEqual([]);
  });
});

describe("the bash script", () => {
  /** What a real bash, without its completion package, offers for a line with the cursor at its end. */
  async function offered(line: string, answer: string): Promise<readonly string[]> {
    await using home = await TempHome.create();
    await writeFile(
      home.path("outdial"),
      `#!/bin/sh\nprintf '%s\\n' "$@" > ${home.path("asked")}\nprintf '${answer}'\n`,
    );
    await chmod(home.path("outdial"), 0o755);
    await writeFile(home.path("outdial.bash"), completionScript("bash"));
    const words = line.split(/(\s+|[=:])/).filter((word) => word.trim() !== "");
    if (/\s$/.test(line)) words.push("");
    const program = `
      set -u
      PATH=${home.directory}:$PATH
      compopt() { :; }
      source ${home.path("outdial.bash")}; source ${home.path("outdial.bash")}
      COMP_LINE=${JSON.stringify(line)} COMP_POINT=${line.length}
      COMP_WORDS=(${words.map((word) => `'${word}'`).join(" ")}) COMP_CWORD=${words.length - 1}
      _outdial
      printf '%s\\n' "\${COMPREPLY[@]}"`;
    const { stdout, stderr, status } = spawnSync("bash", ["--norc", "-c", program], { encoding: "utf8" });
    expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
    const { readFile } = await import("node:fs/promises");
    return [
      ...stdout.trimEnd().split("\n"),
      "|",
      ...(await readFile(home.path("asked"), "utf8")).trimEnd().split("\n"),
    ];
  }

  it("passes the words of the line and offers values without their descriptions", async () => {
    expect(await offered("outdial call st", ":nofile\\nstart\\tStart one call\\n")).toEqual([
      "start",
      "|",
      "__complete",
      "--",
      "bash",
      "call",
      "st",
    ]);
    expect((await offered("outdial call ", ":nofile\\nlist\\tx\\nview\\ty\\n")).slice(0, 2)).toEqual([
      "list",
      "view",
    ]);
  });

  it("takes off what bash has already cut at = and comma lists keep", async () => {
    expect((await offered("outdial calls list --json=id,st", ":nofile\\n--json=id,status\\n"))[0]).toBe(
      "id,status",
    );
  });
});
