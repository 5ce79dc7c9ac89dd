import { existsSync, readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { sql } from "kysely";
import { plainTrunkSip } from "#domain";
import { describe, expect, it } from "vitest";
import { allMigrations, type Migrations } from "../../src/store/migrate.ts";
import { accountId, call, furnish, id, noon, trunk } from "./sample-rows.ts";
import { openHere, temporaryDirectory } from "./temporary-store.ts";

const next: Migrations = {
  ...allMigrations,
  "0099-notes": {
    async up(db) {
      await sql`alter table calls add column note text not null default ''`.execute(db);
    },
  },
};

const broken: Migrations = {
  ...allMigrations,
  "0099-broken": {
    async up(db) {
      await sql`create table half (a)`.execute(db);
      await sql`delete from calls`.execute(db);
      await sql`this is no SQL`.execute(db);
    },
  },
};

describe.each(["sqljs", "node-sqlite"] as const)("a store file on %s", (engine) => {
  it("is migrated once, after a copy of it was made", async () => {
    using directory = temporaryDirectory();
    const file = directory.file("a.db");
    const before = await openHere({ file, engine });
    await furnish(before);
    await before.insertCall(call(1));
    await before.close();
    for (let round = 0; round < 2; round++) {
      const after = await openHere({ file, engine, migrations: next });
      expect(await after.findCall(accountId, call(1).id)).toMatchObject({ to: call(1).to });
      await after.close();
    }
    const copy = new DatabaseSync(`${file}.before-0099-notes`);
    expect({ ...copy.prepare("select count(*) as n from calls").get() }).toEqual({ n: 1 });
    expect(copy.prepare("select name from kysely_migration").all()).toHaveLength(
      Object.keys(allMigrations).length,
    );
    copy.close();
  });

  it("of the first version keeps its trunks, with plain SIP settings", async () => {
    using directory = temporaryDirectory();
    const file = directory.file("a.db");
    const first: Migrations = { "0001-first": allMigrations["0001-first"]! };
    await (await openHere({ file, engine, migrations: first })).close();
    const old = new DatabaseSync(file);
    old.exec(
      `insert into accounts (id, name, timezone, created_at) values ('${accountId}', 'default', 'UTC', 0);
       insert into trunks (id, account_id, name, kind, host, port, username, password_ref, caller_id, codecs,
         max_calls, calls_per_second, is_default, created_at)
       values ('${id(4)}', '${accountId}', 'main', 'digest', 'sip.example.com', 5060, 'bob', 'outdial/main',
         '+34910000000', '["PCMU","PCMA"]', 10, 0.5, 1, ${noon});`,
    );
    old.close();
    const store = await openHere({ file, engine });
    expect(await store.listTrunks(accountId)).toEqual([trunk({ sip: plainTrunkSip })]);
    const tls = trunk({ sip: { ...plainTrunkSip, transport: "tls" } });
    expect(await store.updateTrunk(tls)).toBe(true);
    expect(await store.listTrunks(accountId)).toEqual([tls]);
    await store.close();
    expect(existsSync(`${file}.before-0002-trunk-sip`)).toBe(true);
  });

  it("is not copied when it is new", async () => {
    using directory = temporaryDirectory();
    const file = directory.file("a.db");
    await (await openHere({ file, engine, migrations: next })).close();
    expect(existsSync(`${file}.before-0099-notes`)).toBe(false);
  });

  it("written by a newer program is refused, and left as it is", async () => {
    using directory = temporaryDirectory();
    const file = directory.file("a.db");
    await (await openHere({ file, engine, migrations: next })).close();
    const before = readFileSync(file);
    await expect(openHere({ file, engine })).rejects.toMatchObject({ code: "store-newer" });
    expect(readFileSync(file).equals(before)).toBe(true);
  });

  it("is what it was after a migration that fails", async () => {
    using directory = temporaryDirectory();
    const file = directory.file("a.db");
    const before = await openHere({ file, engine });
    await furnish(before);
    await before.insertCall(call(1));
    await before.close();
    await expect(openHere({ file, engine, migrations: broken })).rejects.toThrow(/syntax error/);
    const after = await openHere({ file, engine });
    expect(await after.stats()).toMatchObject({ calls: 1 });
    await after.close();
    const plain = new DatabaseSync(file);
    expect(plain.prepare("select name from sqlite_master where name = 'half'").all()).toEqual([]);
    plain.close();
  });
});
