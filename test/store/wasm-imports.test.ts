import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fileCalls, importNames, importSignatures, nameImports } from "../../src/store/wasm-imports.ts";

const require = createRequire(import.meta.url);

interface Build {
  /** Import keys in the order of the glue code. */
  readonly keys: readonly string[];
  readonly signatures: ReadonlyMap<string, string>;
}

/** Starts a build of the installed sql.js as far as its imports. */
function build(name: "sql-wasm" | "sql-wasm-debug"): Promise<Build> {
  const wasm = readFileSync(require.resolve(`sql.js/dist/${name}.wasm`));
  const script = require.resolve(`sql.js/dist/${name}.js`);
  delete require.cache[script]; // It loads once only.
  const load = require(script);
  return new Promise((resolve) => {
    load({
      wasmBinary: wasm,
      instantiateWasm(imports: Record<string, Record<string, unknown>>) {
        const [space = {}] = Object.values(imports); // The debug build has two names for one list.
        const keys = Object.keys(space);
        resolve({ keys, signatures: importSignatures(wasm) });
        return {};
      },
    });
  });
}

describe("the import table", () => {
  it("is that of the installed sql.js, whose debug build has the same functions under their names", async () => {
    const [production, debug] = await Promise.all([build("sql-wasm"), build("sql-wasm-debug")]);
    expect(production.keys).toHaveLength(importNames.length);
    // Both builds list their imports by name; each has a few of its own.
    expect([...debug.keys]).toEqual([...debug.keys].sort());
    expect([...importNames]).toEqual([...importNames].sort());
    expect(debug.keys.filter((name) => !importNames.some((known) => known === name))).toEqual([
      "__handle_stack_overflow",
      "clock_time_get",
    ]);
    expect(importNames.filter((name) => !debug.keys.includes(name))).toEqual([
      "_emscripten_runtime_keepalive_clear",
      "_setitimer_js",
      "proc_exit",
    ]);
    const shared = importNames.flatMap((name, index) => {
      const signature = debug.signatures.get(name);
      return signature === undefined
        ? []
        : [[name, signature, production.signatures.get(production.keys[index] ?? "")]];
    });
    expect(shared.length).toBeGreaterThan(30);
    for (const [name, inDebug, inProduction] of shared) expect([name, inProduction]).toEqual([name, inDebug]);
  });

  it("names the imports of the production build", async () => {
    const { keys, signatures } = await build("sql-wasm");
    const named = nameImports(keys, signatures);
    expect(fileCalls.map(([name]) => signatures.get(named.get(name) ?? ""))).toEqual(
      fileCalls.map(([, type]) => type),
    );
  });

  it("refuses a build with another number of imports", async () => {
    const { keys, signatures } = await build("sql-wasm");
    expect(() => nameImports([...keys, "new"], signatures)).toThrow(
      expect.objectContaining({ code: "store-engine-mismatch" }),
    );
  });

  it("refuses a build in which a file call takes other arguments", async () => {
    const { keys, signatures } = await build("sql-wasm");
    const moved = [...keys.slice(1), ...keys.slice(0, 1)];
    expect(() => nameImports(moved, signatures)).toThrow(/is not the sql.js outdial was built for/);
  });
});
