import { completionScript, scriptFiles } from "./completion.ts";
import { manPages, type Edition } from "./man-pages.ts";

/** Every file that is generated from the table of commands: path from the root of the project, and content. */
export async function generatedFiles(edition: Edition): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>();
  for (const shell of ["bash", "zsh", "fish"] as const) {
    files.set(`completions/${scriptFiles[shell]}`, completionScript(shell));
  }
  for (const [name, content] of await manPages(edition)) files.set(`man/${name}`, content);
  return files;
}
