import type { Entropy } from "#base";
import { randomToken } from "./compose.ts";
import { answerChallenges, type DigestHashes } from "./digest.ts";
import { headerValues } from "./header.ts";
import type { SipHeader, SipRequest, SipResponse } from "./message.ts";

export interface SipCredentials {
  readonly username: string;
  readonly password: string;
}

/** The body and names a digest is computed over. */
interface Authenticated {
  readonly method: string;
  readonly uri: string;
  readonly body: Uint8Array;
}

/** The credentials of one call and the realms that asked for them. */
export interface Authenticator {
  /** The answers to one request's challenges; `knownRealmsOnly` for requests that a peer's Contact may have led elsewhere. */
  attempt(options?: { readonly knownRealmsOnly?: boolean }): AuthenticationAttempt;
  /** Authorization headers for every realm met, each with the next nonce count. */
  headersFor(question: Authenticated): readonly SipHeader[];
}

export interface AuthenticationAttempt {
  /**
   * Takes the challenges of a 401 or 407. False: do not try again, because there are no credentials, none of the
   * challenges can be answered, the realm has refused them, or two tries were made.
   */
  learn(response: SipResponse, question: Authenticated): boolean;
}

interface Realm {
  readonly header: "Authorization" | "Proxy-Authorization";
  readonly challenges: readonly string[];
  nonceCount: number;
}

const maxTries = 2;

/** Keeps the realms of a call (RFC 3261 22, RFC 8760). Never answers the same realm twice unless it says `stale`. */
export function createAuthenticator(
  credentials: SipCredentials | undefined,
  entropy: Entropy,
  hashes: DigestHashes,
): Authenticator {
  const realms = new Map<string, Realm>();

  return { attempt, headersFor };

  function attempt(options: { readonly knownRealmsOnly?: boolean } = {}): AuthenticationAttempt {
    const answered = new Set<string>();
    let tries = 0;
    return { learn };

    function learn(response: SipResponse, question: Authenticated): boolean {
      if (tries >= maxTries) return false;
      const proxy = response.status === 407;
      const challenges = headerValues(response, proxy ? "Proxy-Authenticate" : "WWW-Authenticate");
      const answer = digest(challenges, question, 1);
      if (answer === undefined) return false;
      const key = `${proxy ? "proxy" : "server"} ${answer.realm}`;
      if (answered.has(key) && !answer.stale) return false;
      if (options.knownRealmsOnly === true && !realms.has(key)) return false;
      tries += 1;
      answered.add(key);
      const header = proxy ? "Proxy-Authorization" : "Authorization";
      realms.set(key, { header, challenges, nonceCount: 0 });
      return true;
    }
  }

  function headersFor(question: Authenticated): readonly SipHeader[] {
    const headers: SipHeader[] = [];
    for (const realm of realms.values()) {
      realm.nonceCount += 1;
      const answer = digest(realm.challenges, question, realm.nonceCount);
      if (answer !== undefined) headers.push({ name: realm.header, value: answer.header });
    }
    return headers;
  }

  function digest(challenges: readonly string[], question: Authenticated, nonceCount: number) {
    if (credentials === undefined || challenges.length === 0) return undefined;
    const cnonce = randomToken(entropy, 8);
    const answer = answerChallenges({ challenges, credentials, ...question, cnonce, nonceCount, hashes });
    return answer.ok ? answer : undefined;
  }
}

/** The credentials a request carries: the ACK of its 2xx repeats them (RFC 3261 22.1). */
export function credentialsIn(request: SipRequest): readonly SipHeader[] {
  return request.headers.filter(({ name }) => name === "Authorization" || name === "Proxy-Authorization");
}
