import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { objectOf } from "../../src/cli/json.ts";
import { RecordingServer, type Answers } from "../support/recording-server.ts";
import { runCli, type CliOptions } from "../support/run-cli.ts";
import { TempHome } from "../support/temp-home.ts";

const other = "0197d4c2-7f3a-7b1c-8000-0000000000ff";
const id = "0197d4c2-7f3a-7b1c-8000-000000000001";

/** A call record in the get vocabulary. */
const record = (status: string, more: Readonly<Record<string, unknown>> = {}) => ({
  id,
  status,
  success: false,
  duration: 0,
  to: "+9990000001",
  transcript: "<b>[Assistant]</b> Hello.<br><br><b>[Customer]</b> Yes &amp; no.",
  summary: "",
  outcome: { state: status, cause: null },
  data: "{}",
  attempts: [],
  ...more,
});

async function run(argv: readonly string[], answers: Answers, options: Partial<CliOptions> = {}) {
  await using home = await TempHome.create();
  await using server = await RecordingServer.onSocket(home.socketPath, answers);
  const result = await runCli(argv, { home: home.directory, ...options });
  return { ...result, server };
}

const started: Answers = {
  startCall: () => ({ body: { id, success: true, message: "Queued", dry_run: false } }),
};

describe("call start", () => {
  it("prints the id alone, and what happened on standard error", async () => {
    const { code, stdout, stderr } = await run(
      ["call", "start", "+9990000001", "--playbook", "welcome"],
      started,
    );
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: `${id}\n`, stderr: "Queued\n" });
  });

  it("hands everything over as it was given", async () => {
    const line =
      "call start +9990000001 --playbook welcome --version v1 --voice 3 --voice-model fast --language EN --interrupt " +
      "--param a=1 --param b=x=y --param __proto__=z --trunk main --recall 30m,2h --at 2026-12-01T09:00:00Z --key k1 --account clinic";
    const { code, server } = await run(line.split(" "), started);
    expect(code).toBe(0);
    const [seen] = server.of("startCall");
    expect(seen?.headers).toMatchObject({ "idempotency-key": "k1", "outdial-account": "clinic" });
    expect(JSON.stringify(objectOf(seen?.body)["params"])).toBe('{"a":"1","b":"x=y","__proto__":"z"}');
    expect(seen?.body).toMatchObject({
      phone: "+9990000001",
      playbook_id: "welcome",
      version_id: "v1",
      voice_id: "3",
      voice_model: "fast",
      language: "EN",
      interrupt: true,
      trunk: "main",
      recall: [30, 120],
      at: "2026-12-01T09:00:00.000Z",
    });
  });

  it("is not misled by a bare --json before the number", async () => {
    const { code, stdout, server } = await run(
      ["call", "start", "--json", "+9990000001", "--playbook", "w"],
      started,
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ id, dry_run: false });
    expect(server.of("startCall")[0]?.body).toMatchObject({ phone: "+9990000001" });
  });

  it("reads parameters from a JSON file, flags stronger", async () => {
    const { code, server } = await run(
      ["call", "start", "+9990000001", "--playbook", "w", "--params-file", "-", "--param", "a=2"],
      started,
      { stdin: '{"a":1,"n":3}' },
    );
    expect(code).toBe(0);
    expect(server.of("startCall")[0]?.body).toMatchObject({ params: { a: "2", n: "3" } });
  });

  it("says which playbook flag is missing, before anything is asked", async () => {
    const { code, stderr, server } = await run(["call", "start", "+9990000001"], started);
    expect(code).toBe(2);
    expect(stderr).toContain("--playbook");
    expect(server.seen).toEqual([]);
  });

  it("takes the playbook of the configuration", async () => {
    await using home = await TempHome.create();
    await home.configure('calling_hours = "mon-fri 09:00-21:00"');
    const { appendFile } = await import("node:fs/promises");
    await appendFile(home.path("outdial.toml"), 'playbook = "ours"\nhost = "https://evil.example"\n');
    await using server = await RecordingServer.onSocket(home.socketPath, started);
    expect((await runCli(["call", "start", "+9990000001"], { home: home.directory })).code).toBe(0);
    expect(server.of("startCall")[0]?.body).toMatchObject({ playbook_id: "ours" });
  });

  it.each([
    ["closed", { success: true }, 0],
    ["closed", { success: false }, 20],
    ["voicemail", {}, 21],
    ["no-answer", {}, 22],
    ["no-answer", { outcome: { state: "no-answer", cause: "declined" } }, 23],
    ["busy", {}, 23],
    ["wrong-phone-format", {}, 24],
    ["failed", {}, 25],
    ["wmat", {}, 25],
    ["recall-scheduled", {}, 26],
  ])("--wait on a call that ends %s %j exits %i", async (status, more, code) => {
    let asked = 0;
    const result = await run(["call", "start", "+9990000001", "--playbook", "w", "--wait", "--json"], {
      ...started,
      getCall: () => ({ body: asked++ === 0 ? record("ringing") : record(status, more) }),
    });
    expect(result.code).toBe(code);
    expect(JSON.parse(result.stdout)).toMatchObject({ status });
  });

  it("--wait gives up with 8 when the time is over", async () => {
    const { code, stderr } = await run(
      ["call", "start", "+9990000001", "--playbook", "w", "--wait", "--timeout", "100ms"],
      { ...started, getCall: () => ({ body: record("open") }) },
    );
    expect(code).toBe(8);
    expect(stderr).toContain(`outdial call watch ${id}`);
  });

  it("--wait stops at Ctrl-C with 130; the call goes on, and that is said", async () => {
    const { code, stderr, server } = await run(
      ["call", "start", "+9990000001", "--playbook", "w", "--wait"],
      { ...started, getCall: () => ({ body: record("open") }) },
      {
        onOutput: (text, signal) =>
          text.includes("Queued") ? setImmediate(() => signal("SIGINT")) : undefined,
      },
    );
    expect(code).toBe(130);
    expect(stderr).toContain("the call goes on");
    expect(server.of("hangUpCall")).toEqual([]);
  });

  it("--follow prints the conversation and exits with the call's code", async () => {
    let ended = false;
    const events = async function* () {
      const at = "2026-11-21T09:15:30.000Z";
      yield `${JSON.stringify({ seq: 1, type: "call-ringing", call_id: id, at, data: {} })}\n`;
      const turn = { speaker: "callee", text: "Yes\u001b[31m!", via: "rtt" };
      yield `${JSON.stringify({ seq: 2, type: "turn-finished", call_id: id, at, data: { turn } })}\n{"seq":2,"type":"heartbeat","data":{}}\n`;
      ended = true;
      yield `${JSON.stringify({ seq: 3, type: "call-ended", call_id: id, at, data: { state: "closed" } })}\n`;
    };
    const { code, stdout, server } = await run(
      ["call", "start", "+9990000001", "--playbook", "w", "-f"],
      {
        ...started,
        events: () => ({ stream: events() }),
        getCall: () => ({ body: ended ? record("closed", { success: true, duration: 12 }) : record("open") }),
      },
      { columns: 80 },
    );
    expect(code).toBe(0);
    expect(stdout).toContain("09:15:30  ringing\n");
    expect(stdout).toContain("Callee (typed): Yes!\n");
    expect(stdout).toContain("ended: closed, objectives met, 12 s");
    expect(server.of("events")[0]?.query.get("call")).toBe(id);
  });

  it.each([
    [{ status: 422, body: { error: { code: "suppressed", message: "On the do-not-call list" } } }, 12],
    [{ status: 404, body: { error: { code: "playbook-not-found", message: "No playbook" } } }, 5],
    [{ status: 409, body: { error: { code: "idempotency-conflict", message: "Other content" } } }, 10],
    [{ status: 409, body: { error: { code: "ambiguous-id", message: "Two" } } }, 2],
    [{ status: 400, body: { error: { code: "bad-request", message: "phone is no number" } } }, 2],
    [{ status: 503, body: { error: { code: "stopping", message: "Stopping" } } }, 6],
    [{ status: 500, body: "broken" }, 1],
  ])("a refusal %j exits %i with the server's words and nothing on standard output", async (answer, code) => {
    const result = await run(["call", "start", "+9990000001", "--playbook", "w"], {
      startCall: () => answer,
    });
    expect(result.code).toBe(code);
    expect(result.stdout).toBe("");
    expect(result.stderr).toMatch(/^error: /);
  });
});

describe("the other call commands", () => {
  it("list asks for what is wanted and filters what the published status does not tell apart", async () => {
    const rows = [
      record("rong-phone-forno-answer", { outcome: { state: "busy" } }),
      record("rong-phone-forno-answer", { outcome: { state: "no-answer" } }),
    ];
    const { stdout, server } = await run(
      [
        "calls",
        "list",
        "--status",
        "busy",
        "--since",
        "2026-11-20",
        "--tz",
        "UTC",
        "--phone",
        "+34600111222",
        "--json=status_label",
      ],
      { listCalls: () => ({ body: rows }) },
    );
    expect(JSON.parse(stdout)).toEqual([{ status_label: "busy" }]);
    expect(Object.fromEntries(server.of("listCalls")[0]!.query)).toMatchObject({
      status: "rong-phone-forno-answer",
      startDate: "2026-11-20T00:00:00.000Z",
      phone: "+34600111222",
    });
  });

  it("list goes on page by page until the limit, and says that there is more", async () => {
    const page = (n: number) => ({
      headers: { "outdial-next-cursor": `c${n}` },
      body: Array.from({ length: 20 }, () => record("closed")),
    });
    const { stdout, stderr, server } = await run(["calls", "list", "-q"], { listCalls: () => page(1) });
    expect(stdout.trimEnd().split("\n")).toHaveLength(30);
    expect(stderr).toContain("--all");
    expect(server.of("listCalls").map((seen) => seen.query.get("cursor"))).toEqual([null, "c1"]);
  });

  it.each([
    ["text", "Assistant: Hello.\nCustomer: Yes & no.\n"],
    ["html", "<b>[Assistant]</b> Hello.<br><br><b>[Customer]</b> Yes &amp; no.\n"],
    ["json", '[{"speaker":"Assistant","text":"Hello."},{"speaker":"Customer","text":"Yes & no."}]\n'],
  ])("transcript -o %s", async (format, text) => {
    const { stdout } = await run(["call", "transcript", id, "-o", format], {
      getCall: () => ({ body: record("closed") }),
    });
    expect(stdout).toBe(text);
  });

  it("recording writes the bytes to a file that only the owner may read", async () => {
    await using home = await TempHome.create();
    const bytes = Buffer.from([82, 73, 70, 70, 0, 255]);
    await using _server = await RecordingServer.onSocket(home.socketPath, {
      getRecording: () => ({
        headers: { "content-type": "audio/wav" },
        stream: (async function* () {
          yield bytes;
        })(),
      }),
    });
    const out = home.path("a.wav");
    const { code } = await runCli(["call", "recording", id, "--out", out], { home: home.directory });
    expect(code).toBe(0);
    expect(await readFile(out)).toEqual(bytes);
  });

  it("recording refuses to fill a terminal", async () => {
    const { code } = await run(["call", "recording", id, "--out", "-"], {}, { columns: 80 });
    expect(code).toBe(2);
  });

  it("hangup ends what it can and says 7 when something was left", async () => {
    const { code, stdout, stderr } = await run(["call", "hangup", id, "gone", "-y", "-o", "ids"], {
      hangUpCall: ({ params }) =>
        params["id"] === id
          ? { body: record("failed") }
          : { status: 404, body: { error: { code: "call-not-found", message: "No call" } } },
    });
    expect(code).toBe(7);
    expect(stdout).toBe(`${id}\n`);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "call-not-found" } });
  });

  it("hangup --all-live ends what is live, and minds nobody who hung up meanwhile", async () => {
    const live = [record("open"), { ...record("open"), id: other }];
    const { code, stdout, server } = await run(["call", "hangup", "--all-live", "--yes", "-q"], {
      listLiveCalls: () => ({ body: live }),
      hangUpCall: ({ params }) =>
        params["id"] === id
          ? { body: record("closed") }
          : { status: 409, body: { error: { code: "wrong-state", message: "The call is closed" } } },
    });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${id}\n` });
    expect(server.of("hangUpCall")).toHaveLength(2);
    const none = await run(["call", "hangup", "--all-live", "-q"], { listLiveCalls: () => ({ body: [] }) });
    expect(none).toMatchObject({ code: 0, stdout: "" });
  });

  it("hangup --all-live asks first, and wants no ids; without either it says so", async () => {
    const asked = await run(["call", "hangup", "--all-live"], {
      listLiveCalls: () => ({ body: [record("open")] }),
    });
    expect(asked.code).toBe(2);
    expect(asked.stderr).toContain("--yes");
    expect((await run(["call", "hangup", "--all-live", id], {})).code).toBe(2);
    expect((await run(["call", "hangup"], {})).code).toBe(2);
  });

  it("resolve needs a decision and hands the note over", async () => {
    expect((await run(["call", "resolve", id], {})).code).toBe(2);
    const { server } = await run(["call", "resolve", id, "--as", "closed", "--note", "she called"], {
      resolveCall: () => ({ body: record("closed") }),
    });
    expect(server.of("resolveCall")[0]?.body).toEqual({ as: "closed", note: "she called" });
  });

  it("without a daemon and with --no-start end with 6", async () => {
    await using home = await TempHome.create();
    const { code, stdout, stderr } = await runCli(["calls", "list", "--no-start"], { home: home.directory });
    expect({ code, stdout }).toEqual({ code: 6, stdout: "" });
    expect(stderr).toContain("outdial daemon start");
  });
});
