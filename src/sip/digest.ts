import { parseChallenges, type Challenge } from "./challenge.ts";
import { quote, unquote } from "./scan.ts";

/** Hash functions over the UTF-8 octets of a text, in lower-case hex. */
export interface DigestHashes {
  readonly md5: (text: string) => string;
  readonly sha256: (text: string) => string;
  readonly sha512_256: (text: string) => string;
}

export interface DigestQuestion {
  /** Values of the WWW-Authenticate or Proxy-Authenticate headers, topmost first. */
  readonly challenges: readonly string[];
  /** With a realm only challenges of that realm are answered. */
  readonly credentials: { readonly username: string; readonly password: string; readonly realm?: string };
  readonly method: string;
  /** The Request-URI as written. */
  readonly uri: string;
  /** Text in UTF-8, as every body of ours; it counts for qop `auth-int`. */
  readonly body: Uint8Array;
  /** Fresh for each request, hexadecimal. */
  readonly cnonce: string;
  /** How often this nonce has been used, this time included: from 1. */
  readonly nonceCount: number;
  readonly hashes: DigestHashes;
}

export type DigestAnswer =
  | {
      readonly ok: true;
      /** Value for Authorization (after 401) or Proxy-Authorization (after 407). */
      readonly header: string;
      readonly realm: string;
      /** As in the challenge; `MD5` when it names none. */
      readonly algorithm: string;
      /** The nonce before was too old, its credentials were right (RFC 7616 3.3): worth another try. */
      readonly stale: boolean;
    }
  | { readonly ok: false; readonly reason: string };

/**
 * Answers the strongest of the Digest challenges that is supported, the topmost among equals (RFC 7616, RFC 8760, RFC 3261 22):
 * SHA-512-256, SHA-256, MD5, each also `-sess`; qop `auth`, `auth-int` or none.
 */
export function answerChallenges(question: DigestQuestion): DigestAnswer {
  const digests = question.challenges.flatMap(parseChallenges).filter(({ scheme }) => scheme === "digest");
  if (digests.length === 0) return { ok: false, reason: "there is no Digest challenge" };
  const { realm } = question.credentials;
  const ours = digests.filter(({ params }) => realm === undefined || plain(params.get("realm")) === realm);
  if (ours.length === 0) return { ok: false, reason: `no challenge is for the realm ${realm ?? ""}` };
  const supported = ours.flatMap((challenge) => readChallenge(challenge) ?? []);
  const [best] = supported.toSorted((a, b) => b.strength - a.strength);
  if (best === undefined) return { ok: false, reason: "no challenge has a supported algorithm and qop" };
  return {
    ok: true,
    header: credentialsFor(best, question),
    realm: plain(best.realm) ?? "",
    algorithm: best.algorithm ?? "MD5",
    stale: best.stale,
  };
}

/** A Digest challenge that can be answered. Texts keep the escapes of their quoted form. */
interface Readable {
  readonly realm: string;
  readonly nonce: string;
  readonly opaque: string | undefined;
  readonly algorithm: string | undefined;
  readonly hash: keyof DigestHashes;
  readonly session: boolean;
  readonly strength: number;
  readonly qop: "auth" | "auth-int" | undefined;
  readonly stale: boolean;
}

const HASHES: ReadonlyMap<string, { readonly hash: keyof DigestHashes; readonly strength: number }> = new Map(
  [
    ["md5", { hash: "md5", strength: 1 }],
    ["sha-256", { hash: "sha256", strength: 2 }],
    ["sha-512-256", { hash: "sha512_256", strength: 3 }],
  ],
);

function readChallenge({ params }: Challenge): Readable | undefined {
  const realm = params.get("realm");
  const nonce = params.get("nonce");
  const algorithm = params.get("algorithm");
  const name = algorithm?.toLowerCase() ?? "md5";
  const session = name.endsWith("-sess");
  const found = HASHES.get(session ? name.slice(0, -"-sess".length) : name);
  const qop = chooseQop(params.get("qop"));
  if (realm === undefined || nonce === undefined || found === undefined || qop === "none-known")
    return undefined;
  const stale = params.get("stale")?.toLowerCase() === "true";
  return { realm, nonce, opaque: params.get("opaque"), algorithm, ...found, session, qop, stale };
}

function chooseQop(offered: string | undefined): Readable["qop"] | "none-known" {
  const options = (offered ?? "").split(",").flatMap((option) => option.trim().toLowerCase() || []);
  if (options.length === 0) return undefined;
  if (options.includes("auth")) return "auth";
  return options.includes("auth-int") ? "auth-int" : "none-known";
}

function credentialsFor(challenge: Readable, question: DigestQuestion): string {
  const { algorithm, nonce, opaque, qop, realm, session } = challenge;
  const fields = [
    `username=${quote(question.credentials.username)}`,
    `realm="${realm}"`,
    `nonce="${nonce}"`,
    `uri="${question.uri}"`,
    `response="${responseTo(challenge, question)}"`,
  ];
  if (algorithm !== undefined) fields.push(`algorithm=${algorithm}`);
  if (qop !== undefined || session) fields.push(`cnonce="${question.cnonce}"`);
  if (opaque !== undefined) fields.push(`opaque="${opaque}"`);
  if (qop !== undefined) fields.push(`qop=${qop}`, `nc=${countOf(question)}`);
  return `Digest ${fields.join(", ")}`;
}

/** RFC 7616 3.4.1 to 3.4.3. */
function responseTo({ hash, nonce, qop, realm, session }: Readable, question: DigestQuestion): string {
  const { cnonce, credentials, method, uri } = question;
  const hashed = question.hashes[hash];
  const secret = hashed(`${credentials.username}:${realm}:${credentials.password}`);
  const a1 = session ? hashed(`${secret}:${nonce}:${cnonce}`) : secret;
  const integrity = qop === "auth-int" ? `:${hashed(DECODER.decode(question.body))}` : "";
  const a2 = hashed(`${method}:${uri}${integrity}`);
  const middle = qop === undefined ? nonce : `${nonce}:${countOf(question)}:${cnonce}:${qop}`;
  return hashed(`${a1}:${middle}:${a2}`);
}

const DECODER = new TextDecoder("utf-8", { ignoreBOM: true });

/** Eight hexadecimal digits (RFC 7616 3.4). */
function countOf({ nonceCount }: DigestQuestion): string {
  return nonceCount.toString(16).padStart(8, "0");
}

function plain(raw: string | undefined): string | undefined {
  return raw === undefined ? undefined : unquote(`"${raw}"`);
}
