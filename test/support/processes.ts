import { readdir, readFile } from "node:fs/promises";
import { existsSync, readFileSync } from "node:fs";

/** Ids of the processes that this one started and that still run. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const ids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
  const parents = await Promise.all(ids.map(async (id) => [id, await parentOf(id)] as const));
  return parents.filter(([, parent]) => parent === pid).map(([id]) => id);
}

/** Whether the process runs; one that has ended and waits to be collected does not. */
export function isAlive(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false;
  try {
    return stateAndParent(readFileSync(`/proc/${pid}/stat`, "utf8"))[0] !== "Z";
  } catch {
    return false; // It ended while it was looked at.
  }
}

async function parentOf(pid: number): Promise<number | undefined> {
  const stat = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => undefined);
  return stat === undefined ? undefined : stateAndParent(stat)[1];
}

/** proc(5): the name in parentheses may hold anything, what follows it may not. */
function stateAndParent(stat: string): readonly [state: string, parent: number] {
  const [state = "", parent = ""] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return [state, Number(parent)];
}
