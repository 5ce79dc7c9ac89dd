import type { Selectable } from "kysely";
import type { TokenRow } from "./rows.ts";
import type { Db, Tables } from "./schema.ts";
import { refuseDouble } from "./store-errors.ts";

export async function createToken(db: Db, token: TokenRow): Promise<void> {
  await refuseDouble("token-exists", `There is already a token "${token.name}".`, () =>
    db
      .insertInto("tokens")
      .values({
        id: token.id,
        account_id: token.accountId,
        name: token.name,
        prefix: token.prefix,
        secret_hash: token.secretHash,
        created_at: token.createdAt,
        expires_at: token.expiresAt,
      })
      .execute(),
  );
}

export async function listTokens(db: Db, accountId: string): Promise<readonly TokenRow[]> {
  const rows = await db
    .selectFrom("tokens")
    .selectAll()
    .where("account_id", "=", accountId)
    .orderBy("created_at")
    .orderBy("id")
    .execute();
  return rows.map(toToken);
}

export async function findToken(db: Db, prefix: string): Promise<TokenRow | undefined> {
  const row = await db.selectFrom("tokens").selectAll().where("prefix", "=", prefix).executeTakeFirst();
  return row && toToken(row);
}

/** Deletes the token, so that it stops working at once; false when there is none. */
export async function revokeToken(db: Db, accountId: string, nameOrPrefix: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("tokens")
    .where("account_id", "=", accountId)
    .where((is) => is.or([is("name", "=", nameOrPrefix), is("prefix", "=", nameOrPrefix)]))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

function toToken(row: Selectable<Tables["tokens"]>): TokenRow {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    prefix: row.prefix,
    secretHash: row.secret_hash,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
