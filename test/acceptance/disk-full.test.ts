import { mkdir, open, rm, statfs, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import type { StartedCallBody } from "#wire";
import { runToEnd } from "../support/child-program.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { eventually } from "../support/eventually.ts";
import { askingPlaybook, longWords, sayingPlaybook } from "../support/playbook-source.ts";
import { Sipp } from "../support/sipp.ts";
import * as sip from "../support/sipp-scenario.ts";
import { TempHome } from "../support/temp-home.ts";

test("a full disk refuses new calls with 503, lets the running one end, and is forgotten when space returns", async () => {
  await using home = await TempHome.create();
  await using disk = await SmallDisk.mount(home.dataDir, "12m");
  await using daemon = await DaemonProcess.start(home);
  const talk = await daemon.applyPlaybook(sayingPlaybook("talk", longWords));
  const ask = await daemon.applyPlaybook(askingPlaybook("ask"));
  const token = await daemon.createToken("crm");
  const start = (phone: string, playbook: string) =>
    daemon.api<StartedCallBody>("POST", "/call", { token, body: { phone, playbook_id: playbook } });

  await using callee = await Sipp.start({
    directory: home.directory,
    scenario: sip.calleeScenario(
      sip.reply(180, "Ringing"),
      sip.reply(200, "OK", { sdp: true, retransMs: 500 }),
      sip.receive("ACK", { withinMs: 10_000 }),
      sip.receive("BYE", { withinMs: 40_000 }),
      sip.accept(),
    ),
    calls: 1,
  });
  await daemon.admin("POST", "/admin/trunks", {
    name: "t",
    kind: "ip",
    host: "127.0.0.1",
    port: callee.port,
  });
  const running = await start("+34600111222", talk.playbook.id);
  expect(running.status).toBe(200);
  await daemon.callIn(running.body.id, ["in-progress"]);

  await disk.fill();
  // What the store had reserved or buffered may still take a few; then nothing is promised that cannot be kept.
  const refused = await eventually(
    "a call is refused",
    async () => {
      const reply = await start("+9990000003", ask.playbook.id);
      return reply.status === 200 ? "it was taken" : reply;
    },
    10_000,
    300,
  );
  expect(refused.status).toBe(503);
  expect(refused.body).toMatchObject({ error: true });
  expect(refused.body).toHaveProperty("message");
  expect(refused.text).not.toMatch(/SQLITE|ENOSPC|\/data|\n\s+at /);
  expect((await daemon.api("GET", `/call/${running.body.id}`, { token })).status).toBe(200);

  // Who is on the line notices nothing: the call goes on to its own end.
  const fullAt = Date.now();
  await callee.passes(30_000);
  const bye = (await callee.messages()).find(({ kind }) => kind === "BYE");
  expect(bye?.at).toBeGreaterThan(fullAt);
  expect(daemon.isRunning).toBe(true);

  await disk.free();
  const ended = await daemon.callIn(running.body.id, ["closed"], 40_000);
  expect(ended).toMatchObject({ success: true, outcome: { cause: "completed" } });
  const again = await eventually(
    "calls are taken again",
    async () => {
      const reply = await start("+9990000003", ask.playbook.id);
      return reply.status === 200 ? reply : `status ${reply.status}`;
    },
    20_000,
    500,
  );
  await daemon.callIn(again.body.id, ["busy"]);
});

/** A file system in memory of a given size. Needs root. */
class SmallDisk implements AsyncDisposable {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async mount(directory: string, size: string): Promise<SmallDisk> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    const words = ["-t", "tmpfs", "-o", `size=${size},mode=700`, "outdial-test", directory];
    const { code, stderr } = await runToEnd("mount", words);
    if (code !== 0) throw new Error(`mount failed: ${stderr}`);
    return new SmallDisk(directory);
  }

  async fill(): Promise<void> {
    const file = await open(`${this.#directory}/ballast`, "w");
    try {
      for (;;) await file.write(Buffer.alloc(65_536));
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
    } finally {
      await file.close();
    }
    // What does not fit as a whole block still fits as a page.
    for (let i = 0; (await statfs(this.#directory)).bavail > 0; i++) {
      await writeFile(`${this.#directory}/ballast-${i}`, Buffer.alloc(4_096)).catch(() => undefined);
    }
  }

  async free(): Promise<void> {
    await runToEnd("/bin/sh", ["-c", `rm -f ${this.#directory}/ballast*`]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await runToEnd("umount", ["-l", this.#directory]);
    await rm(this.#directory, { recursive: true, force: true });
  }
}
