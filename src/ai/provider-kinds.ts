import {
  ConfigProblem,
  flagIn,
  onlyFields,
  refused,
  tableAt,
  textIn,
  wholeIn,
  wordIn,
} from "./config-reader.ts";
import type { ElevenLabsOutput } from "./elevenlabs-speech.ts";
import { isObject, type JsonObject } from "./json-value.ts";
import type { Rung } from "./object-answer.ts";
import type { RealtimeDialect } from "./openai-realtime.ts";
import { isPrivateHost } from "./private-host.ts";

/** Where a secret is; never the secret. */
export type SecretRef =
  | { readonly type: "env"; readonly name: string }
  | { readonly type: "file"; readonly path: string }
  /** Its standard output is the secret. */
  | { readonly type: "command"; readonly command: string }
  | { readonly type: "keychain"; readonly name: string };

interface WebProvider {
  readonly name: string;
  readonly baseUrl: string;
  /** Undefined for servers that want none. */
  readonly apiKey: SecretRef | undefined;
  /** PEM file of the authorities to trust. */
  readonly caFile: string | undefined;
}

export interface OpenAiProvider extends WebProvider {
  readonly kind: "openai";
  /** Undefined: it transcribes whole utterances. */
  readonly realtimeDialect: RealtimeDialect | undefined;
  readonly jsonSchema: Rung;
  readonly maxTokensField: "max_completion_tokens" | "max_tokens";
  readonly speechRateHz: number;
  readonly extraBody: JsonObject;
}

export interface AnthropicProvider extends WebProvider {
  readonly kind: "anthropic";
  readonly extraBody: JsonObject;
}

export interface DeepgramProvider extends WebProvider {
  readonly kind: "deepgram";
}

export interface ElevenLabsProvider extends WebProvider {
  readonly kind: "elevenlabs";
  readonly output: ElevenLabsOutput;
  readonly extraBody: JsonObject;
}

export interface WyomingProvider {
  readonly kind: "wyoming";
  readonly name: string;
  readonly host: string;
  readonly sttPort: number | undefined;
  readonly ttsPort: number | undefined;
}

export type Provider =
  | OpenAiProvider
  | AnthropicProvider
  | DeepgramProvider
  | ElevenLabsProvider
  | WyomingProvider;

type Kind = Provider["kind"];

/** A provider's table with its path. */
interface Entry {
  readonly name: string;
  readonly where: string;
  readonly table: JsonObject;
}

const web = ["kind", "base_url", "api_key", "ca_file", "insecure"];
const openAiUrl = "https://api.openai.com/v1";
const outputs: readonly ElevenLabsOutput[] = ["ulaw_8000", "pcm_8000", "pcm_16000", "pcm_22050", "pcm_24000"];

const kinds: Readonly<
  Record<Kind, { readonly fields: readonly string[]; readonly read: (entry: Entry) => Provider }>
> = {
  openai: {
    fields: [...web, "realtime_dialect", "json_schema", "max_tokens_field", "speech_rate_hz", "extra_body"],
    read: readOpenAi,
  },
  anthropic: {
    fields: [...web, "extra_body"],
    read: (entry) => ({
      kind: "anthropic",
      ...readWeb(entry, "https://api.anthropic.com"),
      extraBody: extraBodyOf(entry),
    }),
  },
  deepgram: {
    fields: web,
    read: (entry) => ({ kind: "deepgram", ...readWeb(entry, "https://api.deepgram.com") }),
  },
  elevenlabs: {
    fields: [...web, "output", "extra_body"],
    read: (entry) => ({
      kind: "elevenlabs",
      ...readWeb(entry, "https://api.elevenlabs.io"),
      output: wordIn(entry.table, entry.where, { field: "output", words: outputs }) ?? "ulaw_8000",
      extraBody: extraBodyOf(entry),
    }),
  },
  wyoming: { fields: ["kind", "host", "stt_port", "tts_port", "insecure"], read: readWyoming },
};

const kindNames: readonly Kind[] = ["openai", "anthropic", "deepgram", "elevenlabs", "wyoming"];

/** Reads `[providers.NAME]`. Throws a ConfigProblem. */
export function readProvider(name: string, value: unknown): Provider {
  const where = `providers.${name}`;
  const table = tableAt(value, where);
  if (!/^[a-z][a-z0-9_-]{0,31}$/.test(name) || name === "builtin") {
    throw new ConfigProblem(
      where,
      `${where} is not accepted; a provider's name is of a-z, 0-9, _ and -, and not builtin`,
    );
  }
  const kind = wordIn(table, where, { field: "kind", words: kindNames });
  if (kind === undefined) throw refused(`${where}.kind`, kindNames.join(", "));
  onlyFields(table, where, kinds[kind].fields);
  return kinds[kind].read({ name, where, table });
}

/** Whether it is OpenAI itself and not one that speaks like it. */
export function isOpenAi(baseUrl: string): boolean {
  return new URL(baseUrl).hostname === new URL(openAiUrl).hostname;
}

function readOpenAi(entry: Entry): OpenAiProvider {
  const { table, where } = entry;
  const base = readWeb(entry, openAiUrl);
  const words = ["max_completion_tokens", "max_tokens"] as const;
  return {
    kind: "openai",
    ...base,
    realtimeDialect: wordIn(table, where, { field: "realtime_dialect", words: ["openai", "vllm"] }),
    jsonSchema:
      wordIn(table, where, { field: "json_schema", words: ["strict", "json", "prompt"] }) ?? "strict",
    maxTokensField:
      wordIn(table, where, { field: "max_tokens_field", words }) ??
      (isOpenAi(base.baseUrl) ? "max_completion_tokens" : "max_tokens"),
    speechRateHz: wholeIn(table, where, { field: "speech_rate_hz", least: 8000, most: 48_000 }) ?? 24_000,
    extraBody: extraBodyOf(entry),
  };
}

function readWyoming({ name, where, table }: Entry): WyomingProvider {
  const host = textIn(table, where, "host");
  if (host === undefined) throw refused(`${where}.host`, "the server's name or address");
  if (!isPrivateHost(host) && !flagIn(table, where, "insecure")) throw openToAll(`${where}.host`, host);
  return {
    kind: "wyoming",
    name,
    host,
    sttPort: wholeIn(table, where, { field: "stt_port", least: 1, most: 65_535 }),
    ttsPort: wholeIn(table, where, { field: "tts_port", least: 1, most: 65_535 }),
  };
}

function readWeb({ name, where, table }: Entry, usual: string): WebProvider {
  const baseUrl = textIn(table, where, "base_url") ?? usual;
  const url = URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  const path = `${where}.base_url`;
  if (url === undefined || !/^(https?|wss?):$/.test(url.protocol))
    throw refused(path, `a URL, e.g. "${usual}"`);
  if (url.username !== "" || url.password !== "" || url.search !== "")
    throw refused(path, "an address without a user, password or query; the key belongs in api_key");
  const plain = url.protocol === "http:" || url.protocol === "ws:";
  if (plain && !flagIn(table, where, "insecure") && !isPrivateHost(url.hostname))
    throw openToAll(path, url.hostname);
  const apiKey = table["api_key"] === undefined ? undefined : readSecretRef(table["api_key"], where);
  if (apiKey === undefined && baseUrl === usual)
    throw refused(`${where}.api_key`, 'where the key is, e.g. { env = "NAME" }: this provider wants one');
  return {
    name,
    // Sockets and requests go to the same place.
    baseUrl: baseUrl.replace(/^ws/, "http"),
    apiKey,
    caFile: textIn(table, where, "ca_file"),
  };
}

function readSecretRef(value: unknown, provider: string): SecretRef {
  const where = `${provider}.api_key`;
  const forms = '{ env = "NAME" }, { file = "PATH" }, { command = "…" } or { keychain = "NAME" }';
  if (typeof value === "string")
    throw new ConfigProblem(
      where,
      `${where}: a secret does not belong in this file; say where it is: ${forms}`,
    );
  const entries = isObject(value) ? Object.entries(value) : [];
  const [type = "", text] = entries[0] ?? [];
  if (entries.length !== 1 || typeof text !== "string" || text.trim() === "") throw refused(where, forms);
  switch (type) {
    case "env":
      return { type, name: text };
    case "file":
      return { type, path: text };
    case "command":
      return { type, command: text };
    case "keychain":
      return { type, name: text };
    default:
      throw refused(where, forms);
  }
}

function extraBodyOf({ table, where }: Entry): JsonObject {
  return tableAt(table["extra_body"], `${where}.extra_body`);
}

function openToAll(where: string, host: string): ConfigProblem {
  return new ConfigProblem(
    where,
    `${where} would send the call's words in the open to ${host}; use https, or set insecure = true to accept that`,
  );
}
