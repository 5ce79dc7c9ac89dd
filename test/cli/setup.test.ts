import { readFile, stat, writeFile } from "node:fs/promises";
import { parsePlaybookFile } from "#domain";
import { describe, expect, it } from "vitest";
import { examplePlaybook } from "../../src/cli/init.ts";
import { RecordingServer, type Answers } from "../support/recording-server.ts";
import { runCli, type CliOptions } from "../support/run-cli.ts";
import { TempHome } from "../support/temp-home.ts";

const at = "2026-11-21T09:00:00.000Z";
const playbook = {
  id: "0197",
  name: "welcome",
  language: "en",
  production_version_id: null,
  created_at: at,
  updated_at: at,
};
const trunk = {
  id: "0197",
  name: "main",
  kind: "digest",
  host: "sip.example.com",
  port: 5060,
  default: true,
  codecs: ["PCMA"],
};

async function run(argv: readonly string[], answers: Answers, options: Partial<CliOptions> = {}) {
  await using home = await TempHome.create();
  await using server = await RecordingServer.onSocket(home.socketPath, answers);
  return { ...(await runCli(argv, { home: home.directory, ...options })), server };
}

describe("trunk add", () => {
  const add: Answers = { createTrunk: () => ({ status: 201, body: trunk }) };
  const line = ["trunk", "add", "main", "--server", "sip.example.com:5061", "--username", "ana"];

  it("takes the password from standard input and hands it over the socket only", async () => {
    const { code, stdout, stderr, server } = await run(
      [
        ...line,
        "--password-stdin",
        "--caller-id",
        "+34910000000",
        "--codecs",
        "pcma,PCMU",
        "--max-calls",
        "5",
        "--rate",
        "0.5",
        "--default",
      ],
      add,
      { stdin: "pa ss\n" },
    );
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain("pa ss");
    expect(server.of("createTrunk")[0]?.body).toEqual({
      name: "main",
      kind: "digest",
      host: "sip.example.com",
      port: 5061,
      username: "ana",
      password: "pa ss",
      caller_id: "+34910000000",
      codecs: ["PCMA", "PCMU"],
      max_calls: 5,
      calls_per_second: 0.5,
      default: true,
    });
  });

  it("asks for it on a terminal without showing it", async () => {
    const { code, stdout, stderr, server } = await run(line, add, { columns: 80, stdin: "hidden\r" });
    expect(code).toBe(0);
    expect(stdout + stderr).not.toContain("hidden");
    expect(server.of("createTrunk")[0]?.body).toMatchObject({ password: "hidden" });
  });

  it.each([
    [line, "--password-stdin or --password-file"],
    [["trunk", "add", "x"], "--server"],
    [["trunk", "add", "x", "--server", "a b"], "no address"],
    [["trunk", "add", "x", "--server", "h:99999"], "no address"],
    [["trunk", "add", "x", "--server", "h", "--password-stdin"], "--username"],
    [["trunk", "add", "x", "--server", "h", "--codecs", "G729"], "no codec"],
    [["trunk", "add", "x", "--sandbox", "--username", "a"], "does not go with --sandbox"],
  ])("%j is refused with 2", async (argv, says) => {
    const { code, stderr, server } = await run(argv, add);
    expect(code).toBe(2);
    expect(stderr).toContain(says);
    expect(server.seen).toEqual([]);
  });

  it("without a user name is a trunk known by its address; IPv6 too", async () => {
    const { server } = await run(["trunk", "add", "pbx", "--server", "[2001:db8::1]:5080"], add);
    expect(server.of("createTrunk")[0]?.body).toEqual({
      name: "pbx",
      kind: "ip",
      host: "2001:db8::1",
      port: 5080,
    });
  });

  it("--sandbox is the carrier inside the daemon, or one that runs elsewhere", async () => {
    const inside = await run(["trunk", "add", "try", "--sandbox"], add);
    expect(inside.server.of("createTrunk")[0]?.body).toEqual({ name: "try", kind: "sandbox" });
    const elsewhere = await run(["trunk", "add", "try", "--sandbox", "--server", "127.0.0.1:5070"], add);
    expect(elsewhere.server.of("createTrunk")[0]?.body).toEqual({
      name: "try",
      kind: "sandbox",
      host: "127.0.0.1",
      port: 5070,
    });
  });

  it("remove asks first", async () => {
    const remove: Answers = { removeTrunk: () => ({ status: 204 }) };
    expect((await run(["trunk", "remove", "main"], remove)).code).toBe(2);
    expect((await run(["trunk", "remove", "main"], remove, { columns: 80, stdin: "n\n" })).code).toBe(3);
    expect(
      (await run(["trunk", "remove", "main"], remove, { columns: 80, stdin: "y\n" })).server.of(
        "removeTrunk",
      ),
    ).toHaveLength(1);
    expect((await run(["trunk", "remove", "main", "-y"], remove)).code).toBe(0);
  });
});

describe("playbook apply", () => {
  it("sends the file and its name, and tells what became of it", async () => {
    const { code, stdout, stderr, server } = await run(
      ["playbook", "apply", "-", "-m", "first", "-q"],
      {
        applyPlaybook: () => ({
          body: {
            created: true,
            playbook,
            version: { id: "v1", message: "first", created_at: at, production: true, source: "" },
          },
        }),
      },
      { stdin: examplePlaybook },
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: "0197\n" });
    expect(stderr).toContain("created playbook welcome, version v1");
    expect(server.of("applyPlaybook")[0]?.body).toEqual({
      source: examplePlaybook,
      file: "standard input",
      message: "first",
    });
  });

  it("shows a mistake with its file, line and column", async () => {
    const { code, stderr } = await run(
      ["playbook", "apply", "-"],
      {
        applyPlaybook: () => ({
          status: 400,
          body: {
            error: {
              code: "bad-playbook",
              message: "voice 9 is no voice",
              where: "voice",
              line: 3,
              column: 8,
            },
          },
        }),
      },
      { stdin: "---" },
    );
    expect(code).toBe(2);
    expect(stderr).toContain("ref:  standard input: voice, line 3:8");
  });

  it("of a file that is not there is 2, not a bug", async () => {
    const { code, stderr } = await run(["playbook", "apply", "/nonexistent.md"], {});
    expect(code).toBe(2);
    expect(stderr).toContain("there is no file /nonexistent.md");
  });

  it("view --source gives the very bytes back", async () => {
    const source = "---\nname: x\n---\nñ  \n\n";
    const { stdout } = await run(["playbook", "view", "x", "--source"], {
      getPlaybook: () => ({ body: { ...playbook, source, settings: {} } }),
    });
    expect(stdout).toBe(source);
  });
});

describe("tokens and accounts", () => {
  const mint: Answers = {
    createToken: () => ({
      status: 201,
      body: { name: "crm", token: "outdial_x", created_at: at, expires_at: at },
    }),
  };

  it("create prints the token and nothing else, or writes an owner-only file", async () => {
    const { stdout, server } = await run(["token", "create", "crm", "--expires", "1y"], mint);
    expect(stdout).toBe("outdial_x\n");
    expect(server.of("createToken")[0]?.body).toEqual({ name: "crm", expires: "1y" });
    await using home = await TempHome.create();
    await using _server = await RecordingServer.onSocket(home.socketPath, mint);
    const written = await runCli(["token", "create", "crm", "--out", home.path("t")], {
      home: home.directory,
    });
    expect(written.stdout).toBe("");
    expect(await readFile(home.path("t"), "utf8")).toBe("outdial_x\n");
    expect((await stat(home.path("t"))).mode & 0o777).toBe(0o600);
  });

  it("revoke needs a yes; a name that exists already is 10", async () => {
    expect((await run(["token", "revoke", "crm"], {})).code).toBe(2);
    expect(
      (await run(["token", "revoke", "crm", "--yes"], { revokeToken: () => ({ status: 204 }) })).code,
    ).toBe(0);
    expect((await run(["account", "create", "x", "--timezone", "Mars/Base"], {})).code).toBe(2);
    const exists = { status: 409, body: { error: { code: "account-exists", message: "There is one" } } };
    expect((await run(["account", "create", "x"], { createAccount: () => exists })).code).toBe(10);
  });
});

describe("init and status", () => {
  const answers: Answers = {
    listPlaybooks: () => ({ body: [] }),
    listCampaigns: () => ({
      body: [
        { name: "leads", status: "running", finished: 3, total: 9 },
        { name: "old", status: "done" },
      ],
    }),
    applyPlaybook: () => ({ body: { created: true, playbook, version: null } }),
  };

  it("init shows what is there; its example is written once and is a valid playbook", async () => {
    expect(parsePlaybookFile(examplePlaybook)).toMatchObject({ ok: true, value: { name: "welcome" } });
    await using home = await TempHome.create();
    await using server = await RecordingServer.onSocket(home.socketPath, answers);
    const file = home.path("welcome.md");
    const first = await runCli(["init", "--example", file], { home: home.directory });
    expect(first.code).toBe(0);
    expect(await readFile(file, "utf8")).toBe(examplePlaybook);
    await writeFile(file, "mine");
    const second = await runCli(["init", "--example", file], { home: home.directory });
    expect(second.stderr).toContain("stays as it is");
    expect(server.of("applyPlaybook").map((seen) => (seen.body as { source: string }).source)).toEqual([
      examplePlaybook,
      "mine",
    ]);
  });

  it("status is lines for people and the object for programs", async () => {
    const { stdout } = await run(["status"], answers);
    expect(stdout).toContain("calls      1 live, 3 open, 42 in all");
    expect(stdout).toContain("campaign   leads: running, 3 of 9 done");
    expect(stdout).not.toContain("old");
    expect(JSON.parse((await run(["status", "--json"], answers)).stdout)).toMatchObject({
      state: "running",
      calls: { live: 1 },
    });
    expect((await run([], answers)).stdout).toContain("Next:");
  });
});
