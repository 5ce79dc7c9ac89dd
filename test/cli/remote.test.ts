import { chmod, readFile, stat, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import type { Clock } from "#base";
import { VirtualClock } from "../support/virtual-clock.ts";
import { commands } from "../../src/cli/commands.ts";
import { remoteUrl } from "../../src/cli/transport.ts";
import { RecordingServer, type Answers } from "../support/recording-server.ts";
import { runCli, type CliOptions } from "../support/run-cli.ts";
import { TempHome } from "../support/temp-home.ts";

const token = "outdial_0123456789abcdefSECRETSECRETSECRET";
const playbook = "0197d4c2-7f3a-7b1c-8000-00000000000a";
const id = "0197d4c2-7f3a-7b1c-8000-000000000001";

async function remote(argv: readonly string[], answers: Answers, options: Partial<CliOptions> = {}) {
  await using home = await TempHome.create();
  await using server = await RecordingServer.onPort(answers);
  const result = await runCli([...argv, "--host", server.url], {
    home: home.directory,
    ...options,
    env: { OUTDIAL_TOKEN: token, ...options.env },
  });
  return { ...result, server };
}

describe("a remote service", () => {
  it("is given the public body of a call, with the token", async () => {
    const { code, stdout, server } = await remote(
      ["call", "start", "+34600111222", "--playbook", playbook, "--param", "course=MBA", "--key", "k"],
      { startCall: () => ({ body: { id, success: true, message: "Queued" } }) },
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${id}\n` });
    expect(server.of("startCall")[0]).toMatchObject({
      headers: { authorization: `Bearer ${token}`, "idempotency-key": "k" },
      body: { phone: "+34600111222", playbook_id: playbook, course: "MBA" },
    });
  });

  it("lists, shows and transcribes calls, and finds one by the beginning of its id", async () => {
    const answers: Answers = {
      listCalls: () => ({ body: [{ id, to: "+34600111222", status: "closed" }] }),
      getCall: ({ params }) => ({
        body: { id: params["callId"], status: "closed", transcript: "<b>[A]</b> Hi" },
      }),
    };
    expect((await remote(["calls", "list", "-q"], answers)).stdout).toBe(`${id}\n`);
    expect((await remote(["call", "transcript", "0197d4c2"], answers)).stdout).toBe("A: Hi\n");
    expect((await remote(["call", "view", "ffff"], answers)).code).toBe(5);
  });

  it("takes a campaign without what only the daemon knows", async () => {
    await using home = await TempHome.create();
    await using server = await RecordingServer.onPort({
      launchCampaign: () => ({
        status: 202,
        body: { success: true, message: "ok", campaign_id: id, scheduled: false, total_contacts: 1 },
      }),
    });
    await writeFile(home.path("in.csv"), "phone\n+34600111222\n");
    const { code, stdout } = await runCli(
      ["campaign", "launch", home.path("in.csv"), "--playbook", playbook, "--host", server.url],
      { home: home.directory, env: { OUTDIAL_TOKEN: token } },
    );
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${id}\n` });
    expect(server.of("launchCampaign")[0]?.body).toEqual({
      playbook_id: playbook,
      contacts: [{ phone: "+34600111222" }],
    });
  });

  it.each([
    [["campaign", "list"], "needs the daemon's own socket"],
    [["trunk", "list"], "needs the daemon's own socket"],
    [["daemon", "stop"], "needs the daemon's own socket"],
    [
      ["call", "start", "+34600111222", "--playbook", playbook, "--trunk", "x"],
      "--trunk is not part of the public API",
    ],
    [
      ["call", "start", "+34600111222", "--playbook", playbook, "--follow"],
      "--follow is not part of the public API",
    ],
    [["call", "start", "+34600111222", "--playbook", "welcome"], "can only be given a playbook's id"],
    [["calls", "list", "--account", "x"], "the token decides the account"],
  ])("refuses %j with 2 and says why; nothing is sent", async (argv, why) => {
    const { code, stderr, server } = await remote(argv, {});
    expect(code).toBe(2);
    expect(stderr).toContain(why);
    expect(server.seen).toEqual([]);
  });

  it("is only asked by the commands that say so", () => {
    expect(commands.filter((spec) => spec.remote === true).map((spec) => spec.name)).toEqual([
      "call start",
      "call list",
      "call view",
      "call tail",
      "call transcript",
      "campaign launch",
    ]);
  });

  it("is waited for when it says 429, as long as it says", async () => {
    let asked = 0;
    const clock = new VirtualClock();
    let armed = 0;
    const counting = {
      now: () => clock.now(),
      alarm: (at: number, wake: () => void) => {
        armed++;
        return clock.alarm(at, wake);
      },
    };
    const started = runRemoteOn(counting, () =>
      asked++ === 0
        ? { status: 429, headers: { "retry-after": "7" }, body: { error: "Slow down", retry_after: 7 } }
        : { body: [] },
    );
    await eventually(() => armed === 1);
    clock.advance(6_999);
    expect(asked).toBe(1);
    clock.advance(300);
    const { code, stderr } = await started;
    expect({ code, asked }).toEqual({ code: 0, asked: 2 });
    expect(stderr).toContain("rate limited: trying again in 7 s");
  });

  it("is given up with 11 when it asks for more than --retry-for", async () => {
    const { code, server } = await remote(["calls", "list", "--retry-for", "5s"], {
      listCalls: () => ({
        status: 429,
        headers: { "retry-after": "60" },
        body: { error: "Slow down", retry_after: 60 },
      }),
    });
    expect(code).toBe(11);
    expect(server.seen).toHaveLength(1);
  });

  it("that refuses the token is 4", async () => {
    const { code, stderr } = await remote(["calls", "list"], {
      listCalls: () => ({ status: 401, body: { error: "Not authenticated" } }),
    });
    expect(code).toBe(4);
    expect(stderr).not.toContain(token);
  });

  it("without a token is 4, one that cannot be reached 6, one without encryption 2", async () => {
    await using home = await TempHome.create();
    const run = (host: string, env = {}) =>
      runCli(["calls", "list", "--host", host], { home: home.directory, env });
    expect((await run("http://127.0.0.1:1")).code).toBe(4);
    expect((await run("http://127.0.0.1:1", { OUTDIAL_TOKEN: token })).code).toBe(6);
    expect((await run("http://voice.example.com", { OUTDIAL_TOKEN: token })).code).toBe(2);
    expect(remoteUrl("voice.example.com").origin).toBe("https://voice.example.com");
  });
});

describe("auth", () => {
  it("keeps a token that works in an owner-only file, warns, finds it again, and forgets it", async () => {
    await using home = await TempHome.create();
    await using server = await RecordingServer.onPort({ listCalls: () => ({ body: [] }) });
    const run = (...argv: string[]) => runCli(argv, { home: home.directory, stdin: `${token}\n` });

    const login = await run("auth", "login", "--host", server.url, "--profile", "prod", "--token-stdin");
    expect(login.code).toBe(0);
    expect(login.stderr).toContain("plain text");
    expect((await stat(home.path("tokens.json"))).mode & 0o777).toBe(0o600);
    expect(await readFile(home.path("profiles.toml"), "utf8")).not.toContain(token);

    expect((await run("calls", "list", "--profile", "prod")).code).toBe(0);
    expect(server.seen.at(-1)?.headers.authorization).toBe(`Bearer ${token}`);

    const status = await run("auth", "status", "--json");
    expect(JSON.parse(status.stdout)).toMatchObject([
      { profile: "prod", host: server.url, token: "outdial_0123…" },
    ]);
    expect(status.stdout + status.stderr).not.toContain(token);
    expect(status.stderr).toContain("plain text");

    expect((await run("auth", "logout", "--profile", "prod")).code).toBe(0);
    expect(await readFile(home.path("tokens.json"), "utf8")).not.toContain(token);
    expect((await run("calls", "list", "--profile", "prod")).code).toBe(2);
    expect((await run("auth", "logout", "--profile", "prod")).code).toBe(5);
  });

  it("keeps nothing when the service refuses the token", async () => {
    await using home = await TempHome.create();
    await using server = await RecordingServer.onPort({
      listCalls: () => ({ status: 401, body: { error: "no" } }),
    });
    const { code } = await runCli(["auth", "login", "--host", server.url, "--token-stdin"], {
      home: home.directory,
      stdin: token,
    });
    expect(code).toBe(4);
    await expect(stat(home.path("tokens.json"))).rejects.toThrow("ENOENT");
    await expect(stat(home.path("profiles.toml"))).rejects.toThrow("ENOENT");
  });

  it("reads a token from a file or a command each time; a file that others can read is refused", async () => {
    await using home = await TempHome.create();
    await using server = await RecordingServer.onPort({ listCalls: () => ({ body: [] }) });
    await writeFile(home.path("t"), `${token}\n`, { mode: 0o600 });
    const run = (argv: string[], env = {}) => runCli(argv, { home: home.directory, env });
    expect((await run(["auth", "login", "--host", server.url, "--token-file", home.path("t")])).code).toBe(0);
    expect((await run(["calls", "list", "--profile", "remote"])).code).toBe(0);
    expect(
      (await run(["calls", "list", "--host", server.url], { OUTDIAL_TOKEN_COMMAND: `printf %s ${token}` }))
        .code,
    ).toBe(0);
    expect(new Set(server.seen.map((seen) => seen.headers.authorization))).toEqual(
      new Set([`Bearer ${token}`]),
    );
    await chmod(home.path("t"), 0o644);
    const refused = await run(["calls", "list", "--profile", "remote"]);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("chmod 600");
  });

  it("never takes a token as an argument", () => {
    const flags = commands.flatMap((spec) => (spec.options ?? []).map((option) => option.flags));
    expect(flags.filter((flag) => /--(token|password|secret)(\s|$)/.test(flag))).toEqual([]);
  });
});

async function runRemoteOn(clock: Clock, answer: () => object) {
  await using home = await TempHome.create();
  await using server = await RecordingServer.onPort({ listCalls: answer });
  return await runCli(["calls", "list", "--host", server.url], {
    home: home.directory,
    env: { OUTDIAL_TOKEN: token },
    io: { steady: clock },
  });
}

async function eventually(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve));
}
