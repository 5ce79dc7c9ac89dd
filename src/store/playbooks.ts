import { OutdialError } from "#base";
import type { Selectable } from "kysely";
import { onlyMatch, prefixEnd } from "./find-by-prefix.ts";
import type { PlaybookRow, VersionRow } from "./rows.ts";
import type { Db, Tables } from "./schema.ts";

/** Creates or updates by account and name; a stored playbook keeps its id, its birth and its production version. */
export async function applyPlaybook(
  db: Db,
  playbook: PlaybookRow,
  version: VersionRow | undefined,
): Promise<PlaybookRow> {
  const settings = JSON.stringify(playbook.settings);
  const stored = await db
    .insertInto("playbooks")
    .values({
      id: playbook.id,
      account_id: playbook.accountId,
      name: playbook.name,
      settings,
      source: playbook.source,
      production_version_id: playbook.productionVersionId,
      created_at: playbook.createdAt,
      updated_at: playbook.updatedAt,
    })
    .onConflict((conflict) =>
      conflict
        .columns(["account_id", "name"])
        .doUpdateSet({ settings, source: playbook.source, updated_at: playbook.updatedAt }),
    )
    .returningAll()
    .executeTakeFirstOrThrow();
  if (version !== undefined) await commitVersion(db, stored.id, version);
  const isFirst = version !== undefined && stored.production_version_id === null;
  if (isFirst) await setProduction(db, stored.id, version.id);
  return toPlaybook(isFirst ? { ...stored, production_version_id: version.id } : stored);
}

export async function listPlaybooks(db: Db, accountId: string): Promise<readonly PlaybookRow[]> {
  const rows = await db
    .selectFrom("playbooks")
    .selectAll()
    .where("account_id", "=", accountId)
    .orderBy("name")
    .execute();
  return rows.map(toPlaybook);
}

export async function findPlaybook(
  db: Db,
  accountId: string,
  nameOrId: string,
): Promise<PlaybookRow | undefined> {
  const row = await db
    .selectFrom("playbooks")
    .selectAll()
    .where("account_id", "=", accountId)
    .where((is) => is.or([is("name", "=", nameOrId), is("id", "=", nameOrId.toLowerCase())]))
    .executeTakeFirst();
  return row && toPlaybook(row);
}

export async function findPlaybookById(db: Db, id: string): Promise<PlaybookRow | undefined> {
  const row = await db
    .selectFrom("playbooks")
    .selectAll()
    .where("id", "=", id.toLowerCase())
    .executeTakeFirst();
  return row && toPlaybook(row);
}

/** Newest first. */
export async function listVersions(db: Db, playbookId: string): Promise<readonly VersionRow[]> {
  const rows = await db
    .selectFrom("versions")
    .selectAll()
    .where("playbook_id", "=", playbookId)
    .orderBy("created_at", "desc")
    .orderBy("id", "desc")
    .execute();
  return rows.map(toVersion);
}

export async function findVersion(
  db: Db,
  playbookId: string,
  idOrPrefix: string,
): Promise<VersionRow | undefined> {
  const prefix = idOrPrefix.toLowerCase();
  if (prefix === "") return undefined;
  const rows = await db
    .selectFrom("versions")
    .selectAll()
    .where("playbook_id", "=", playbookId)
    .where("id", ">=", prefix)
    .where("id", "<", prefixEnd(prefix))
    .limit(2)
    .execute();
  const row = onlyMatch(rows, "versions", prefix);
  return row && toVersion(row);
}

/** Rejects `version-not-found` when the playbook has no such version. */
export async function promoteVersion(db: Db, playbookId: string, versionId: string): Promise<void> {
  const version = await db
    .selectFrom("versions")
    .select("id")
    .where("id", "=", versionId)
    .where("playbook_id", "=", playbookId)
    .executeTakeFirst();
  if (version === undefined) {
    throw new OutdialError("version-not-found", `The playbook has no version ${versionId}.`, {
      hint: "List its versions with: outdial playbook versions.",
    });
  }
  await setProduction(db, playbookId, versionId);
}

async function commitVersion(db: Db, playbookId: string, version: VersionRow): Promise<void> {
  await db
    .insertInto("versions")
    .values({
      id: version.id,
      playbook_id: playbookId,
      message: version.message,
      settings: JSON.stringify(version.settings),
      source: version.source,
      created_at: version.createdAt,
    })
    .execute();
}

async function setProduction(db: Db, playbookId: string, versionId: string): Promise<void> {
  await db
    .updateTable("playbooks")
    .set({ production_version_id: versionId })
    .where("id", "=", playbookId)
    .execute();
}

function toPlaybook(row: Selectable<Tables["playbooks"]>): PlaybookRow {
  return {
    id: row.id,
    accountId: row.account_id,
    name: row.name,
    settings: JSON.parse(row.settings),
    source: row.source,
    productionVersionId: row.production_version_id,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
  };
}

function toVersion(row: Selectable<Tables["versions"]>): VersionRow {
  return {
    id: row.id,
    playbookId: row.playbook_id,
    message: row.message,
    settings: JSON.parse(row.settings),
    source: row.source,
    createdAt: row.created_at,
  };
}
