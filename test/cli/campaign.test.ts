import { readFile, stat, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { RecordingServer, type Answers, type Seen } from "../support/recording-server.ts";
import { runCli, withoutEscapes, type CliOptions } from "../support/run-cli.ts";
import { TempHome } from "../support/temp-home.ts";

const id = "0197d4c2-7f3a-7b1c-8000-000000000001";

const launched = (seen: Seen) => {
  const body = seen.body as { contacts: unknown[]; dry_run?: boolean };
  return {
    status: 202,
    body: {
      success: true,
      message: `${body.contacts.length} calls`,
      campaign_id: body.dry_run === true ? null : id,
      dry_run: body.dry_run === true,
      scheduled: false,
      launch_at: "2026-11-21T09:00:00.000Z",
      total_contacts: body.contacts.length,
      scheduled_calls: body.contacts.length,
      error_calls: 0,
      first_call_at: null,
      last_call_at: null,
      rejected: [],
    },
  };
};

const campaign = (finished: number, total = 4, status = finished === total ? "done" : "running") => ({
  id,
  name: "leads",
  playbook_id: id,
  version_id: null,
  status,
  launch_at: "2026-11-21T09:00:00.000Z",
  recall: [],
  max_concurrent: null,
  total,
  counts: { closed: finished },
  waiting: total - finished,
  live: 0,
  finished,
  created_at: "2026-11-21T09:00:00.000Z",
});

const lines = (count: number): string =>
  Array.from({ length: count }, (_, n) => `+346001${String(10_000 + n)}`).join("\n");

async function launch(
  csv: string,
  argv: readonly string[],
  options: Partial<CliOptions> & { answers?: Answers } = {},
) {
  await using home = await TempHome.create();
  await using server = await RecordingServer.onSocket(home.socketPath, {
    launchCampaign: launched,
    ...options.answers,
  });
  await writeFile(home.path("leads.csv"), csv);
  const result = await runCli(
    ["campaign", "launch", home.path("leads.csv"), "--playbook", "welcome", ...argv],
    {
      home: home.directory,
      ...options,
    },
  );
  const rejects = await readFile(home.path("bad.csv"), "utf8").catch(() => undefined);
  return { ...result, server, rejects };
}

describe("campaign launch", () => {
  it("sends the contacts, prints the id, shows the mapping on standard error", async () => {
    const { code, stdout, stderr, server } = await launch("Móvil;Nombre;Curso\n600111222;Ana;MBA\n", [
      "--country",
      "ES",
      "--name",
      "autumn",
      "--recall",
      "[120,30]",
      "--at",
      "2026-12-01T09:00:00Z",
      "--max-concurrent",
      "3",
      "--trunk",
      "main",
      "--key",
      "k",
    ]);
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${id}\n` });
    expect(stderr).toContain("Móvil → phone, Nombre → first_name, Curso → custom");
    expect(server.of("launchCampaign")[0]).toMatchObject({
      headers: { "idempotency-key": "k" },
      body: {
        playbook_id: "welcome",
        name: "autumn",
        contacts: [{ phone: "+34600111222", first_name: "Ana", custom_fields: { Curso: "MBA" } }],
        recall: [120, 30],
        launch_at: "2026-12-01T09:00:00.000Z",
        max_concurrent: 3,
        trunk: "main",
      },
    });
  });

  it("exits 7 with rejected rows and keeps them so that they can be fed again", async () => {
    await using home = await TempHome.create();
    await using server = await RecordingServer.onSocket(home.socketPath, { launchCampaign: launched });
    const bad = home.path("bad.csv");
    await writeFile(home.path("in.csv"), 'phone,note\n+34600111222,ok\n"60 0,1",x\n3.46E+10,"say ""hi"""\n');
    const line = (file: string, rejects: string) => [
      "campaign",
      "launch",
      file,
      "--playbook",
      "w",
      "--rejects",
      rejects,
    ];
    const first = await runCli(line(home.path("in.csv"), bad), { home: home.directory });
    expect(first.code).toBe(7);
    expect((await stat(bad)).mode & 0o777).toBe(0o600);
    const text = await readFile(bad, "utf8");
    expect(text.split("\r\n")[0]).toBe("phone,note,outdial_line,outdial_reason");
    expect(text).toContain('"60 0,1",x,3,');
    const fixed = text.replace('"60 0,1"', "+34600111333").replace("3.46E+10", "+34600111444");
    await writeFile(home.path("fixed.csv"), fixed);
    const second = await runCli(line(home.path("fixed.csv"), home.path("none.csv")), {
      home: home.directory,
    });
    expect(second.code).toBe(0);
    expect(server.of("launchCampaign")[1]?.body).toMatchObject({
      contacts: [
        { phone: "+34600111333", custom_fields: { note: "x" } },
        { phone: "+34600111444", custom_fields: { note: 'say "hi"' } },
      ],
    });
    await expect(stat(home.path("none.csv"))).rejects.toThrow("ENOENT");
  });

  it("counts duplicates, which are no failure", async () => {
    const { code, stdout } = await launch("phone\n+34600111222\n0034600111222\n", ["--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      total_contacts: 1,
      duplicates: 1,
      rejected_rows: 0,
      campaign_ids: [id],
    });
  });

  it("does not call more than 25 people without --yes where nobody can be asked", async () => {
    const refused = await launch(`phone\n${lines(26)}\n`, []);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("--yes");
    expect(refused.server.seen).toEqual([]);
    expect((await launch(`phone\n${lines(26)}\n`, ["--yes"])).code).toBe(0);
    expect((await launch(`phone\n${lines(25)}\n`, [])).code).toBe(0);
    expect((await launch(`phone\n${lines(26)}\n`, ["--limit", "3"])).code).toBe(0);
    expect((await launch(`phone\n${lines(26)}\n`, ["--dry-run"])).code).toBe(0);
  });

  it("asks on a terminal for the number itself", async () => {
    const csv = `phone\n${lines(26)}\n`;
    expect((await launch(csv, [], { columns: 80, stdin: "yes\n" })).code).toBe(3);
    const agreed = await launch(csv, [], { columns: 80, stdin: "26\n" });
    expect(agreed.code).toBe(0);
    expect(agreed.stderr).toContain("Type the number 26");
    expect((await launch(csv, ["--no-input"], { columns: 80, stdin: "26\n" })).code).toBe(2);
  });

  it("reads standard input, in another encoding too", async () => {
    await using home = await TempHome.create();
    await using server = await RecordingServer.onSocket(home.socketPath, { launchCampaign: launched });
    const { code, stderr } = await runCli(["campaign", "launch", "-", "--playbook", "w"], {
      home: home.directory,
      stdin: Buffer.from("phone,first_name\n+34600111222,Muñoz\n", "latin1"),
    });
    expect(code).toBe(0);
    expect(stderr).toContain("reading it as windows-1252");
    expect(server.of("launchCampaign")[0]?.body).toMatchObject({ contacts: [{ first_name: "Muñoz" }] });
  });

  it("says so when no row can be called, and sends nothing", async () => {
    const { code, stderr, server } = await launch("phone\nnope\n", []);
    expect(code).toBe(2);
    expect(stderr).toContain("line 2:");
    expect(server.seen).toEqual([]);
  });

  it("splits more than 100,000 contacts into parts under one key, in order, and loses none", async () => {
    const rows = Array.from({ length: 100_002 }, (_, n) => `+34600${String(100_000 + n)}`).join("\n");
    const { code, stdout, server } = await launch(`phone\n${rows}\n`, ["--yes", "--json", "--key", "big"]);
    expect(code).toBe(0);
    const sent = server.of("launchCampaign");
    expect(sent.map((seen) => (seen.body as { contacts: unknown[] }).contacts.length)).toEqual([100_000, 2]);
    expect(sent.map((seen) => seen.headers["idempotency-key"])).toEqual(["big#1", "big#2"]);
    expect(JSON.parse(stdout)).toMatchObject({ total_contacts: 100_002, campaign_ids: [id, id] });
  });

  it("keeps what the server rejects, too", async () => {
    await using home = await TempHome.create();
    await using _server = await RecordingServer.onSocket(home.socketPath, {
      launchCampaign: (seen) => {
        const answer = launched(seen);
        return {
          ...answer,
          body: {
            ...answer.body,
            error_calls: 1,
            rejected: [{ index: 1, phone: "x", reason: "no such range" }],
          },
        };
      },
    });
    await writeFile(home.path("in.csv"), "phone\n+34600111222\n+34600111333\n");
    const { code } = await runCli(
      ["campaign", "launch", home.path("in.csv"), "--playbook", "w", "--rejects", home.path("bad.csv")],
      { home: home.directory },
    );
    expect(code).toBe(7);
    expect(await readFile(home.path("bad.csv"), "utf8")).toContain("+34600111333,3,no such range");
  });

  it("--wait goes on until the last call is over", async () => {
    let asked = 0;
    const { code } = await launch("phone\n+34600111222\n", ["--wait"], {
      answers: {
        getCampaign: () => ({ body: campaign(Math.min(4, 3 + asked++)) }),
        events: () => ({ stream: (async function* () {})() }),
      },
    });
    expect({ code, asked }).toEqual({ code: 0, asked: 2 });
  });
});

describe("campaign watch", () => {
  const watching = (figures: () => unknown): Answers => ({
    getCampaign: () => ({ body: figures() }),
    events: () => ({
      stream: (async function* () {
        yield `${JSON.stringify({ seq: 1, type: "call-ended", call_id: id, at: "2026-11-21T09:15:30.000Z", data: { state: "closed", duration: 9, success: true } })}\n`;
      })(),
    }),
  });

  async function watch(answers: Answers, options: Partial<CliOptions> = {}, argv: readonly string[] = []) {
    await using home = await TempHome.create();
    await using _server = await RecordingServer.onSocket(home.socketPath, answers);
    return await runCli(["campaign", "watch", "0197d4c2", ...argv], { home: home.directory, ...options });
  }

  it("prints lines in a pipe and ends with the campaign", async () => {
    let asked = 0;
    const { code, stdout } = await watch(watching(() => campaign(asked++ === 0 ? 1 : 4)));
    expect(code).toBe(0);
    expect(stdout.split("\n")[0]).toContain("leads: running · 1 of 4 (25 %)");
    expect(stdout.trimEnd().split("\n").at(-1)).toContain("4 of 4 (100 %)");
  });

  it("prints the daemon's figures as JSON lines", async () => {
    const { stdout } = await watch(
      watching(() => campaign(4)),
      {},
      ["--json"],
    );
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => JSON.parse(line).finished),
    ).toEqual([4]);
  });

  it("draws on a terminal, and what was drawn last stays", async () => {
    let asked = 0;
    const { code, stdout } = await watch(
      watching(() => campaign(asked++ < 2 ? 1 : 4)),
      { columns: 80 },
    );
    expect(code).toBe(0);
    const text = withoutEscapes(stdout);
    expect(text).toContain("Ctrl-C stops watching");
    expect(text).toContain("4 of 4");
    expect(text).toContain("last calls");
  });

  it("detaches at Ctrl-C with 130 and steers nothing", async () => {
    let asked = 0;
    let interrupt = (): void => undefined;
    const { code, stderr } = await watch(
      watching(() => {
        if (asked++ > 0) setImmediate(interrupt);
        return campaign(1);
      }),
      { onOutput: (_text, signal) => (interrupt = () => signal("SIGINT")) },
    );
    expect(code).toBe(130);
    expect(stderr).toContain("the campaign goes on");
  });

  it("gives up with 8", async () => {
    expect(
      (
        await watch(
          watching(() => campaign(1)),
          {},
          ["--timeout", "100ms"],
        )
      ).code,
    ).toBe(8);
  });
});

describe("campaign pause, resume and stop", () => {
  const answers: Answers = {
    getCampaign: () => ({ body: campaign(1) }),
    pauseCampaign: () => ({ body: campaign(1, 4, "paused") }),
    resumeCampaign: () => ({
      status: 409,
      body: { error: { code: "wrong-state", message: "It is not paused" } },
    }),
    stopCampaign: () => ({ body: campaign(1, 4, "stopped") }),
  };

  it.each([
    [["pause", "0197"], 0, "pauseCampaign"],
    [["resume", "0197"], 10, "resumeCampaign"],
    [["stop", "0197", "--yes"], 0, "stopCampaign"],
    [["stop", "0197"], 2, "getCampaign"],
  ])("%j exits %i", async (argv, code, last) => {
    await using home = await TempHome.create();
    await using server = await RecordingServer.onSocket(home.socketPath, answers);
    const result = await runCli(["campaign", ...argv], { home: home.directory });
    expect(result.code).toBe(code);
    expect(server.seen.at(-1)?.operation).toBe(last);
  });
});
