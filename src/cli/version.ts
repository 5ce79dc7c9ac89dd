import { readFileSync } from "node:fs";
import { programFile } from "#host";

/** The version in this installation's package.json. */
export function outdialVersion(): string {
  const here = programFile("cli/main");
  for (const path of ["../package.json", "../../package.json"]) {
    try {
      const { name, version } = JSON.parse(readFileSync(new URL(path, here), "utf8")) as Record<
        string,
        unknown
      >;
      if (name === "outdial" && typeof version === "string") return version;
    } catch {
      // Seen from the source tree it is one level further up.
    }
  }
  return "unknown";
}
