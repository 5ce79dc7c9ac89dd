/*
 * How many conversations one machine carries: `node test/bench/calls.ts [25 50 100 200]`, after `npm run build`.
 * Each row: so many recorded calls at once from a daemon to `outdiald sandbox` in another process on the same
 * machine. The gaps are those of the kernel's own time stamps at the receiver's socket (tcpdump), the ideal is 20 ms.
 */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { RtpGaps } from "./rtp-gaps.ts";

const root = join(import.meta.dirname, "..", "..");
const windowMs = 15_000;
const ticksPerSecond = 100;

const sizes = process.argv.slice(2).map(Number);
print("calls  daemon CPU  sandbox CPU  daemon RSS  packets  gap p50  gap p99  gap max");
for (const size of sizes.length > 0 ? sizes : [25, 50, 100, 200]) print(await measure(size));

async function measure(size: number): Promise<string> {
  const home = mkdtempSync(join(tmpdir(), "outdial-bench-"));
  const environment = { ...process.env, OUTDIAL_HOME: home };
  const outdial = (...words: string[]): string => {
    const run = spawnSync(process.execPath, ["bin/outdial", ...words], {
      cwd: root,
      env: environment,
      encoding: "utf8",
    });
    if (run.status !== 0) throw new Error(`outdial ${words.join(" ")}: ${run.stderr}`);
    return run.stdout;
  };
  writeFileSync(
    join(home, "config.toml"),
    '[daemon]\nlisten = "127.0.0.1:0"\nmax_calls_per_worker = 1000\n',
    { mode: 0o600 },
  );
  writeFileSync(join(home, "playbook.md"), playbook());
  writeFileSync(join(home, "contacts.csv"), ["phone", ...numbers(size)].join("\n"));
  const carrier = await startCarrier();
  try {
    outdial("playbook", "apply", join(home, "playbook.md"));
    outdial("trunk", "add", "far", "--sandbox", "--server", `127.0.0.1:${carrier.port}`);
    outdial(
      "campaign",
      "launch",
      join(home, "contacts.csv"),
      "--playbook",
      "bench",
      "--trunk",
      "far",
      "--yes",
      "-q",
    );
    const { pid } = JSON.parse(outdial("status", "--json")) as { pid: number };
    await until(() => carrier.answered() >= size, 60_000);
    return await sample(size, pid, carrier);
  } finally {
    spawnSync(process.execPath, ["bin/outdial", "daemon", "stop", "--now"], { cwd: root, env: environment });
    carrier.process.kill("SIGTERM");
    rmSync(home, { recursive: true, force: true });
  }
}

async function sample(size: number, pid: number, carrier: { process: ChildProcess }): Promise<string> {
  const sandboxPid = carrier.process.pid ?? 0;
  const capture = join(mkdtempSync(join(tmpdir(), "outdial-pcap-")), "rtp.pcap");
  const ports = udpPortsOf(pid);
  const tcpdump = spawn("tcpdump", ["-i", "lo", "-s", "80", "-B", "65536", "-w", capture, "udp"], {
    stdio: "ignore",
  });
  await pause(1_000);
  const before = [cpuTicks(pid), cpuTicks(sandboxPid)];
  await pause(windowMs);
  const after = [cpuTicks(pid), cpuTicks(sandboxPid)];
  const rss = rssMiB(pid);
  tcpdump.kill("SIGINT");
  await new Promise((resolve) => tcpdump.once("exit", resolve));
  const gaps = RtpGaps.read(capture, ports);
  rmSync(join(capture, ".."), { recursive: true, force: true });
  const percent = (index: number): string =>
    `${Math.round((((after[index] ?? 0) - (before[index] ?? 0)) / ticksPerSecond / (windowMs / 1000)) * 100)} %`;
  return [
    String(size).padStart(5),
    percent(0).padStart(11),
    percent(1).padStart(12),
    `${rss} MiB`.padStart(11),
    String(gaps.count).padStart(8),
    ...[0.5, 0.99, 1].map((q) => `${gaps.quantile(q).toFixed(1)} ms`.padStart(8)),
  ].join(" ");
}

async function startCarrier() {
  const carrier = spawn(process.execPath, ["bin/outdiald", "sandbox", "--listen", "127.0.0.1:0"], {
    cwd: root,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let answered = 0;
  createInterface({ input: carrier.stdout }).on("line", (line) => {
    if (line.includes('"type":"answered"')) answered++;
  });
  const port = await new Promise<number>((resolve) => {
    createInterface({ input: carrier.stderr }).on("line", (line) => {
      const found = /:(\d+) \(UDP\)/.exec(line)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
  });
  return { process: carrier, port, answered: () => answered };
}

/** A greeting long enough for the whole window. */
function playbook(): string {
  const sentence = "This is a long message that keeps the line busy while the packets are counted. ";
  return `---\nname: bench\nlanguage: en\nopening: "${sentence.repeat(14).trim()}"\nscript:\n  bye:\n    say: Goodbye.\n    end: { success: true }\n---\n`;
}

/** 200 to 999 answer alike. */
function numbers(size: number): string[] {
  return Array.from({ length: size }, (_, index) => `+9990000${200 + index}`);
}

/** Local UDP ports of a process, from its open sockets. */
function udpPortsOf(pid: number): ReadonlySet<number> {
  const inodes = new Set(
    readdirSync(`/proc/${pid}/fd`).flatMap((fd) => {
      try {
        return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/${pid}/fd/${fd}`))?.[1] ?? [];
      } catch {
        return []; // Closed meanwhile.
      }
    }),
  );
  const rows = readFileSync(`/proc/${pid}/net/udp`, "utf8").trim().split("\n").slice(1);
  return new Set(
    rows.flatMap((row) => {
      const columns = row.trim().split(/\s+/);
      return inodes.has(columns[9] ?? "") ? Number.parseInt(columns[1]?.split(":")[1] ?? "", 16) : [];
    }),
  );
}

/** utime and stime of a process with all its threads. */
function cpuTicks(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [];
  return Number(fields[11]) + Number(fields[12]);
}

function rssMiB(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) / 1024);
}

async function until(condition: () => boolean, ms: number): Promise<void> {
  for (const end = performance.now() + ms; !condition() && performance.now() < end;) await pause(100);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
