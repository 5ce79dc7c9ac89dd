import { realFiles } from "./file-system.ts";
import { handOver } from "./in-use-mark.ts";
import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { statementCache, type PreparedStatement, type SqlDatabase } from "./sql-database.ts";

/** The same file opened with the SQLite inside Node: faster, but its interface is still changing. */
export function nodeDatabase(path: string): SqlDatabase {
  handOver(realFiles, path);
  const database = new DatabaseSync(path);
  const statements = statementCache((sql): PreparedStatement => {
    const statement = database.prepare(sql);
    return {
      reader: statement.columns().length > 0,
      all: (parameters: readonly SQLInputValue[]) => statement.all(...parameters),
      run: (parameters: readonly SQLInputValue[]) => statement.run(...parameters),
      iterate: (parameters: readonly SQLInputValue[]) => statement.iterate(...parameters),
      free: () => undefined,
    };
  });
  return {
    prepare: (sql) => statements.get(sql),
    exec: (sql) => database.exec(sql),
    close() {
      statements.clear();
      database.close();
    },
  };
}
