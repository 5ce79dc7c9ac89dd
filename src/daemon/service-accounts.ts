import { newId, OutdialError, type AccountId, type Clock, type Entropy } from "#base";
import { isTimeZone, mintToken, tokenExpiresAt, type TokenExpiry } from "#domain";
import { hashes } from "#host";
import type { Account, Store } from "./ports.ts";

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly entropy: Entropy;
}

/** Makes the first trunk and whatever else an account starts with. */
export type Furnish = (account: Account) => Promise<void>;

/** Zone of an account that chose none. */
export const defaultZone = "Europe/Madrid";

/** Accounts and their tokens. */
export function accountService({ store, clock, entropy }: Parts, furnish: Furnish) {
  return {
    createAccount,
    createToken,
    findToken,
    findAccount,
    listAccounts,
    listTokens,
    revokeToken,
  };

  /** Rejects with `account-exists`, `bad-name` and `bad-timezone`. */
  async function createAccount(order: {
    readonly name: string;
    readonly timezone?: string;
  }): Promise<Account> {
    const timezone = order.timezone ?? defaultZone;
    if (!/^[a-z0-9][a-z0-9._-]{0,62}$/i.test(order.name)) {
      throw new OutdialError(
        "bad-name",
        `"${order.name}" is no account name: letters, digits, dot, dash and underscore`,
      );
    }
    if (!isTimeZone(timezone)) {
      throw new OutdialError(
        "bad-timezone",
        `"${timezone}" is no time zone; give an IANA name such as Europe/Madrid`,
      );
    }
    const now = Math.trunc(clock.now());
    const account = await store.createAccount({
      id: newId(now, entropy),
      name: order.name,
      timezone,
      createdAt: now,
    });
    await furnish(account);
    return account;
  }

  function listAccounts(): Promise<readonly Account[]> {
    return store.listAccounts();
  }

  function findAccount(nameOrId: string): Promise<Account | undefined> {
    return store.findAccount(nameOrId);
  }

  async function findToken(prefix: string) {
    const token = await store.findToken(prefix);
    const account = token && (await store.findAccount(token.accountId));
    return token && account && { ...token, account };
  }

  function listTokens(accountId: AccountId) {
    return store.listTokens(accountId);
  }

  /** The whole token is only ever in this answer. Rejects with `token-exists`. */
  async function createToken(accountId: AccountId, name: string, expiry: TokenExpiry) {
    const { prefix, secret } = mintToken(entropy);
    const createdAt = Math.trunc(clock.now());
    const expiresAt = tokenExpiresAt(expiry, createdAt);
    const id = newId(createdAt, entropy);
    await store.createToken({
      id,
      accountId,
      name,
      prefix,
      secretHash: hashes.sha256(secret),
      createdAt,
      expiresAt,
    });
    return { name, prefix, createdAt, expiresAt, token: prefix + secret };
  }

  function revokeToken(accountId: AccountId, nameOrPrefix: string): Promise<boolean> {
    return store.revokeToken(accountId, nameOrPrefix);
  }
}
