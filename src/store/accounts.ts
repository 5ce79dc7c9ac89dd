import type { Selectable } from "kysely";
import type { Account } from "./rows.ts";
import type { Db, Tables } from "./schema.ts";
import { refuseDouble } from "./store-errors.ts";

export async function createAccount(db: Db, account: Account): Promise<Account> {
  const { id, name, timezone, createdAt } = account;
  await refuseDouble("account-exists", `There is already an account "${name}".`, () =>
    db.insertInto("accounts").values({ id, name, timezone, created_at: createdAt }).execute(),
  );
  return account;
}

export async function listAccounts(db: Db): Promise<readonly Account[]> {
  return (await db.selectFrom("accounts").selectAll().orderBy("created_at").orderBy("id").execute()).map(
    toAccount,
  );
}

export async function findAccount(db: Db, nameOrId: string): Promise<Account | undefined> {
  const row = await db
    .selectFrom("accounts")
    .selectAll()
    .where((is) => is.or([is("name", "=", nameOrId), is("id", "=", nameOrId)]))
    .executeTakeFirst();
  return row && toAccount(row);
}

function toAccount(row: Selectable<Tables["accounts"]>): Account {
  return { id: row.id, name: row.name, timezone: row.timezone, createdAt: row.created_at };
}
