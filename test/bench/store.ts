import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openStore, type Store } from "#store";
import {
  accountId,
  callsOf,
  campaign,
  call,
  claimAt,
  dialog,
  ended,
  furnish,
  noon,
} from "../store/sample-rows.ts";

/*
 * node test/bench/store.ts [calls]: the store in its thread, on both engines in one run. Absolute figures depend on
 * the machine and on what else it does; the ratio to the SQLite inside Node is what to compare.
 */

const total = Number(process.argv[2] ?? 50_000);
const results: Record<string, Record<string, number>> = {};
for (const engine of ["node-sqlite", "sqljs"] as const) results[engine] = await measure(engine);

const native = results["node-sqlite"] ?? {};
for (const [name, value] of Object.entries(results["sqljs"] ?? {})) {
  const other = native[name] ?? 0;
  console.log(
    `${name.padEnd(34)} sqljs ${text(value)}   node-sqlite ${text(other)}   ratio ${(value / other).toFixed(2)}`,
  );
}

async function measure(engine: "sqljs" | "node-sqlite"): Promise<Record<string, number>> {
  const directory = mkdtempSync(join(tmpdir(), "outdial-bench-"));
  const store = await openStore({ file: join(directory, "a.db"), engine });
  try {
    await furnish(store);
    const list = campaign(1, { total });
    const calls = callsOf(list.id, 1, total);
    const importMs = await timed(() => store.insertCampaign(list, [], calls));
    const alone = await timed(async () => {
      for (let n = 0; n < 500; n++) await store.insertCall(call(total + n + 1, { dueAt: null }));
    });
    const together = await timed(() =>
      Promise.all(
        Array.from({ length: 2000 }, (_, n) => store.insertCall(call(total + 1000 + n, { dueAt: null }))),
      ),
    );
    const claims: number[] = [];
    const dials: number[] = [];
    for (let round = 0; round < 200; round++) await dialTen(store, claims, dials);
    const pages: number[] = [];
    for (let round = 0; round < 200; round++) {
      pages.push(await timed(() => store.listCalls({ accountId, states: ["queued"], limit: 50 })));
    }
    return {
      "imported calls/s": (total * 1000) / importMs,
      "writes/s, one after another": 500_000 / alone,
      "writes/s, many at a time": 2_000_000 / together,
      "claim of 10, p50 ms": middle(claims),
      "dial and end of 10, p50 ms": middle(dials),
      "list of 50, p50 ms": middle(pages),
    };
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
}

async function dialTen(store: Store, claims: number[], dials: number[]): Promise<void> {
  const started = performance.now();
  const { claimed } = await store.claimDue(claimAt(noon));
  claims.push(performance.now() - started);
  const dial = ({ id }: { readonly id: string }): Promise<boolean> =>
    store.startDial(id, 1, "d1", id, dialog(), noon);
  const end = ({ id }: { readonly id: string }): Promise<boolean> => store.endAttempt(ended(id, 1));
  dials.push(
    await timed(async () => {
      await Promise.all(claimed.map((taken) => dial(taken.call)));
      await Promise.all(claimed.map((taken) => end(taken.call)));
    }),
  );
}

async function timed(act: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await act();
  return performance.now() - started;
}

function middle(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

function text(value: number): string {
  return value.toFixed(value < 100 ? 2 : 0).padStart(9);
}
