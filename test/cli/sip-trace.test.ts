import { execFile } from "node:child_process";
import { readFile, stat } from "node:fs/promises";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { pcapHeader, pcapPacket } from "../../src/cli/pcap.ts";
import { ladder, type TracedMessage } from "../../src/cli/sip-ladder.ts";
import { RecordingServer, type Answers } from "../support/recording-server.ts";
import { runCli, type CliOptions } from "../support/run-cli.ts";
import { TempHome } from "../support/temp-home.ts";

const id = "0197d4c2-7f3a-7b1c-8000-000000000001";

function message(fields: Partial<TracedMessage> & { readonly firstLine: string; readonly cseq: string }) {
  const { firstLine, cseq, ...rest } = fields;
  const sdp = firstLine.startsWith("INVITE") ? "c: application/sdp\r\n\r\nv=0\r\n" : "\r\n";
  return {
    attempt: 1,
    seq: 1,
    at: "2026-11-21T09:15:30.042Z",
    direction: "sent",
    transport: "udp",
    local: "192.0.2.1:5062",
    remote: "192.0.2.9:5060",
    first_line: firstLine,
    text: `${firstLine}\r\nVia: SIP/2.0/UDP 192.0.2.1:5062;branch=z9hG4bK1\r\nCall-ID: x@outdial\r\nCSeq: ${cseq}\r\n${sdp}`,
    ...rest,
  } as const satisfies TracedMessage;
}

const messages = [
  message({ firstLine: "INVITE sip:+34600111222@h SIP/2.0", cseq: "1 INVITE" }),
  message({ firstLine: "SIP/2.0 180 Ringing", cseq: "1 INVITE", seq: 2, direction: "received" }),
  message({ firstLine: "SIP/2.0 486 Busy\u001b[31m Here", cseq: "1 INVITE", seq: 5, direction: "received" }),
];

const record = {
  id,
  to: "+34600111222",
  status: "busy",
  outcome: { state: "busy", cause: "busy" },
  attempts: [
    attempt(1, { outcome: { state: "no-answer", hung_up_by: "agent" } }),
    attempt(2, {
      ringing_at: "2026-11-21T09:15:31.400Z",
      evidence: { early_media_at: "2026-11-21T09:15:32.000Z" },
      outcome: { state: "busy", hung_up_by: "callee", q850: 17, sip_status: 486 },
    }),
  ],
};

function attempt(n: number, more: Readonly<Record<string, unknown>>) {
  return {
    n,
    state: "ended",
    sip_call_id: "x@outdial",
    started_at: "2026-11-21T09:15:30.000Z",
    ringing_at: null,
    answered_at: null,
    ended_at: "2026-11-21T09:15:40.000Z",
    evidence: {},
    ...more,
  };
}

async function run(argv: readonly string[], answers: Answers, options: Partial<CliOptions> = {}) {
  await using home = await TempHome.create();
  await using server = await RecordingServer.onSocket(home.socketPath, answers);
  const words = argv.map((word) => word.replace("HOME", home.directory));
  const result = await runCli([...words, "--tz", "UTC"], {
    home: home.directory,
    ...options,
    env: { NO_COLOR: "1", ...options.env },
  });
  const capture = await readFile(home.path("out.pcap")).catch(() => undefined);
  const mode = await stat(home.path("out.pcap")).then(
    ({ mode }) => mode & 0o777,
    () => undefined,
  );
  return { ...result, server, capture, mode, listing: await listingOf(home.path("out.pcap"), capture) };
}

/** What tcpdump reads in the file. */
async function listingOf(path: string, there: unknown): Promise<string> {
  if (there === undefined) return "";
  return (await promisify(execFile)("tcpdump", ["-nn", "-vv", "-r", path])).stdout;
}

const kept: Answers = {
  getCall: () => ({ body: record }),
  getCallSip: () => ({ body: messages }),
};

describe("call view", () => {
  it("says when it rang, was answered and ended, who ended it and why the network says so", async () => {
    const { stdout } = await run(["call", "view", id], kept, { columns: 120 });
    expect(stdout).toMatch(/first_ring_at: +\+1\.4 s\n/);
    expect(stdout).toMatch(/early_media_at: +\+2\.0 s\n/);
    expect(stdout).toMatch(/ended_at: +\+10\.0 s\n/);
    expect(stdout).toMatch(/ended_by: +callee\n/);
    expect(stdout).toMatch(/q850: +17 user busy\n/);
    expect(stdout).toContain("attempt 1  2026-11-21 09:15:30  end +10.0 s, no-answer, by agent\n");
    expect(stdout).toContain(
      "attempt 2  2026-11-21 09:15:30  ring +1.4 s, early media +2.0 s, end +10.0 s, busy, by callee, Q.850 17 user busy\n",
    );
  });

  it("gives the same to programs, exactly", async () => {
    const { stdout } = await run(["call", "view", id, "--json=first_ring_at,answered_at,q850"], kept);
    expect(JSON.parse(stdout)).toEqual({
      first_ring_at: "2026-11-21T09:15:31.400Z",
      answered_at: null,
      q850: 17,
    });
  });

  it("--sip draws the ladder, cleaned of what a terminal would obey", async () => {
    const { stdout } = await run(["call", "view", id, "--sip"], kept, { columns: 120 });
    expect(stdout).toContain("attempt 1, udp, Call-ID x@outdial\n");
    expect(stdout).toMatch(/^09:15:30\.042 {2}INVITE \(SDP\) ─+▶ {2}CSeq 1 INVITE$/m);
    expect(stdout).toMatch(/^09:15:30\.042 {2}◀─+ 180 Ringing {2}CSeq 1 INVITE$/m);
    expect(stdout).toContain("… 2 not kept");
    expect(stdout).toContain("486 Busy Here");
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    expect(stdout).not.toMatch(/\u001b/);
    const verbose = await run(["call", "view", id, "--sip", "--verbose"], kept, { columns: 120 });
    expect(verbose.stdout).toContain("\n    Via: SIP/2.0/UDP 192.0.2.1:5062;branch=z9hG4bK1\n");
  });

  it("--sip --json holds the messages", async () => {
    const { stdout } = await run(["call", "view", id, "--sip", "--json"], kept);
    expect((JSON.parse(stdout) as { sip: unknown }).sip).toEqual(messages);
  });

  it("--pcap writes what tcpdump reads as SIP, readable by the owner only", async () => {
    const { listing, mode, stderr } = await run(["call", "view", id, "--pcap", "HOME/out.pcap"], kept);
    expect(mode).toBe(0o600);
    expect(stderr).toContain("wrote 3 messages");
    expect(listing).toMatch(
      /192\.0\.2\.1\.5062 > 192\.0\.2\.9\.5060: \[udp sum ok\] SIP, length: \d+\n\tINVITE/,
    );
    expect(listing).toMatch(/192\.0\.2\.9\.5060 > 192\.0\.2\.1\.5062: \[udp sum ok\] SIP/);
    expect(listing).not.toMatch(/bad (?:udp )?cksum/);
  });

  it("says so when nothing was kept", async () => {
    const { code, stderr } = await run(["call", "view", id, "--sip"], {
      ...kept,
      getCallSip: () => ({ body: [] }),
    });
    expect(code).toBe(0);
    expect(stderr).toContain("no SIP messages");
  });
});

describe("trunk trace", () => {
  const event = (seq: number, trunk: string, one: TracedMessage, more: object = {}) =>
    `${JSON.stringify({ seq, type: "sip-message", call_id: id, campaign_id: null, at: one.at, data: { trunk, ...one, ...more } })}\n`;
  const beat = `${JSON.stringify({ seq: 0, type: "heartbeat", call_id: null, campaign_id: null, at: "", data: {} })}\n`;
  const ended = `${JSON.stringify({ seq: 9, type: "call-ended", call_id: id, campaign_id: null, at: "", data: {} })}\n`;
  const streaming = (...lines: readonly string[]): Answers => ({
    getTrunk: () => ({ body: { name: "main" } }),
    events: () => ({
      stream: (async function* () {
        yield* lines;
      })(),
    }),
  });

  it("shows messages of its trunk as they pass, and writes the capture beside", async () => {
    const [invite = messages[0], ringing, busy] = messages;
    const { code, stdout, listing, server } = await run(
      ["trunk", "trace", "main", "--pcap", "HOME/out.pcap"],
      streaming(
        beat,
        event(0, "main", invite!),
        event(0, "other", ringing!),
        event(0, "main", busy!, { attempt: undefined }),
      ),
      {
        columns: 120,
        onOutput: (text, signal) => (text.includes("486") ? signal("SIGINT") : undefined),
      },
    );
    expect(code).toBe(130);
    expect(server.of("events")[0]?.query.get("types")).toBe("sip-message");
    expect(stdout).toContain("INVITE (SDP) ─");
    expect(stdout).not.toContain("180 Ringing");
    expect(listing.match(/SIP, length/g)).toHaveLength(2);
  });

  it("--call of a live call begins with what was kept, shows nothing twice, and ends with the call", async () => {
    const [invite, ringing, busy] = messages;
    const { code, stdout } = await run(["trunk", "trace", "--call", id], {
      ...streaming(beat, event(0, "main", ringing!), event(0, "main", busy!), ended),
      getCall: () => ({ body: { ...record, status: "ringing" } }),
      getCallSip: () => ({ body: [invite, ringing] }),
    });
    expect(code).toBe(0);
    const rows = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as { type: string; data: TracedMessage });
    expect(rows.map(({ data }) => data.seq)).toEqual([1, 2, 5]);
  });

  it("--call of a call that is over shows what was kept", async () => {
    const { code, stdout, server } = await run(["trunk", "trace", "--call", id], kept, { columns: 120 });
    expect(code).toBe(0);
    expect(stdout.match(/CSeq 1 INVITE/g)).toHaveLength(3);
    expect(server.of("events")).toEqual([]);
  });

  it("of an unknown trunk is refused, and a terminal gets no capture", async () => {
    expect((await run(["trunk", "trace", "nope"], {})).code).toBe(5);
    const { code } = await run(["trunk", "trace", "--pcap", "-"], {}, { columns: 80 });
    expect(code).toBe(2);
  });
});

describe("a capture", () => {
  it("knows IPv6, and addresses of two kinds", async () => {
    await using home = await TempHome.create();
    const payload = new TextEncoder().encode("OPTIONS sip:x SIP/2.0\r\nCSeq: 1 OPTIONS\r\n\r\n!");
    const { writeFile } = await import("node:fs/promises");
    await writeFile(
      home.path("six.pcap"),
      Buffer.concat([
        pcapHeader(),
        pcapPacket({ atMs: 1_795_255_200_123.5, from: "[2001:db8::1]:5060", to: "[::1]:5061", payload }),
        pcapPacket({ atMs: 0, from: "[fe80::1:2%eth0]:5060", to: "192.0.2.1:5060", payload }),
      ]),
    );
    const listing = await listingOf(home.path("six.pcap"), true);
    expect(listing).toMatch(/2001:db8::1\.5060 > ::1\.5061: \[udp sum ok\] SIP/);
    expect(listing).toMatch(/fe80::1:2\.5060 > ::ffff:192\.0\.2\.1\.5060: \[udp sum ok\]/);
  });
});

describe("the ladder", () => {
  it("begins each attempt with who talks to whom", () => {
    const text = ladder(
      [...messages, message({ firstLine: "BYE sip:x SIP/2.0", cseq: "2 BYE", attempt: 2 })],
      {
        zone: "UTC",
        verbose: false,
      },
    );
    expect(text.match(/^attempt \d/gm)).toEqual(["attempt 1", "attempt 2"]);
    expect(text).toMatch(/^ {14}192\.0\.2\.1:5062 +192\.0\.2\.9:5060$/m);
  });
});
