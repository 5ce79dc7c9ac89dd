import { expect, test } from "vitest";
import type { CallRecord } from "#wire";
import { Baresip } from "../support/baresip.ts";
import { outdialJson, outdialOk } from "../support/built-program.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { sayingPlaybook } from "../support/playbook-source.ts";
import { TempHome } from "../support/temp-home.ts";
import { bestCorrelation, envelope, readWavFile, toneShares, writeToneFile } from "../support/wav-file.ts";

const number = "+34600111222";
const words = "Good morning. This sentence is long enough for a comparison, yet it ends soon.";

test("both sides of a call with a softphone hear each other, and the recording holds both", async () => {
  await using home = await TempHome.create();
  const tone = home.path("tone.wav");
  await writeToneFile(tone, 440, 30);
  await using phone = await Baresip.start(number, { directory: home.path("baresip"), playedFile: tone });
  await using daemon = await DaemonProcess.start(home);
  await outdialOk(home, ["playbook", "apply", "-", "-m", "first"], { input: sayingPlaybook("talk", words) });
  await outdialOk(home, [
    "trunk",
    "add",
    "phone",
    "--server",
    `127.0.0.1:${phone.port}`,
    "--caller-id",
    "+34910000000",
  ]);

  const id = await daemon.startCall({ phone: number, playbook_id: "talk" });
  await daemon.callIn(id, ["closed"], 30_000);
  await phone.stop();
  await outdialOk(home, ["call", "recording", id, "--out", home.path("call.wav")]);
  const call = await outdialJson<CallRecord>(home, ["call", "view", id]);
  expect(call.outcome).toMatchObject({ state: "closed", cause: "completed", hung_up_by: "agent" });
  expect(call.success).toBe(true);

  const recording = await readWavFile(home.path("call.wav"));
  const [agent = new Int16Array(), callee = new Int16Array()] = recording.channels;
  expect(recording.channels).toHaveLength(2);
  expect(Math.abs(agent.length / recording.rateHz - call.duration)).toBeLessThan(1.5);

  // Without its ends, which hold the set-up and the goodbye.
  const middle = callee.subarray(callee.length / 4, (callee.length * 3) / 4);
  const shares = toneShares(middle, 440, recording.rateHz);
  expect(shares.filter((share) => share > 0.95).length / shares.length).toBeGreaterThan(0.9);
  expect(Math.max(...toneShares(agent, 440, recording.rateHz))).toBeLessThan(0.9);

  const heard = await readWavFile(await phone.heardFile());
  const [heardAudio = new Int16Array()] = heard.channels;
  const likeness = bestCorrelation(envelope(recording, agent), envelope(heard, heardAudio));
  expect(likeness).toBeGreaterThan(0.9);
});
