import { describe, expect, it } from "vitest";
import { RecordingServer, type Answers } from "../support/recording-server.ts";
import { runCli, type CliOptions } from "../support/run-cli.ts";
import { TempHome } from "../support/temp-home.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const ana = "0197d4c2-7f3a-7b1c-8000-000000000001";
const ben = "0197d4c2-7f3a-7b1c-8000-000000000002";
const playbook = "0197d4c2-7f3a-7b1c-8000-00000000000a";
const at = "2026-11-21T09:15:30.000Z";

interface Happening {
  readonly seq?: number;
  readonly type: string;
  readonly call?: string;
  readonly at?: string;
  readonly data?: Readonly<Record<string, unknown>>;
}

/** One line of the event stream. */
function line({ seq = 1, type, call = ana, at: moment = at, data = {} }: Happening): string {
  const about = { to: call === ana ? "+34600111222" : "+34600333444", playbook_name: "welcome" };
  const shared = { playbook_id: playbook, ...about, ...data };
  return `${JSON.stringify({ seq, type, call_id: call, campaign_id: null, at: moment, data: shared })}\n`;
}

function beat(seq: number, stream = at): string {
  return `${JSON.stringify({ seq, type: "heartbeat", call_id: null, campaign_id: null, at, data: { stream } })}\n`;
}

function turn(speaker: string, text: string, via = "voice"): Partial<Happening> {
  return { type: "turn-finished", data: { turn: { speaker, text, via } } };
}

const happenings: readonly string[] = [
  beat(0),
  line({ seq: 1, type: "call-dialing", data: { attempt: 1 } }),
  line({ seq: 2, type: "call-answered", call: ben }),
  line({ seq: 3, ...turn("agent", "Good morning"), type: "turn-finished" }),
  line({ seq: 4, ...turn("callee", "How much\u001b[31m is it?"), type: "turn-finished", call: ben }),
  line({ seq: 5, ...turn("callee", "1", "dtmf"), type: "turn-finished" }),
  line({ seq: 6, type: "verdict-reached", data: { verdict: { kind: "person" } } }),
  line({ seq: 7, type: "call-ended", call: ben, data: { state: "voicemail", duration: 4 } }),
];

async function run(
  argv: readonly string[],
  answers: Answers,
  options: Partial<CliOptions> = {},
  remote = false,
) {
  await using home = await TempHome.create();
  await using server = remote
    ? await RecordingServer.onPort(answers)
    : await RecordingServer.onSocket(home.socketPath, answers);
  const host = remote ? ["--host", server.url] : [];
  const token = remote ? { OUTDIAL_TOKEN: "outdial_0123456789abcdefSECRETSECRETSECRET" } : {};
  const result = await runCli(["call", "tail", "--tz", "UTC", ...argv, ...host], {
    home: home.directory,
    ...options,
    env: { ...token, ...options.env },
  });
  return { ...result, server };
}

/** Answers the event stream with these lines, once each connection. */
function streams(...connections: readonly (readonly string[])[]): Answers {
  let n = 0;
  return {
    events: () => {
      const lines = connections[Math.min(n++, connections.length - 1)] ?? [];
      return {
        stream: (async function* () {
          yield* lines;
        })(),
      };
    },
  };
}

const once = ["--no-follow"];
const terminal = { columns: 120, env: { NO_COLOR: "1" } };

describe("call tail", () => {
  it("prints on a terminal one line for each event: time, number, playbook, who and what", async () => {
    const { code, stdout } = await run(once, streams(happenings), terminal);
    expect(code).toBe(0);
    expect(stdout.split("\n")).toEqual([
      "09:15:30  +34600111222     welcome         · dialing",
      "09:15:30  +34600333444     welcome         · answered",
      "09:15:30  +34600111222     welcome         Agent : Good morning",
      "09:15:30  +34600333444     welcome         Callee: How much is it?",
      "09:15:30  +34600111222     welcome         Callee (keys): 1",
      "09:15:30  +34600111222     welcome         · answered by: person",
      "09:15:30  +34600333444     welcome         · ended: voicemail, 4 s",
      "",
    ]);
  });

  it("gives each call a colour of its own, and only where colours may be", async () => {
    const { stdout } = await run(once, streams(happenings), {
      columns: 120,
      env: { FORCE_COLOR: "1" },
    });
    // oxlint-disable-next-line no-control-regex -- colours are what is looked for
    const colours = [...stdout.matchAll(/\u001b\[(\d+)m(\+\d+)/g)].map(([, sgr, phone]) => `${phone} ${sgr}`);
    expect(new Set(colours).size).toBe(2);
    expect(new Set(colours.map((text) => text.split(" ")[1])).size).toBe(2);
  });

  it("prints JSON lines in a pipe, as the daemon sent them", async () => {
    const { stdout } = await run(once, streams(happenings));
    expect(stdout.trimEnd().split("\n")).toHaveLength(7);
    expect(JSON.parse(stdout.split("\n")[0] ?? "")).toMatchObject({
      seq: 1,
      type: "call-dialing",
      call_id: ana,
      data: { to: "+34600111222", playbook_name: "welcome" },
    });
  });

  it.each([
    [
      ["--speaker", "callee", "--events", "turn,dtmf"],
      [4, 5],
    ],
    [
      ["--grep", "MUCH|good"],
      [3, 4],
    ],
    [["--events", "dtmf"], [5]],
    [
      ["--events", "status,verdict"],
      [1, 2, 6, 7],
    ],
    [["--status", "voicemail"], [7]],
    [
      ["--status", "open,busy", "--events", "status"],
      [1, 2],
    ],
    [["--playbook", "0197d4c2-7f3a-7b1c-8000-00000000000b"], []],
    [
      ["--since", "2026-11-21T09:15:30Z"],
      [1, 2, 3, 4, 5, 6, 7],
    ],
    [["--since", "2026-11-21T09:15:31Z"], []],
  ])("with %j shows the events %j", async (argv, seqs) => {
    const { stdout } = await run([...once, ...argv], streams(happenings));
    const shown = stdout.split("\n").filter((text) => text !== "");
    expect(shown.map((text) => (JSON.parse(text) as { seq: number }).seq)).toEqual(seqs);
  });

  it.each([
    [["--events", "turns"], "--events does not take"],
    [["--speaker", "contact"], "agent,callee"],
    [["--status", "dead"], 'no status "dead"'],
    [["--grep", "("], "no regular expression"],
  ])("refuses %j before anything is asked", async (argv, words) => {
    const { code, stderr, server } = await run(argv, {});
    expect(code).toBe(2);
    expect(stderr).toContain(words);
    expect(server.seen).toEqual([]);
  });

  it("asks the daemon only for what it shows, and for words in the making only when told to", async () => {
    const asked = async (argv: readonly string[]) =>
      (await run([...once, ...argv], streams([]))).server.of("events")[0]?.query;
    const types = (await asked(["--events", "verdict"]))?.get("types");
    expect(types).toBe("verdict-reached,voicemail-message-left");
    expect((await asked([]))?.get("types")).not.toContain("partial");
    expect((await asked(["--partials"]))?.get("types")).toContain("partial");
    expect((await asked([]))?.get("follow")).toBe("false");
  });

  it("goes on after a break where it was, so that nothing is missed or shown twice", async () => {
    const { code, stdout, server } = await run(
      [],
      streams(
        [beat(4), line({ seq: 5, type: "call-ringing" })],
        [beat(5), line({ seq: 6, type: "call-answered" })],
        [beat(6), line({ seq: 7, type: "call-ended", data: { state: "closed" } })],
      ),
      {
        onOutput: (text, signal) => (text.includes("call-ended") ? signal("SIGINT") : undefined),
      },
    );
    expect(code).toBe(130);
    const seqs = stdout
      .trimEnd()
      .split("\n")
      .map((text) => (JSON.parse(text) as { seq: number }).seq);
    expect(seqs).toEqual([5, 6, 7]);
    expect(server.of("events").map(({ query }) => query.get("since"))).toEqual([null, "5", "6"]);
  });

  it("begins anew with a daemon that was started anew, and says so", async () => {
    const later = "2026-11-21T10:00:00.000Z";
    const { stdout, stderr, server } = await run(
      [],
      streams(
        [beat(40)],
        [beat(40, later)],
        [beat(0, later), line({ seq: 1, type: "call-ended", data: { state: "busy" } })],
      ),
      { onOutput: (text, signal) => (text.includes("call-ended") ? signal("SIGINT") : undefined) },
    );
    expect(stderr).toContain("started anew");
    expect(stdout).toContain('"seq":1');
    expect(server.of("events").map(({ query }) => query.get("since"))).toEqual([null, "40", "0"]);
  });

  it("says how many events were lost", async () => {
    const lost = { seq: 9, type: "events-lost", call_id: null, campaign_id: null, at, data: { count: 12 } };
    const { stdout, stderr } = await run(
      [],
      streams([beat(3), `${JSON.stringify(lost)}\n`, line({ seq: 10, type: "call-ringing" })]),
      { onOutput: (text, signal) => (text.includes("call-ringing") ? signal("SIGINT") : undefined) },
    );
    expect(stderr).toContain("12 events lost");
    expect(JSON.parse(stdout.split("\n")[0] ?? "")).toMatchObject({ type: "events-lost" });
  });

  it("says when the time asked for is longer ago than the daemon runs", async () => {
    const { stderr } = await run([...once, "--since", "2026-11-21T08:00:00Z"], streams(happenings));
    expect(stderr).toContain("nothing is held of the time before 2026-11-21 09:15:30");
  });

  it("shows words in the making in a line of their own that goes away", async () => {
    const partial = { seq: 0, type: "turn-partial", data: { speaker: "callee", text: "How mu" } };
    const { stdout, stderr } = await run(
      ["--partials", ...once],
      streams([beat(0), line(partial), line({ ...turn("callee", "How much?"), type: "turn-finished" })]),
      terminal,
    );
    expect(stderr).toContain("Callee: How mu…");
    expect(stdout).toBe("09:15:30  +34600111222     welcome         Callee: How much?\n");
  });
});

describe("call tail on a remote service", () => {
  const record = (status: string, more: Readonly<Record<string, unknown>> = {}) => ({
    id: ana,
    to: "+34600111222",
    status,
    playbook_name: "welcome",
    assistant_id: playbook,
    transcript: "",
    timestamp: Date.now(),
    duration: 0,
    ...more,
  });

  it("looks at the calls again and again, waits when told to, and tells what changed", async () => {
    const steady = new VirtualClock();
    const lists = [
      { body: [record("open")] },
      { status: 429, headers: { "retry-after": "2" }, body: { error: "slow down" } },
      { body: [record("open")] },
      { body: [record("closed", { success: true, duration: 9, transcript: said(3) })] },
    ];
    const gets = ["ringing", "open"];
    let asked = 0;
    const pump = setInterval(() => steady.advance(500), 1);
    const { code, stdout, stderr } = await run(
      [],
      {
        listCalls: () => lists[Math.min(asked++, lists.length - 1)] ?? {},
        getCall: () => {
          const status = gets.shift() ?? "open";
          return { body: record(status, status === "open" ? { transcript: said(1) } : {}) };
        },
      },
      {
        io: { steady },
        onOutput: (text, signal) => (text.includes("call-ended") ? signal("SIGINT") : undefined),
      },
      true,
    );
    clearInterval(pump);
    expect(code).toBe(130);
    expect(stderr).toContain("rate limited: trying again in 2 s");
    const events = stdout
      .trimEnd()
      .split("\n")
      .map((text) => JSON.parse(text) as { type: string; data: { turn?: unknown } });
    expect(events.map(({ type, data }) => [type, data.turn])).toEqual([
      ["turn-finished", { speaker: "agent", label: "Assistant", text: "Words 1" }],
      ["turn-finished", { speaker: "callee", label: "Customer", text: "Words 2" }],
      ["turn-finished", { speaker: "agent", label: "Assistant", text: "Words 3" }],
      ["call-ended", undefined],
    ]);
  });

  it("prints what there is with --no-follow", async () => {
    const { code, stdout } = await run(
      ["--no-follow", "--events", "status"],
      { listCalls: () => ({ body: [record("voicemail")] }) },
      terminal,
      true,
    );
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d\d:\d\d:\d\d {2}\+34600111222 {5}welcome {9}· ended: voicemail\n$/);
  });

  function said(turns: number): string {
    return Array.from(
      { length: turns },
      (_, n) => `<b>[${n % 2 === 0 ? "Assistant" : "Customer"}]</b> Words ${n + 1}`,
    ).join("<br><br>");
  }
});
