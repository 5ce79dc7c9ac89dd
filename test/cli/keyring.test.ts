import { writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { askKeyring } from "../../src/cli/keyring.ts";
import type { Io } from "../../src/cli/io.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { TempHome } from "../support/temp-home.ts";
import type { Clock } from "#base";
import { steadyClock } from "#host";

/** The world, with a program of ours in the place of the CLI. */
async function world(home: TempHome, program: string, clock: Clock = steadyClock): Promise<Io> {
  await writeFile(home.path("child.mjs"), program);
  return {
    env: { PATH: process.env["PATH"] },
    steady: clock,
    selfCommand: [process.execPath, home.path("child.mjs")],
  } as unknown as Io;
}

describe("the keychain's child", () => {
  it("gets the act and the name as arguments, the secret on standard input", async () => {
    await using home = await TempHome.create();
    const io = await world(
      home,
      `import { text } from "node:stream/consumers";
       process.stdout.write(JSON.stringify([process.argv.slice(2), await text(process.stdin)]));`,
    );
    expect(await askKeyring(io, "set", "prod", "s3cret")).toEqual({
      type: "done",
      secret: JSON.stringify([["__keyring", "set", "prod"], "s3cret"]),
    });
  });

  it("that finds nothing is no failure; one that complains is unavailable, in its words", async () => {
    await using home = await TempHome.create();
    expect(await askKeyring(await world(home, ""), "get", "prod")).toEqual({
      type: "done",
      secret: undefined,
    });
    const io = await world(
      home,
      `process.stderr.write("Cannot autolaunch D-Bus\\nmore"); process.exitCode = 1;`,
    );
    expect(await askKeyring(io, "get", "prod")).toEqual({
      type: "unavailable",
      why: "Cannot autolaunch D-Bus",
    });
  });

  it("that hangs, deaf to every polite signal, is killed after 3 s", async () => {
    await using home = await TempHome.create();
    const clock = new VirtualClock();
    const pidFile = home.path("pid");
    const io = await world(
      home,
      `import { writeFileSync } from "node:fs";
       process.on("SIGTERM", () => undefined);
       process.on("SIGINT", () => undefined);
       writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
       for (;;) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000);`,
      clock,
    );
    const asked = askKeyring(io, "get", "prod");
    const pid = await pidIn(pidFile);
    clock.advance(2_999);
    expect(isAlive(pid)).toBe(true);
    clock.advance(1);
    expect(await asked).toEqual({ type: "unavailable", why: expect.stringContaining("3 s") });
    while (isAlive(pid)) await new Promise((resolve) => setImmediate(resolve));
  });

  it("that cannot be run is unavailable", async () => {
    const io = { env: {}, steady: steadyClock, selfCommand: ["/nonexistent/outdial"] } as unknown as Io;
    expect(await askKeyring(io, "get", "prod")).toMatchObject({ type: "unavailable" });
  });
});

async function pidIn(file: string): Promise<number> {
  const { readFile } = await import("node:fs/promises");
  for (;;) {
    const pid = Number(await readFile(file, "utf8").catch(() => ""));
    if (pid > 0) return pid;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
