import { appendFile, mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { statusBody } from "../support/recording-server.ts";
import { runCli } from "../support/run-cli.ts";
import { TempHome } from "../support/temp-home.ts";

/** A program in the place of outdiald: it answers on the socket of its OUTDIAL_HOME until it is told to stop. */
async function standIn(home: TempHome): Promise<readonly string[]> {
  await writeFile(
    home.path("outdiald.mjs"),
    `import { createServer } from "node:http";
     import { appendFileSync, mkdirSync } from "node:fs";
     const home = process.env.OUTDIAL_HOME;
     appendFileSync(home + "/started", JSON.stringify(process.argv.slice(2)) + "\\n");
     mkdirSync(home + "/run", { recursive: true });
     // Like the daemon's own lock: the second of two ends, however late it comes.
     try { mkdirSync(home + "/lock"); } catch { process.exit(1); }
     const server = createServer((request, response) => {
       response.setHeader("content-type", "application/json");
       if (request.url === "/admin/stop") {
         response.end("{}");
         server.close();
         server.closeAllConnections();
         return;
       }
       response.end(request.url === "/admin/status" ? JSON.stringify({ ...${JSON.stringify(statusBody)}, pid: process.pid }) : "[]");
     });
     server.on("error", (error) => { process.stderr.write(JSON.stringify({ msg: error.code }) + "\\n"); process.exitCode = 1; });
     server.listen(home + "/run/daemon.sock");`,
  );
  return [process.execPath, home.path("outdiald.mjs")];
}

describe("a command that needs the daemon", () => {
  it("starts it, says so, works; a second finds it; stop ends it", async () => {
    await using home = await TempHome.create();
    const io = { daemonCommand: await standIn(home) };
    const run = (...argv: string[]) => runCli(argv, { home: home.directory, io });

    const first = await run("calls", "list", "--json");
    expect(first).toMatchObject({
      code: 0,
      stdout: "[]\n",
      stderr: expect.stringMatching(/^started the daemon \(pid \d+\)\n/),
    });
    expect((await run("calls", "list", "-q")).stderr).toBe("no calls match\n");
    expect((await run("daemon", "start")).stderr).toContain("running already");
    expect((await readFile(home.path("started"), "utf8")).trimEnd().split("\n")).toEqual(['["run"]']);

    expect(await run("daemon", "stop")).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("stopped the daemon"),
    });
    expect((await run("daemon", "status")).code).toBe(6);
    expect(await run("daemon", "stop")).toMatchObject({ code: 0, stderr: "the daemon is not running\n" });
  });

  it("finds one daemon when two start it at once", async () => {
    await using home = await TempHome.create();
    const io = { daemonCommand: await standIn(home) };
    const run = (...argv: string[]) => runCli(argv, { home: home.directory, io });
    const both = await Promise.all([run("calls", "list"), run("calls", "list")]);
    expect(both.map(({ code }) => code)).toEqual([0, 0]);
    expect((await run("daemon", "stop")).code).toBe(0);
  });

  it("says what the daemon said when it does not start, and exits 6", async () => {
    await using home = await TempHome.create();
    await writeFile(
      home.path("broken.mjs"),
      `process.stderr.write(JSON.stringify({ level: "error", msg: "the port is taken" }) + "\\n"); process.exitCode = 78;`,
    );
    const { code, stdout, stderr } = await runCli(["calls", "list"], {
      home: home.directory,
      io: { daemonCommand: [process.execPath, home.path("broken.mjs")] },
    });
    expect({ code, stdout }).toEqual({ code: 6, stdout: "" });
    expect(stderr).toContain("the daemon did not start");
    expect(stderr).toContain("why:  the port is taken");
    const missing = await runCli(["calls", "list"], { home: home.directory });
    expect(missing).toMatchObject({ code: 6, stderr: expect.stringContaining("ENOENT") });
  });

  it("runs it in the foreground with its exit code", async () => {
    await using home = await TempHome.create();
    await writeFile(
      home.path("code.mjs"),
      `process.exitCode = process.argv.slice(2).join(" ") === "run --listen 127.0.0.1:0" ? 5 : 1;`,
    );
    const { code } = await runCli(["daemon", "run", "--listen", "127.0.0.1:0"], {
      home: home.directory,
      io: { daemonCommand: [process.execPath, home.path("code.mjs")] },
    });
    expect(code).toBe(5);
  });
});

describe("daemon logs", () => {
  const entry = (n: number, level = "info"): string =>
    `${JSON.stringify({ level, time: "2026-11-21T09:00:00.000Z", component: "dialer", msg: `entry ${n}\u001b[31m`, n })}\n`;

  it("prints the end of the file, by level, as text or as it is", async () => {
    await using home = await TempHome.create();
    await mkdir(home.path("state"));
    const lines = Array.from({ length: 3000 }, (_, n) => entry(n, n === 2990 ? "warn" : "info"));
    await writeFile(home.logFile, `${lines.join("")}plain\n`);
    const run = (...argv: string[]) =>
      runCli(["daemon", "logs", "--tz", "UTC", ...argv], { home: home.directory });
    const text = (await run("-n", "2")).stdout;
    expect(text.split("\n")[0]).toContain("2026-11-21 09:00:00 info  dialer: entry 2999");
    expect(text.split("\n")[1]).toBe("plain");
    expect((await run("-n", "3000")).stdout.trimEnd().split("\n")).toHaveLength(3000);
    expect((await run("-n", "20", "--level", "warn")).stdout).toContain("entry 2990");
    expect((await run("-n", "2", "-o", "json")).stdout.split("\n")[0]).toBe(lines.at(-1)?.trimEnd());
    expect((await runCli(["daemon", "logs"], { home: home.directory, columns: 80 })).stdout).not.toContain(
      "\u001b[31m",
    );
  });

  it("without a log is 5", async () => {
    await using home = await TempHome.create();
    expect((await runCli(["daemon", "logs"], { home: home.directory })).code).toBe(5);
  });

  it("-f goes on with what is written, across a rotation, until Ctrl-C", async () => {
    await using home = await TempHome.create();
    await mkdir(home.path("state"));
    await writeFile(home.logFile, entry(1));
    const steps: (() => Promise<void> | void)[] = [
      () => appendFile(home.logFile, entry(2)),
      async () => {
        await rename(home.logFile, `${home.logFile}.1`);
        await writeFile(home.logFile, entry(3));
      },
    ];
    const { code, stdout } = await runCli(["daemon", "logs", "-f"], {
      home: home.directory,
      onOutput: (_text, signal) => {
        const step = steps.shift();
        if (step === undefined) signal("SIGINT");
        else void step();
      },
    });
    expect(code).toBe(130);
    expect([...stdout.matchAll(/entry (\d)/g)].map((match) => match[1])).toEqual(["1", "2", "3"]);
  });
});
