/** Writes completions/ and man/ from the table of commands; takes files away that are no longer made. */
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { currentEdition } from "./edition.ts";
import { generatedFiles } from "./generated-files.ts";

const root = new URL("../../", import.meta.url);

const files = await generatedFiles(await currentEdition(root, () => new Date()));
for (const directory of ["completions", "man"]) {
  await mkdir(new URL(`${directory}/`, root), { recursive: true });
  for (const name of await readdir(new URL(`${directory}/`, root))) {
    if (!files.has(`${directory}/${name}`)) await rm(new URL(`${directory}/${name}`, root));
  }
}
for (const [path, content] of files) {
  await mkdir(new URL(`${dirname(path)}/`, root), { recursive: true });
  await writeFile(new URL(path, root), content);
}
process.stdout.write(`${files.size} files\n`);
