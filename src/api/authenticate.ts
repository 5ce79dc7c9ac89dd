import { askRate, parseToken, type RateWindow } from "#domain";
import { sameSecret } from "#host";
import { Refusal } from "./failure.ts";
import type { Account, Credential, Service } from "./service.ts";

/** One answer for missing, malformed, unknown, expired and revoked. */
function unauthenticated(): Refusal {
  const failure = {
    status: 401,
    code: "unauthenticated",
    message: "Not authenticated: token missing or invalid",
  };
  return new Refusal(failure, { "www-authenticate": "Bearer" });
}

/** Looked up when there is no token in the request, so that every refusal does the same work. */
const nobody = { prefix: `outdial_${"0".repeat(16)}`, secret: "0".repeat(43) };
const noHash = "0".repeat(64);

/** The owner of an `Authorization` header, or a 401 that takes the same time whatever was wrong. */
export async function authenticate(
  header: string | undefined,
  service: Pick<Service, "findToken">,
  sha256: (text: string) => string,
  now: number,
): Promise<Credential> {
  const given = parseToken(/^Bearer +(\S+)$/i.exec(header ?? "")?.[1] ?? "");
  const { prefix, secret } = given ?? nobody;
  const credential = await service.findToken(prefix);
  const same = sameSecret(sha256(secret), credential?.secretHash ?? noHash);
  if (!given || !credential || !same || now >= credential.expiresAt) throw unauthenticated();
  return credential;
}

export interface Admission {
  readonly account: Account;
  readonly headers: Readonly<Record<string, string>>;
}

/** Counts requests of each token over all operations; 429 beyond the sliding limits. */
export function createRateLimiter(): (credential: Credential, now: number) => Admission {
  const windows = new Map<string, RateWindow>();
  return (credential, now) => {
    const verdict = askRate(windows.get(credential.id) ?? [], now);
    windows.set(credential.id, verdict.window);
    const headers = {
      "ratelimit-limit": String(verdict.limit),
      "ratelimit-remaining": String(verdict.remaining),
      "ratelimit-reset": String(verdict.resetS),
    };
    if (verdict.allowed) return { account: credential.account, headers };
    const message = `Too many requests; try again in ${verdict.resetS} s`;
    throw new Refusal(
      { status: 429, code: "rate-limited", message, retryAfterS: verdict.resetS },
      { ...headers, "retry-after": String(verdict.resetS) },
    );
  };
}
