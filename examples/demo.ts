/*
 * The main job from one command: a daemon on a temporary home, a campaign from a CSV over real SIP to the sandbox
 * carrier, watched live, checked at the end. Exit code 0 only if every contact ended as it should.
 */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

interface CallSeen {
  readonly id: string;
  readonly to: string;
  readonly attempts: number;
  readonly success: boolean;
  readonly outcome: { readonly state: string; readonly cause: string | null };
}

/** What each sandbox number leads to: state, cause of the last attempt, attempts within the first 80 seconds. */
const expected: Readonly<Record<string, readonly [state: string, cause: string, attempts: number]>> = {
  "+9990000001": ["closed", "completed", 1],
  "+9990000002": ["recall-scheduled", "voicemail", 2],
  "+9990000003": ["recall-scheduled", "busy", 2],
  "+9990000004": ["recall-scheduled", "ring-timeout", 2],
  "+9990000005": ["busy", "declined", 1],
  "+9990000006": ["wrong-number", "unallocated", 1],
  "+9990000007": ["recall-scheduled", "congestion", 2],
  "+9990000008": ["closed", "hung-up", 1],
  "+9990000009": ["closed", "opted-out", 1],
  "+9990000010": ["closed", "completed", 1],
  "+9990000011": ["closed", "completed", 1],
  // A telephone menu talks on like a mailbox; without a transcriber nobody can tell them apart.
  "+9990000012": ["recall-scheduled", "voicemail", 2],
};
const giveUpMs = 82_000;
const started = performance.now();

const home = mkdtempSync(join(tmpdir(), "outdial-demo-"));
const root = join(import.meta.dirname, "..");
const environment = { ...process.env, OUTDIAL_HOME: home };
writeFileSync(join(home, "config.toml"), '[daemon]\nlisten = "127.0.0.1:0"\nring_timeout_s = 12\n', {
  mode: 0o600,
});

try {
  step("a playbook becomes version 1, which is production");
  outdial("playbook", "apply", "examples/appointment.md", "-m", "First version");
  step("twelve contacts are called over SIP; the sandbox carrier answers");
  const launch = [
    "campaign",
    "launch",
    "examples/contacts.csv",
    "--playbook",
    "appointment",
    "--recall",
    "[1,2]",
  ];
  const campaign = outdial(...launch, "--yes", "-q").trim();
  await watchUntilSettled(campaign);
  step("the outcomes");
  outdialShown(
    "call",
    "list",
    "--campaign",
    campaign,
    "--fields",
    "to,status,outcome.cause,attempts,duration,success,summary",
  );
  const calls = callsOf(campaign);
  const first = calls.find(({ to }) => to === "+9990000001");
  if (first !== undefined) {
    step("one conversation");
    outdialShown("call", "transcript", first.id);
  }
  step("the recordings (left: agent, right: callee)");
  const recordings = join(home, "data", "recordings");
  for (const file of readdirSync(recordings).toSorted()) print(`  ${join(recordings, file)}`);
  judge(calls);
} finally {
  spawnSync(process.execPath, ["bin/outdial", "daemon", "stop"], {
    cwd: root,
    env: environment,
    stdio: "ignore",
  });
}

/** Follows the campaign on this terminal until every call is where it should be, or time is up. */
async function watchUntilSettled(campaign: string): Promise<void> {
  const watch = spawn(process.execPath, ["bin/outdial", "campaign", "watch", campaign], {
    cwd: root,
    env: environment,
    stdio: ["inherit", "inherit", "inherit"],
  });
  const exited = once(watch, "exit");
  while (performance.now() - started < giveUpMs && !callsOf(campaign).every(isSettled)) {
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  watch.kill("SIGINT");
  await exited;
}

function isSettled(call: CallSeen): boolean {
  const [state, cause, attempts] = expected[call.to] ?? [];
  return call.outcome.state === state && call.outcome.cause === cause && call.attempts === attempts;
}

function judge(calls: readonly CallSeen[]): void {
  const wrong = calls.filter((call) => !isSettled(call));
  for (const { to, outcome, attempts } of wrong) {
    const [state, cause, wanted] = expected[to] ?? [];
    print(
      `${to}: ${outcome.state} (${outcome.cause}) after ${attempts}, expected ${state} (${cause}) after ${wanted}`,
    );
  }
  const seconds = Math.round((performance.now() - started) / 1000);
  const good = wrong.length === 0 && calls.length === Object.keys(expected).length;
  print(
    `\n${good ? "every outcome is the expected one" : "some outcomes are not the expected ones"} (${seconds} s)`,
  );
  process.exitCode = good ? 0 : 1;
}

function callsOf(campaign: string): readonly CallSeen[] {
  const calls: readonly CallSeen[] = JSON.parse(outdial("call", "list", "--campaign", campaign, "--json"));
  return calls;
}

function outdial(...words: string[]): string {
  const run = spawnSync(process.execPath, ["bin/outdial", ...words], {
    cwd: root,
    env: environment,
    encoding: "utf8",
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (run.status !== 0) throw new Error(`outdial ${words.join(" ")} ended with ${run.status}`);
  return run.stdout;
}

function outdialShown(...words: string[]): void {
  print(`$ outdial ${words.join(" ")}`);
  spawnSync(process.execPath, ["bin/outdial", ...words], { cwd: root, env: environment, stdio: "inherit" });
}

function step(text: string): void {
  print(`\n── ${text}`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
