const runsFromSource = import.meta.url.endsWith(".ts") || import.meta.url.endsWith(".tsx");

/**
 * URL of a program that runs in a thread or process of its own, named as in the source tree:
 * `lines/worker` is `src/lines/worker.ts` from source and `lines-worker.js` beside the bundle.
 */
export function programFile(name: string, extension: "ts" | "tsx" = "ts"): URL {
  return runsFromSource
    ? new URL(`../${name}.${extension}`, import.meta.url)
    : new URL(`./${name.replaceAll("/", "-")}.js`, import.meta.url);
}
