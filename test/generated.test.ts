import { readdir, readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { currentEdition } from "../src/cli/edition.ts";
import { generatedFiles } from "../src/cli/generated-files.ts";

const root = new URL("../", import.meta.url);

describe("completions/ and man/", () => {
  it("are what the table of commands makes; if not: npm run generate", async () => {
    const wanted = await generatedFiles(await currentEdition(root, () => new Date()));
    const present = new Map<string, string>();
    for (const directory of ["completions", "man"]) {
      for (const name of await readdir(new URL(`${directory}/`, root))) {
        present.set(`${directory}/${name}`, await readFile(new URL(`${directory}/${name}`, root), "utf8"));
      }
    }
    expect([...present.keys()].toSorted()).toEqual([...wanted.keys()].toSorted());
    expect(
      [...wanted].filter(([path, content]) => present.get(path) !== content).map(([path]) => path),
    ).toEqual([]);
  });

  it("have pages whose lines roff cannot misread", async () => {
    const files = await generatedFiles({ version: "1.2.3", date: "2026-11-21" });
    const known = new Set([
      '.\\"',
      ".TH",
      ".SH",
      ".TP",
      ".B",
      ".BR",
      ".I",
      ".PP",
      ".RS",
      ".RE",
      ".nf",
      ".fi",
    ]);
    const heading =
      /^\.\\" Generated[^\n]*\n\.TH \S+ [17] 2026-11-21 "outdial 1\.2\.3" "Outdial Manual"\n\.SH NAME\n/;
    const wrong = [...files].filter(([path, content]) => {
      if (!path.startsWith("man/")) return false;
      const requests = content.split("\n").filter((line) => /^[.']/.test(line));
      const foreign = requests.some((line) => !known.has(line.split(" ")[0] ?? ""));
      return foreign || !heading.test(content) || Buffer.byteLength(content) !== content.length;
    });
    expect(wrong.map(([path]) => path)).toEqual([]);
  });
});
