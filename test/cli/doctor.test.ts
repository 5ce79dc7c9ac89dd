import { chmod, mkdir, readFile, stat, utimes, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { masked } from "../../src/cli/doctor-mask.ts";
import { checkNode, leastNode } from "../../src/cli/doctor-machine.ts";
import manifest from "../../package.json" with { type: "json" };
import { RecordingServer, statusBody } from "../support/recording-server.ts";
import { runCli, type CliOptions } from "../support/run-cli.ts";
import { TempHome } from "../support/temp-home.ts";

interface Finding {
  readonly check: string;
  readonly state: string;
  readonly finding: string;
  readonly fix?: string;
}

/** The doctor in a home that a test has prepared. */
async function examine(
  prepare: (home: TempHome) => Promise<void> = async () => undefined,
  options: Partial<CliOptions> = {},
  argv: readonly string[] = [],
) {
  await using home = await TempHome.create();
  await prepare(home);
  const result = await runCli(["doctor", "--json", ...argv], { home: home.directory, ...options });
  const findings = JSON.parse(result.stdout) as readonly Finding[];
  const of = (check: string) => findings.find((one) => one.check === check);
  const report = await readFile(home.path("report.txt"), "utf8").catch(() => "");
  return { ...result, of, report };
}

describe("the doctor", () => {
  it("finds nothing wrong with a fresh machine, and starts nothing", async () => {
    const { code, of } = await examine();
    expect(code).toBe(0);
    expect(of("node")?.state).toBe("ok");
    expect(of("config")?.state).toBe("ok");
    expect(of("daemon")).toMatchObject({ state: "skipped" });
    expect(of("api port")).toMatchObject({ state: "ok", finding: "127.0.0.1:0 is free" });
    expect(of("keyring")?.state).toBe("skipped");
  });

  it("finds a broken and an open configuration, and secrets that others may read", async () => {
    const broken = await examine((home) => writeFile(home.path("config.toml"), "[daemon\n"));
    expect(broken.code).toBe(9);
    expect(broken.of("config")).toMatchObject({ state: "failed", finding: expect.stringContaining("TOML") });
    const open = await examine(async (home) => {
      await chmod(home.path("config.toml"), 0o666);
      await writeFile(home.path("trunk-secrets.json"), "{}", { mode: 0o644 });
      await chmod(home.path("trunk-secrets.json"), 0o644);
    });
    expect(open.of("config")?.fix).toContain("chmod go-w");
    expect(open.of("secrets")).toMatchObject({ state: "failed", fix: expect.stringContaining("chmod 600") });
  });

  it("looks at the directories, and at what a crash left behind", async () => {
    const { code, of } = await examine(async (home) => {
      await mkdir(home.dataDir);
      await chmod(home.dataDir, 0o755);
      await mkdir(home.path("run"), { mode: 0o700 });
      await writeFile(home.socketPath, "", { mode: 0o600 });
    });
    expect(code).toBe(9);
    expect(of("data")).toMatchObject({ state: "failed", fix: expect.stringContaining("chmod 700") });
    expect(of("socket")).toMatchObject({ state: "warning", finding: expect.stringContaining("crash") });
    const tidy = await examine(async (home) => {
      await mkdir(home.dataDir, { mode: 0o700 });
    });
    expect(tidy.of("data")?.finding).toMatch(/ (GiB|MiB) free$/);
  });

  it("finds the port that another program has", async () => {
    const other = createServer();
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const { code, of } = await examine((home) => home.configure(`listen = "127.0.0.1:${port}"`));
    other.close();
    expect(code).toBe(9);
    expect(of("api port")).toMatchObject({
      state: "failed",
      finding: `127.0.0.1:${port} is taken by another program`,
    });
  });

  it("asks a running daemon: its version, its API, its trunks, and who may connect", async () => {
    await using home = await TempHome.create();
    const trunk = {
      ...statusBody.trunks[0],
      kind: "digest",
      name: "main",
      health: "held",
      health_reason: "403",
    };
    await mkdir(home.path("run"), { mode: 0o755 });
    await chmod(home.path("run"), 0o755);
    await using _server = await RecordingServer.onSocket(home.socketPath, {
      status: () => ({
        body: {
          ...statusBody,
          api: { address: "127.0.0.1", port: 9, url: "" },
          version: "9.9.9",
          trunks: [trunk],
        },
      }),
    });
    const { code, stdout } = await runCli(["doctor", "--json"], { home: home.directory });
    const of = (name: string) =>
      (JSON.parse(stdout) as readonly Finding[]).find(({ check }) => check === name);
    expect(code).toBe(9);
    expect(of("daemon")).toMatchObject({ state: "warning", finding: expect.stringContaining("9.9.9 runs") });
    expect(of("api port")).toMatchObject({ state: "failed" });
    expect(of("trunks")).toMatchObject({
      state: "failed",
      finding: "main: 403",
      fix: "outdial trunk test main",
    });
    expect(of("socket")).toMatchObject({
      state: "failed",
      finding: expect.stringContaining("others may connect"),
    });
  });

  it("finds a clock that was set back", async () => {
    const { of } = await examine(async (home) => {
      await mkdir(home.path("state"));
      await writeFile(home.logFile, "");
      await utimes(home.logFile, new Date(), new Date(Date.now() + 3_600_000));
    });
    expect(of("clock")).toMatchObject({
      state: "failed",
      finding: expect.stringContaining("was written at"),
    });
  });

  it("says when there is neither a built-in voice nor a keychain", async () => {
    const { of } = await examine(undefined, { env: { OUTDIAL_KEYRING: "auto" } });
    expect(of("keyring")).toMatchObject({ state: "warning", finding: expect.stringContaining("owner-only") });
    expect(["ok", "warning"]).toContain(of("speech")?.state);
  });

  it("prints lines for a person, with what to do", async () => {
    await using home = await TempHome.create();
    await writeFile(home.path("config.toml"), "[daemon\n");
    const { stdout } = await runCli(["doctor"], { home: home.directory, columns: 100 });
    expect(stdout).toMatch(/^ok {7}node {6}version /m);
    expect(stdout).toMatch(/^failed {3}config {3}.*\n +fix: correct the file$/m);
  });

  it("writes a report that names nobody, for its owner only", async () => {
    await using home = await TempHome.create();
    await mkdir(home.path("state"));
    const line = {
      msg: "call to +34600111222",
      token: "outdial_abcdefgh12345678XYZ",
      mail: "ana@example.com",
    };
    await writeFile(home.logFile, `${JSON.stringify(line)}\n`);
    const path = home.path("report.txt");
    const { code } = await runCli(["doctor", "--report", path], {
      home: home.directory,
      env: { HOME: home.directory },
    });
    expect(code).toBe(0);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const report = await readFile(path, "utf8");
    expect(report).toContain("call to +34*******22");
    expect(report).toContain("variables set: OUTDIAL_HOME");
    expect(report).toContain("directories: ~, ~/data");
    for (const secret of ["600111222", "XYZ", "ana@", home.directory]) expect(report).not.toContain(secret);
  });
});

it("the least Node is the one of the package", () => {
  expect(manifest.engines.node).toBe(`>=${leastNode}`);
  expect(checkNode("24.10.9").state).toBe("failed");
  expect(checkNode("24.11.0").state).toBe("ok");
  expect(checkNode("26.0.0").state).toBe("ok");
});

it.each([
  ["sip:34600111222@192.0.2.1", "sip:34*******22@192.0.2.1"],
  ["sip:bob@sip.example.com and bob@example.com", "sip:[masked]@sip.example.com and [masked]@[masked]"],
  ['{"password":"a b","x":1}', '{"password":[masked],"x":1}'],
  ["Authorization: Digest username=x", "Authorization: [masked] [masked]"],
  ["seq 1234567890 at 2026-11-21T09:15:30.000Z", "seq 1234567890 at 2026-11-21T09:15:30.000Z"],
])("masks %j as %j", (text, clean) => {
  expect(masked(text, undefined)).toBe(clean);
});
