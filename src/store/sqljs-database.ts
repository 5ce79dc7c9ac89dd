import type { Database, SqlValue } from "sql.js";
import { statementCache, type PreparedStatement, type SqlDatabase } from "./sql-database.ts";

/** sql.js's own interface in the shape Kysely asks for. */
export function sqljsDatabase(database: Database): SqlDatabase {
  const statements = statementCache((sql) => prepare(database, sql));
  return {
    prepare: (sql) => statements.get(sql),
    exec: (sql) => void asError(() => database.exec(sql)),
    close() {
      statements.clear();
      asError(() => database.close());
    },
  };
}

function prepare(database: Database, sql: string): PreparedStatement {
  const statement = asError(() => database.prepare(sql));
  const columns = statement.getColumnNames();
  function* rows(parameters: readonly SqlValue[]): IterableIterator<unknown> {
    try {
      asError(() => statement.bind([...parameters]));
      while (asError(() => statement.step())) {
        const values = statement.get();
        const row: Record<string, unknown> = {};
        for (const [index, column] of columns.entries()) row[column] = values[index];
        yield row;
      }
    } finally {
      statement.reset();
    }
  }
  return {
    reader: columns.length > 0,
    iterate: rows,
    all: (parameters: readonly SqlValue[]) => [...rows(parameters)],
    run(parameters: readonly SqlValue[]) {
      for (const _row of rows(parameters));
      return { changes: database.getRowsModified(), lastInsertRowid: 0 };
    },
    free: () => void statement.free(),
  };
}

/** sql.js throws some of its errors as bare strings. */
function asError<T>(act: () => T): T {
  try {
    return act();
  } catch (error) {
    throw error instanceof Error ? error : new Error(String(error));
  }
}
