import { newId } from "#base";
import { systemEntropy } from "#host";
import { sql } from "kysely";
import type { ContactFields } from "./rows.ts";
import type { Db } from "./schema.ts";

interface StoredContact {
  readonly id: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly customFields: Readonly<Record<string, unknown>>;
}

/**
 * Creates or updates the contacts of an account by phone: given fields overwrite, absent ones stay.
 * The same upsert done twice is done once, so a broken import has nothing to take back here.
 */
export async function upsertContacts(
  db: Db,
  accountId: string,
  contacts: readonly ContactFields[],
  now: number,
): Promise<void> {
  const stored = await storedContacts(
    db,
    accountId,
    contacts.map((contact) => contact.phone),
  );
  for (const { phone, fields, customFields } of contacts) {
    const before = stored.get(phone);
    const contact: StoredContact = {
      id: before?.id ?? newId(now, systemEntropy),
      fields: { ...before?.fields, ...fields },
      customFields: { ...before?.customFields, ...customFields },
    };
    stored.set(phone, contact); // The same phone may come twice.
    const texts = {
      fields: JSON.stringify(contact.fields),
      custom_fields: JSON.stringify(contact.customFields),
    };
    await db
      .insertInto("contacts")
      .values({ id: contact.id, account_id: accountId, phone, ...texts, created_at: now, updated_at: now })
      .onConflict((conflict) =>
        conflict.columns(["account_id", "phone"]).doUpdateSet({ ...texts, updated_at: now }),
      )
      .execute();
  }
}

/** Contact ids by phone, of those that exist. */
export async function contactIds(
  db: Db,
  accountId: string,
  phones: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const rows = await db
    .selectFrom("contacts")
    .select(["phone", "id"])
    .where("account_id", "=", accountId)
    .where("phone", "in", listed(phones))
    .execute();
  return new Map(rows.map((row) => [row.phone, row.id]));
}

async function storedContacts(
  db: Db,
  accountId: string,
  phones: readonly string[],
): Promise<Map<string, StoredContact>> {
  const rows = await db
    .selectFrom("contacts")
    .selectAll()
    .where("account_id", "=", accountId)
    .where("phone", "in", listed(phones))
    .execute();
  return new Map(
    rows.map((row) => [
      row.phone,
      {
        id: row.id,
        fields: JSON.parse(row.fields),
        customFields: JSON.parse(row.custom_fields),
      },
    ]),
  );
}

/** One parameter however long the list is, so that the statement stays the same. */
function listed(phones: readonly string[]) {
  return sql<string>`(select value from json_each(${JSON.stringify(phones)}))`;
}
