import { plainTrunkSip } from "#domain";
import type { Selectable } from "kysely";
import type { TrunkRow } from "./rows.ts";
import type { Db, Tables } from "./schema.ts";
import { refuseDouble } from "./store-errors.ts";

/** A new default takes the place of the old one: an account has at most one. */
export async function createTrunk(db: Db, trunk: TrunkRow): Promise<void> {
  if (trunk.isDefault) await clearDefault(db, trunk.accountId);
  await refuseDouble("trunk-exists", `There is already a trunk "${trunk.name}".`, () =>
    db
      .insertInto("trunks")
      .values({
        id: trunk.id,
        account_id: trunk.accountId,
        ...settingsOf(trunk),
        is_default: trunk.isDefault ? 1 : 0,
        created_at: trunk.createdAt,
      })
      .execute(),
  );
}

export async function listTrunks(db: Db, accountId: string): Promise<readonly TrunkRow[]> {
  const rows = await db
    .selectFrom("trunks")
    .selectAll()
    .where("account_id", "=", accountId)
    .orderBy("name")
    .execute();
  return rows.map(toTrunk);
}

export async function findTrunk(db: Db, accountId: string, nameOrId: string): Promise<TrunkRow | undefined> {
  const row = await db
    .selectFrom("trunks")
    .selectAll()
    .where("account_id", "=", accountId)
    .where((is) => is.or([is("name", "=", nameOrId), is("id", "=", nameOrId)]))
    .executeTakeFirst();
  return row && toTrunk(row);
}

export async function removeTrunk(db: Db, accountId: string, name: string): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom("trunks")
    .where("account_id", "=", accountId)
    .where("name", "=", name)
    .executeTakeFirst();
  return numDeletedRows > 0n;
}

/** False, and nothing changed, when there is no trunk of that name. */
export async function setDefaultTrunk(db: Db, accountId: string, name: string): Promise<boolean> {
  const trunk = await findTrunk(db, accountId, name);
  if (trunk === undefined) return false;
  await clearDefault(db, accountId);
  await db.updateTable("trunks").set({ is_default: 1 }).where("id", "=", trunk.id).execute();
  return true;
}

/** Everything but id, account, default and time of creation. False: it is gone. */
export async function updateTrunk(db: Db, trunk: TrunkRow): Promise<boolean> {
  const { numUpdatedRows } = await refuseDouble(
    "trunk-exists",
    `There is already a trunk "${trunk.name}".`,
    () =>
      db
        .updateTable("trunks")
        .set(settingsOf(trunk))
        .where("id", "=", trunk.id)
        .where("account_id", "=", trunk.accountId)
        .executeTakeFirst(),
  );
  return numUpdatedRows > 0n;
}

export async function updateTrunkAddress(db: Db, trunkId: string, host: string, port: number): Promise<void> {
  await db.updateTable("trunks").set({ host, port }).where("id", "=", trunkId).execute();
}

async function clearDefault(db: Db, accountId: string): Promise<void> {
  await db
    .updateTable("trunks")
    .set({ is_default: 0 })
    .where("account_id", "=", accountId)
    .where("is_default", "=", 1)
    .execute();
}

function settingsOf(trunk: TrunkRow) {
  return {
    name: trunk.name,
    kind: trunk.kind,
    host: trunk.host,
    port: trunk.port,
    username: trunk.username,
    password_ref: trunk.passwordRef,
    caller_id: trunk.callerId,
    codecs: JSON.stringify(trunk.codecs),
    max_calls: trunk.maxCalls,
    calls_per_second: trunk.callsPerSecond,
    sip: JSON.stringify(trunk.sip),
  };
}

function toTrunk(row: Selectable<Tables["trunks"]>): TrunkRow {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    kind: row.kind,
    host: row.host,
    port: row.port,
    username: row.username,
    passwordRef: row.password_ref,
    callerId: row.caller_id,
    codecs: JSON.parse(row.codecs),
    maxCalls: row.max_calls,
    callsPerSecond: row.calls_per_second,
    isDefault: row.is_default === 1,
    createdAt: row.created_at,
    sip: { ...plainTrunkSip, ...JSON.parse(row.sip) },
  };
}
