import type { TrunkBody, TrunkChange } from "#wire";
import { usageError } from "./command-error.ts";
import type { Context, Input } from "./handler.ts";
import { readWhole } from "./read-input.ts";

/** What `trunk add` and `trunk edit` set alike. */
type Settings = Omit<TrunkChange, "name" | "kind" | "username" | "password" | "password_ref">;

/** The settings that were given as flags. An empty value takes a setting back. */
export async function settingsOf(context: Context, input: Input): Promise<Settings> {
  return {
    ...addressFields(input.text("server")),
    ...lineFields(input),
    ...(await sipFields(context, input)),
  };
}

/** Host and port; nothing for no server. */
export function addressFields(server: string | undefined): Pick<Settings, "host" | "port"> {
  if (server === undefined) return {};
  const { host, port } = parseServer(server);
  return { host, ...(port === undefined ? {} : { port }) };
}

/** Settings that every kind of trunk has. */
export function lineFields(input: Input): Pick<Settings, LineField> {
  const callerId = input.text("caller-id");
  const codecs = codecList(input.text("codecs"));
  const maxCalls = input.whole("max-calls", 1);
  const rate = input.text("rate");
  const priority = input.whole("priority", 0);
  if (rate !== undefined && !(Number(rate) > 0))
    throw usageError(`--rate takes a number of calls, not "${rate}"`);
  if (priority !== undefined && priority > 1_000)
    throw usageError(`--priority takes a number up to 1000, not "${priority}"`);
  return {
    ...(callerId === undefined ? {} : { caller_id: callerId || null }),
    ...(codecs === undefined ? {} : { codecs }),
    ...(maxCalls === undefined ? {} : { max_calls: maxCalls }),
    ...(rate === undefined ? {} : { calls_per_second: Number(rate) }),
    ...(priority === undefined ? {} : { priority }),
  };
}

type LineField = "caller_id" | "codecs" | "max_calls" | "calls_per_second" | "priority";

async function sipFields(context: Context, input: Input): Promise<Settings> {
  const transport = input.choice("transport", ["udp", "tcp", "tls"]);
  const srtp = input.choice("srtp", ["off", "required"]);
  const header = input.choice("caller-id-header", callerIdHeaders);
  const headers = headersOf(input.list("header"));
  const privacy = either(input, "privacy");
  const expiresMs = input.durationMs("register-expires");
  if (expiresMs !== undefined && (expiresMs < 60_000 || expiresMs > 86_400_000))
    throw usageError("--register-expires takes a time from 60s to 1d");
  return {
    ...texts(input),
    ...(transport === undefined ? {} : { transport }),
    ...(srtp === undefined ? {} : { srtp }),
    ...(header === undefined ? {} : { caller_id_header: header }),
    ...(headers === undefined ? {} : { headers }),
    ...(privacy === undefined ? {} : { privacy }),
    ...(expiresMs === undefined ? {} : { register_expires_s: Math.round(expiresMs / 1000) }),
    ...(await caFields(context, input)),
  };
}

const callerIdHeaders = ["from", "p-asserted-identity", "p-preferred-identity", "remote-party-id"] as const;

function texts(input: Input): Settings {
  const domain = input.text("domain");
  const proxy = input.text("proxy");
  const fromUser = input.text("from-user");
  const format = input.text("number-format");
  const displayName = input.text("display-name");
  return {
    ...(domain === undefined ? {} : { domain: domain || null }),
    ...(proxy === undefined ? {} : { outbound_proxy: proxy || null }),
    ...(fromUser === undefined ? {} : { from_user: fromUser || null }),
    ...(format === undefined ? {} : { number_format: format || null }),
    ...(displayName === undefined ? {} : { display_name: displayName || null }),
  };
}

/** `--name` or `--no-name`; undefined when neither was given. */
export function either(input: Input, name: "register" | "privacy"): boolean | undefined {
  if (input.flag(name)) return true;
  return input.flag(`no-${name}`) ? false : undefined;
}

function headersOf(given: readonly string[]): Readonly<Record<string, string>> | undefined {
  if (given.length === 0) return undefined;
  // One empty value: none at all.
  if (given.every((one) => one === "")) return {};
  const pairs = given.map((one) => {
    const at = one.indexOf("=");
    if (at <= 0) throw usageError(`--header takes name=value, not "${one}"`);
    return [one.slice(0, at), one.slice(at + 1)] as const;
  });
  return Object.fromEntries(pairs);
}

async function caFields(context: Context, input: Input): Promise<Settings> {
  const file = input.text("ca-file");
  if (file === undefined) return {};
  if (file === "") return { ca_certificate: null };
  const certificate = await readWhole(context.io, file);
  if (!certificate.includes("-----BEGIN CERTIFICATE-----"))
    throw usageError(`${file} holds no certificate in PEM form`);
  return { ca_certificate: certificate };
}

function codecList(text: string | undefined): TrunkBody["codecs"] {
  return text?.split(",").map((name) => {
    const codec = name.trim().toUpperCase();
    if (codec === "PCMA" || codec === "PCMU" || codec === "G722") return codec;
    throw usageError(`there is no codec "${name}"`, "use PCMA, PCMU, G722 or several of them");
  });
}

function parseServer(text: string): { readonly host: string; readonly port: number | undefined } {
  const match = /^(?:sip:)?(?:\[([0-9a-f:.]+)\]|([^:[\]\s/@]+))(?::(\d{1,5}))?$/i.exec(text);
  const port = match?.[3] === undefined ? undefined : Number(match[3]);
  if (match === null || (port !== undefined && (port < 1 || port > 65_535))) {
    throw usageError(`"${text}" is no address of a provider`, "write sip.example.com or 192.0.2.10:5060");
  }
  return { host: match[1] ?? match[2] ?? "", port };
}
