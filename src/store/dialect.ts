import { CompiledQuery, SqliteAdapter, SqliteDialect, type DatabaseConnection, type Driver } from "kysely";
import type { SqlDatabase } from "./sql-database.ts";

/** Kysely over one SQLite connection of ours: schema changes are transactional, transactions write from their start. */
export class StoreDialect extends SqliteDialect {
  constructor(database: SqlDatabase) {
    super({ database });
  }

  override createAdapter(): SqliteAdapter {
    return new TransactionalAdapter();
  }

  override createDriver(): Driver {
    const driver = super.createDriver();
    driver.beginTransaction = async (connection: DatabaseConnection): Promise<void> => {
      await connection.executeQuery(CompiledQuery.raw("begin immediate"));
    };
    return driver;
  }
}

class TransactionalAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true;
  }
}
