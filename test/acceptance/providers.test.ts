import { mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { CallRecord, ProviderCheck } from "#wire";
import { outdial, outdialJson, outdialOk } from "../support/built-program.ts";
import { DaemonProcess } from "../support/daemon-process.ts";
import { TempHome } from "../support/temp-home.ts";
import { startOpenAiServer } from "../support/vendors/openai-server.ts";
import type { VendorServer } from "../support/vendors/vendor-server.ts";
import { babble } from "../lines/loopback-call.ts";

const key = "sk-of-the-acceptance-test";
const playbook = `---
name: invite
language: en
opening: "Good morning."
output: { type: object, properties: { coming: { type: boolean } }, required: [coming] }
---
Ask {{first_name}} whether she comes tomorrow, thank her and say goodbye.
`;

let keyDirectory: string;
let keyFile: string;
let server: VendorServer;
let home: TempHome;
let daemon: DaemonProcess;

const chats = (): number =>
  server.requests.filter(
    ({ path, body }) => path === "/v1/chat/completions" && body.includes('"stream":true'),
  ).length;

beforeAll(async () => {
  server = await startOpenAiServer({
    key,
    transcript: "Yes, that is fine.",
    pcm: Int16Array.from(babble(1_500)),
    get words() {
      return chats() <= 1 ? ["Will you ", "come tomorrow?"] : ["Thank you, ", "goodbye."];
    },
    get calls() {
      return chats() > 1 ? [{ id: "c1", name: "end_call", parts: ['{"reason":"done"}'] }] : [];
    },
    contents: {
      shift: () =>
        JSON.stringify(
          (server.requests.at(-1)?.body ?? "").includes("not_achieved")
            ? {
                outcome: "achieved",
                reason: "She says so.",
                quotes: ["that is fine"],
                output: { coming: true },
              }
            : { summary: "She will come." },
        ),
    } as unknown as string[],
  });
  home = await TempHome.create();
  keyDirectory = await mkdtemp(join(tmpdir(), "outdial-key-"));
  keyFile = join(keyDirectory, "key");
  await writeFile(home.path("config.toml"), configuration(), { mode: 0o600 });
  await writeFile(keyFile, key, { mode: 0o600 });
  daemon = await DaemonProcess.start(home);
  await outdialOk(home, ["playbook", "apply", "-", "-m", "first"], { input: playbook });
});

afterAll(async () => {
  await daemon[Symbol.asyncDispose]();
  await home[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await rm(keyDirectory, { recursive: true, force: true });
});

test("a playbook without a script is held by the configured providers, and read over afterwards", async () => {
  const words = ["call", "start", "+9990000001", "--playbook", "invite", "--param", "first_name=Ana"];
  const run = await outdial(home, [...words, "--voice-model", "fast", "--wait", "-q"]);
  expect(run).toMatchObject({ code: 0 });
  const id = run.stdout.trim().split("\n").at(-1) ?? "";
  const call = await outdialJson<CallRecord>(home, ["call", "view", id]);
  expect(call).toMatchObject({ success: true, summary: "She will come.", output: { coming: true } });
  expect(call.transcript).toContain("<b>[Assistant]</b> Will you come tomorrow?");
  expect(call.transcript).toContain("<b>[Customer]</b> Yes, that is fine.");
  const asked = server.requests.filter(({ path }) => path === "/v1/chat/completions").map(({ body }) => body);
  expect(asked.join("\n")).toContain("Ask Ana whether she comes tomorrow");
});

test("a prompt alone is refused in one sentence where the voice model has no brain", async () => {
  const bare = playbook.replace("name: invite", "name: bare").replace(/opening:.*\n/, "");
  await outdialOk(home, ["playbook", "apply", "-"], { input: bare });
  const run = await outdial(home, [
    "call",
    "start",
    "+9990000001",
    "--playbook",
    "bare",
    "--voice-model",
    "human",
  ]);
  expect(run.code).not.toBe(0);
  expect(run.stderr).toContain("needs a language model");
});

test("provider test tries every role and measures it; a refused key is said and ends with 9", async () => {
  const checks = await outdialJson<readonly ProviderCheck[]>(home, ["provider", "test", "local"]);
  expect(checks.map(({ role, ok }) => [role, ok])).toEqual([
    ["ears", true],
    ["brain", true],
    ["mouth", true],
  ]);
  const refused = await outdial(home, ["provider", "test", "locked", "--json"]);
  expect(refused.code).toBe(9);
  expect(refused.stdout).not.toContain(key);
});

test("the key is in no file under the home", async () => {
  const files = await readdir(home.directory, { recursive: true, withFileTypes: true });
  const contents = await Promise.all(
    files.filter((file) => file.isFile()).map((file) => readFile(join(file.parentPath, file.name), "latin1")),
  );
  expect(contents.length).toBeGreaterThan(3);
  expect(contents.some((content) => content.includes(key))).toBe(false);
});

function configuration(): string {
  return `
[daemon]
listen = "127.0.0.1:0"

[providers.local]
kind = "openai"
base_url = "${server.url}/v1"
api_key = { file = "${keyFile}" }

[providers.locked]
kind = "openai"
base_url = "${server.url}/v1"
api_key = { command = "echo wrong" }

[voice_models.fast]
ears = "local/whisper"
brain = "local/llm"
mouth = "local/tts"
fallback = { brain = "locked/llm" }

[voices."6"]
local = "nova"
locked = "nova"
`;
}
