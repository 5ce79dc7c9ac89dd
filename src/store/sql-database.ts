import type { SqliteDatabase, SqliteStatement } from "kysely";

/** One SQLite connection, whichever engine is under it: what Kysely needs, and `exec` for statements without a result. */
export interface SqlDatabase extends SqliteDatabase {
  exec(sql: string): void;
}

export interface PreparedStatement extends SqliteStatement {
  free(): void;
}

const keptStatements = 200;

/** Keeps the statements used last prepared; `prepare` is asked for the others. */
export function statementCache(prepare: (sql: string) => PreparedStatement): {
  get(sql: string): PreparedStatement;
  clear(): void;
} {
  const kept = new Map<string, PreparedStatement>();
  return {
    get(sql) {
      const statement = kept.get(sql) ?? prepare(sql);
      kept.delete(sql);
      kept.set(sql, statement); // A Map lists in order of insertion: the first one is the longest unused.
      if (kept.size > keptStatements) {
        const [oldest] = kept.keys();
        if (oldest !== undefined) {
          kept.get(oldest)?.free();
          kept.delete(oldest);
        }
      }
      return statement;
    },
    clear() {
      for (const statement of kept.values()) statement.free();
      kept.clear();
    },
  };
}
