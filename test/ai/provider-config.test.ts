import fc from "fast-check";
import { parse } from "smol-toml";
import { describe, expect, test } from "vitest";
import { isPrivateHost } from "../../src/ai/private-host.ts";
import {
  decodeVoiceConfig,
  recipientsOf,
  secretsOf,
  type VoiceConfig,
} from "../../src/ai/provider-config.ts";

function decode(toml: string): VoiceConfig {
  const decoded = decodeVoiceConfig(parse(toml));
  if (decoded.ok) return decoded.value;
  throw new Error(decoded.problem.message);
}

function problem(toml: string): { where: string; message: string } {
  const decoded = decodeVoiceConfig(parse(toml));
  if (decoded.ok) throw new Error("It was accepted");
  return decoded.problem;
}

const full = `
[daemon]
listen = "127.0.0.1:8787"
[providers.openai]
kind = "openai"
api_key = { keychain = "openai" }
[providers.groq]
kind = "openai"
base_url = "https://api.groq.com/openai/v1/"
api_key = { env = "GROQ_API_KEY" }
extra_body = { reasoning_effort = "low" }
[providers.local]
kind = "openai"
base_url = "http://127.0.0.1:11434/v1"
json_schema = "json"
realtime_dialect = "vllm"
[providers.claude]
kind = "anthropic"
api_key = { file = "/run/secrets/claude" }
[providers.dg]
kind = "deepgram"
base_url = "wss://api.deepgram.com"
api_key = { command = "pass show deepgram" }
[providers.xi]
kind = "elevenlabs"
api_key = { env = "XI" }
output = "pcm_16000"
[providers.ha]
kind = "wyoming"
host = "192.168.1.5"
stt_port = 10300
tts_port = 10200
[voice_models.fast]
ears = "dg/nova-3"
brain = "groq/meta-llama/llama-4"
mouth = "xi/eleven_flash_v2_5"
fallback = { mouth = "builtin/espeak", ears = "ha" }
[voice_models.human]
ears = "dg/flux-general-multi"
brain = "claude/claude-x"
mouth = "openai/gpt-4o-mini-tts"
fallback = { brain = "openai/gpt-x" }
[voices."6"]
xi = "voice-id"
openai = "marin"
[voices."2"]
xi = "other-id"
[limits]
llm_first_token_ms = 3000
`;

describe("the configuration of voices", () => {
  test("is read whole", () => {
    const config = decode(full);
    expect(config.providers["openai"]).toMatchObject({
      baseUrl: "https://api.openai.com/v1",
      apiKey: { type: "keychain", name: "openai" },
      maxTokensField: "max_completion_tokens",
      jsonSchema: "strict",
      realtimeDialect: undefined,
    });
    expect(config.providers["groq"]).toMatchObject({
      maxTokensField: "max_tokens",
      extraBody: { reasoning_effort: "low" },
    });
    expect(config.providers["dg"]).toMatchObject({
      baseUrl: "https://api.deepgram.com",
      apiKey: { type: "command", command: "pass show deepgram" },
    });
    expect(config.voiceModels["fast"]).toEqual({
      ears: { provider: "dg", model: "nova-3" },
      brain: { provider: "groq", model: "meta-llama/llama-4" },
      mouth: { provider: "xi", model: "eleven_flash_v2_5" },
      fallback: { ears: { provider: "ha", model: "" }, brain: undefined, mouth: undefined },
    });
    expect(config.voices["6"]).toEqual({ xi: "voice-id", openai: "marin" });
    expect(config.limits).toEqual({ firstTokenMs: 3000, firstAudioMs: 2500 });
  });

  test("that is empty gives the built-in voice for both models", () => {
    const config = decode("");
    expect(Object.keys(config.voiceModels)).toEqual(["fast", "human"]);
    expect(config.voiceModels["human"]?.mouth).toBeUndefined();
    expect(recipientsOf(config, "human")).toEqual([]);
  });

  test("tells who will get audio and who text, and which secrets that takes", () => {
    const config = decode(full);
    expect(recipientsOf(config, "fast")).toEqual([
      { host: "api.deepgram.com", gets: "audio" },
      { host: "192.168.1.5", gets: "audio" },
      { host: "api.groq.com", gets: "text" },
      { host: "api.elevenlabs.io", gets: "text" },
    ]);
    expect(secretsOf(config, "human")).toEqual([
      { type: "command", command: "pass show deepgram" },
      { type: "file", path: "/run/secrets/claude" },
      { type: "keychain", name: "openai" },
    ]);
  });

  test("refuses a secret that stands in it, and does not repeat it", () => {
    const { where, message } = problem('[providers.x]\nkind = "openai"\napi_key = "sk-very-secret"');
    expect(where).toBe("providers.x.api_key");
    expect(message).toContain("a secret does not belong in this file");
    expect(message).not.toContain("sk-very-secret");
  });

  test.each([
    ["kind", '[providers.x]\nkind = "opnai"', "did you mean openai?"],
    ["no kind", "[providers.x]\nbase_url = 'https://x'", "it takes openai, anthropic"],
    ["field", '[providers.x]\nkind = "openai"\nbase_ulr = "https://x"', "did you mean base_url?"],
    [
      "foreign field",
      '[providers.x]\nkind = "deepgram"\noutput = "ulaw_8000"',
      "providers.x.output is not known",
    ],
    ["name", '[providers.builtin]\nkind = "openai"', "and not builtin"],
    ["key of none", '[providers.x]\nkind = "anthropic"', "this provider wants one"],
    ["key form", '[providers.x]\nkind = "openai"\napi_key = { vault = "x" }', '{ env = "NAME" }'],
    ["URL", '[providers.x]\nkind = "openai"\nbase_url = "nowhere"', "it takes a URL"],
    [
      "password in a URL",
      '[providers.x]\nkind = "openai"\nbase_url = "https://u:pw@x/v1"',
      "the key belongs in api_key",
    ],
    ["open road", '[providers.x]\nkind = "openai"\nbase_url = "http://example.com/v1"', "insecure = true"],
    [
      "open wyoming",
      '[providers.x]\nkind = "wyoming"\nhost = "example.com"\nstt_port = 1',
      "insecure = true",
    ],
    ["model", "[voice_models.quick]", "voice_models.quick is not known"],
    [
      "provider",
      '[providers.groq]\nkind = "openai"\nbase_url="http://localhost"\n[voice_models.fast]\nbrain = "grok/x"',
      "did you mean groq?",
    ],
    [
      "role",
      '[providers.dg]\nkind = "deepgram"\napi_key = { env = "X" }\n[voice_models.fast]\nbrain = "dg/x"',
      "dg (deepgram) cannot think",
    ],
    [
      "no model",
      '[providers.l]\nkind = "openai"\nbase_url="http://localhost"\n[voice_models.fast]\nbrain = "l"',
      "PROVIDER/MODEL",
    ],
    [
      "no port",
      '[providers.h]\nkind = "wyoming"\nhost = "h"\n[voice_models.fast]\nears = "h"',
      "a port: it is used here",
    ],
    [
      "no voice",
      '[providers.xi]\nkind = "elevenlabs"\napi_key = { env = "X" }\n[voice_models.fast]\nmouth = "xi/m"',
      "xi has no default voice",
    ],
    ["voice number", '[voices."8"]\nx = "y"', "voices.8 is not known"],
    ["limit", "[limits]\nllm_first_token_ms = 5", "a whole number from 200"],
    ["builtin", '[voice_models.fast]\nbrain = "builtin/gpt"', "builtin/script or PROVIDER/MODEL"],
    ["table", "providers = 5", "it takes a table: [providers]"],
  ])("refuses a wrong %s in one sentence", (_name, toml, part) => {
    expect(problem(toml).message).toContain(part);
    expect(problem(toml).message).not.toContain("\n");
  });

  test("lets words go in the open where that was accepted", () => {
    const toml = '[providers.x]\nkind = "openai"\nbase_url = "http://example.com/v1"\ninsecure = true';
    expect(decode(toml).providers["x"]).toMatchObject({ baseUrl: "http://example.com/v1" });
  });

  test("answers to anything at all without throwing", () => {
    const tables = fc.record(
      { providers: fc.anything(), voice_models: fc.anything(), voices: fc.anything(), limits: fc.anything() },
      { requiredKeys: [] },
    );
    fc.assert(fc.property(tables, (config) => typeof decodeVoiceConfig(config).ok === "boolean"));
    const provider = fc.dictionary(
      fc.constantFrom("kind", "base_url", "api_key", "host", "x"),
      fc.anything(),
    );
    fc.assert(
      fc.property(fc.dictionary(fc.string(), provider), (providers) => {
        expect(typeof decodeVoiceConfig({ providers }).ok).toBe("boolean");
      }),
    );
  });
});

test.each([
  ["localhost", true],
  ["127.0.0.1", true],
  ["10.1.2.3", true],
  ["172.16.0.1", true],
  ["172.32.0.1", false],
  ["192.168.9.9", true],
  ["8.8.8.8", false],
  ["[::1]", true],
  ["fd00::1", true],
  ["fe80::1", true],
  ["2001:db8::1", false],
  ["::ffff:127.0.0.1", true],
  ["ollama", true],
  ["nas.local", true],
  ["example.com", false],
  ["localhost.example.com", false],
  ["10.example.com", false],
])("%s is private: %s", (host, expected) => {
  expect(isPrivateHost(host)).toBe(expected);
});
