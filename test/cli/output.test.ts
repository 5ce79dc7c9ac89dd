import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { cleanText, pad, textWidth, truncate } from "../../src/cli/clean-text.ts";
import { clockText, parseDuration, shortSpan } from "../../src/cli/durations.ts";
import { fieldValue } from "../../src/cli/fields.ts";
import { parseMoment } from "../../src/cli/moment.ts";
import { parseRecallOption } from "../../src/cli/recall-option.ts";
import { csvCell, csvLine, tsvLine } from "../../src/cli/separated.ts";
import { idByPrefix, shortIds } from "../../src/cli/short-id.ts";
import { transcriptText, transcriptTurns } from "../../src/cli/transcript.ts";
import { RecordingServer } from "../support/recording-server.ts";
import { runCli, withoutEscapes } from "../support/run-cli.ts";
import { TempHome } from "../support/temp-home.ts";

const calls = [
  {
    id: "0197d4c2-7f3a-7b1c-8000-000000000001",
    created_time: "2026-11-21 08:00:00",
    timestamp: Date.UTC(2026, 10, 21, 8),
    to: "+34600111222",
    from: "",
    status: "rong-phone-forno-answer",
    duration: 0,
    success: false,
    summary: "=cmd|' /C calc'!A0",
    outcome: { state: "busy", cause: "busy" },
    data: { params: { course: "MBA\u001b[31m" } },
    attempts: 1,
  },
  {
    id: "0197d4c2-7f3a-7b1c-8000-000000000002",
    created_time: "2026-11-21 09:00:00",
    timestamp: Date.UTC(2026, 10, 21, 9),
    to: "+34600111333",
    from: "",
    status: "closed",
    duration: 95,
    success: true,
    summary: "Wants a call\u0007 on Monday\u202e",
    outcome: { state: "closed", cause: "completed" },
    data: { params: {} },
    attempts: 2,
  },
];

async function list(argv: readonly string[], columns?: number) {
  await using home = await TempHome.create();
  await using _server = await RecordingServer.onSocket(home.socketPath, {
    listCalls: () => ({ body: calls }),
  });
  return await runCli(["calls", "list", ...argv], {
    home: home.directory,
    ...(columns === undefined ? {} : { columns }),
  });
}

describe("a list", () => {
  it("is tab-separated with a header in a pipe, with whole ids and exact times", async () => {
    const { stdout } = await list(["--tz", "UTC"]);
    const [header, first] = stdout.split("\n");
    expect(header?.split("\t").slice(0, 3)).toEqual(["id", "created_time", "to"]);
    expect(first?.split("\t").slice(0, 3)).toEqual([calls[0]?.id, "2026-11-21 08:00:00", "+34600111222"]);
  });

  it("is a table on a terminal: short ids, plain words, no control characters, no more columns than fit", async () => {
    const { stdout } = await list([], 72);
    const text = withoutEscapes(stdout);
    expect(text).toContain("busy");
    expect(text).toContain("1:35");
    expect(["\u0007", "\u202e"].filter((control) => text.includes(control))).toEqual([]);
    expect(text).toContain("+34600111222");
    for (const line of text.trimEnd().split("\n")) expect(textWidth(line)).toBeLessThanOrEqual(120);
  });

  it("is an array in JSON with the published status and a readable label beside it", async () => {
    const rows = JSON.parse((await list(["--json"])).stdout);
    expect(rows[0]).toMatchObject({ status: "rong-phone-forno-answer", status_label: "busy" });
    expect(rows).toHaveLength(2);
  });

  it("gives chosen fields only, into objects with a dot", async () => {
    expect(JSON.parse((await list(["--json=to,params.course"])).stdout)).toEqual([
      { to: "+34600111222", "params.course": "MBA\u001b[31m" },
      { to: "+34600111333", "params.course": null },
    ]);
    expect((await list(["--json", "to"])).stdout).toBe('[{"to":"+34600111222"},{"to":"+34600111333"}]\n');
    expect((await list(["--fields", "to", "--no-header"])).stdout).toBe("+34600111222\n+34600111333\n");
  });

  it("is ids only with -q", async () => {
    expect((await list(["-q"])).stdout).toBe(`${calls[0]?.id}\n${calls[1]?.id}\n`);
  });

  it("is one object a line in jsonl", async () => {
    const lines = (await list(["-o", "jsonl"])).stdout.trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line).to)).toEqual(["+34600111222", "+34600111333"]);
  });

  it("guards formulas in CSV, and leaves phone numbers alone", async () => {
    const { stdout } = await list(["-o", "csv", "--fields", "to,summary"]);
    expect(stdout.split("\r\n").slice(0, 2)).toEqual(["to,summary", "+34600111222,'=cmd|' /C calc'!A0"]);
  });

  it("escapes in JSON what a terminal would obey", async () => {
    const { stdout } = await list(["--json=summary"], 80);
    expect(stdout).toContain("\\u202e");
    expect(["\u0007", "\u202e"].filter((control) => stdout.includes(control))).toEqual([]);
  });

  it("that is empty is no failure", async () => {
    await using home = await TempHome.create();
    await using _server = await RecordingServer.onSocket(home.socketPath, {
      listCalls: () => ({ body: [] }),
    });
    const { code, stdout } = await runCli(["calls", "list", "-o", "json"], { home: home.directory });
    expect({ code, stdout }).toEqual({ code: 0, stdout: "[]\n" });
  });

  it("ends well when its reader goes away", async () => {
    await using home = await TempHome.create();
    await using _server = await RecordingServer.onSocket(home.socketPath, {
      listCalls: () => ({ body: calls }),
    });
    const { Writable } = await import("node:stream");
    const gone = new Writable({
      write: (_chunk, _encoding, done) => done(Object.assign(new Error("EPIPE"), { code: "EPIPE" })),
    });
    const { code, stderr } = await runCli(["calls", "list"], { home: home.directory, io: { stdout: gone } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  });
});

describe("text from outside", () => {
  it("holds no control character after cleaning, whatever it was", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        // oxlint-disable-next-line no-control-regex -- what must be gone
        expect(cleanText(text)).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/);
      }),
    );
  });

  it("keeps its words: escape sequences go as a whole", () => {
    expect(cleanText("\u001b[31mred\u001b[0m \u001b]8;;http://x\u0007link\u001b]8;;\u0007\u001b[2J")).toBe(
      "red link",
    );
    expect(cleanText("a\nb\tc")).toBe("a b c");
  });

  it("is cut and padded to cells, wide characters counting two", () => {
    expect(textWidth("日本é")).toBe(5);
    expect(truncate("Señora Muñoz", 7)).toBe("Señora…");
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 20 }), (text, cells) => {
        expect(textWidth(truncate(text, cells))).toBeLessThanOrEqual(Math.max(cells, 1));
        expect(textWidth(pad(truncate(text, cells), cells))).toBeGreaterThanOrEqual(cells);
      }),
    );
  });
});

describe("separated values", () => {
  it("quote what must be quoted and guard what a spreadsheet would run", () => {
    expect(csvLine(['say "hi"', "a,b", "-1.5", "+34600111222", "+1+1", "@x"])).toBe(
      '"say ""hi""","a,b",-1.5,+34600111222,\'+1+1,\'@x\r\n',
    );
    expect(csvCell("\t=1")).toBe("'\t=1");
    expect(tsvLine(["a\tb", "c\nd"])).toBe("a b\tc d\n");
  });
});

describe("fields", () => {
  it("are read through dots, and through JSON text", () => {
    expect(fieldValue({ data: '{"params":{"a":1}}' }, "data.params.a")).toBe(1);
    expect(fieldValue({ data: "none" }, "data.params.a")).toBeUndefined();
    expect(fieldValue({ "a.b": 1, a: { b: 2 } }, "a.b")).toBe(1);
    expect(fieldValue({}, "constructor.name")).toBeUndefined();
  });
});

describe("ids", () => {
  it("are shown as long as it takes to tell them apart", () => {
    expect(shortIds([calls[0]!.id])).toEqual(["0197d4c2-7f3a"]);
    const [a, b] = shortIds(["0197d4c2-7f3a-7b1c-8000-1", "0197d4c2-7f3a-7c1c-8000-2"]);
    expect(a).not.toBe(b);
    expect(a).toBe("0197d4c2-7f3a-7b");
  });

  it("are found by a unique beginning only", () => {
    expect(idByPrefix("ab", ["abc", "xyz"], "call")).toBe("abc");
    expect(() => idByPrefix("ab", ["abc", "abd"], "call")).toThrow(/2 call ids/);
    expect(() => idByPrefix("q", ["abc"], "call")).toThrow(/there is no call q/);
  });
});

describe("times", () => {
  const noon = Date.UTC(2026, 10, 21, 12);

  it.each([
    ["90s", 90_000],
    ["2h30m", 9_000_000],
    ["1d", 86_400_000],
    ["15", 15_000],
    ["soon", undefined],
    ["", undefined],
  ])("%j lasts %s ms", (text, ms) => expect(parseDuration(text)).toBe(ms));

  it("are written briefly", () => {
    expect([clockText(0), clockText(95), clockText(3725)]).toEqual(["0:00", "1:35", "1:02:05"]);
    expect([shortSpan(45_000), shortSpan(7_200_000), shortSpan(200_000_000)]).toEqual(["45s", "2h", "2d"]);
  });

  it.each([
    ["2026-12-01 09:00", "2026-12-01T08:00:00.000Z"],
    ["2026-12-01T09:00:00Z", "2026-12-01T09:00:00.000Z"],
    ["14:30", "2026-11-21T13:30:00.000Z"],
    ["09:00", "2026-11-22T08:00:00.000Z"],
    ["tomorrow 09:00", "2026-11-22T08:00:00.000Z"],
    ["in 2h", "2026-11-21T14:00:00.000Z"],
    ["+30m", "2026-11-21T12:30:00.000Z"],
  ])("%j is read in the zone", async (text, iso) => {
    expect(new Date(await parseMoment(text, noon, "Europe/Madrid")).toISOString()).toBe(iso);
  });

  it("that cannot be read are a usage error", async () => {
    await expect(parseMoment("next week", noon, "UTC")).rejects.toMatchObject({ exit: 2 });
  });

  it("of recalls are minutes, or spans", () => {
    expect(parseRecallOption("[30, 120]")).toEqual([30, 120]);
    expect(parseRecallOption("30m,2h")).toEqual([30, 120]);
    expect(() => parseRecallOption("[]")).toThrow(/--recall takes minutes/);
    expect(() => parseRecallOption("90s")).toThrow(/--recall takes minutes/);
  });
});

describe("a transcript", () => {
  it("becomes lines, with entities resolved once and tags gone", () => {
    const html = "<b>[Assistant]</b> Hi &amp;lt;b&gt; &#39;you&#39;<br><br><b>[Customer]</b> Yes<br>please";
    expect(transcriptText(html)).toBe("Assistant: Hi &lt;b> 'you'\nCustomer: Yes please");
    expect(transcriptTurns("")).toEqual([]);
  });
});
