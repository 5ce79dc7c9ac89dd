import { readFile } from "node:fs/promises";
import { readJson } from "./json.ts";
import type { Edition } from "./man-pages.ts";

/**
 * Version and date for the generated pages. A page of the same version keeps its date, so that generating again
 * changes nothing; a new version takes `today`.
 */
export async function currentEdition(root: URL, today: () => Date): Promise<Edition> {
  const { version } = readJson<{ version: string }>(await readFile(new URL("package.json", root), "utf8"));
  const page = await readFile(new URL("man/outdial.1", root), "utf8").catch(() => "");
  const [, date, printed] = /^\.TH \S+ 1 (\d{4}-\d\d-\d\d) "outdial ([^"]+)"/m.exec(page) ?? [];
  return {
    version,
    date: date !== undefined && printed === version ? date : today().toISOString().slice(0, 10),
  };
}
