import { defineConfig, type Options } from "tsup";

const shared = {
  platform: "node",
  target: "node24",
  sourcemap: false,
  splitting: false,
  // tsup would turn `node:sqlite` into `sqlite`, which does not exist.
  removeNodeProtocol: false,
  silent: true,
} satisfies Options;

export default defineConfig([
  {
    ...shared,
    name: "cli",
    entry: { cli: "src/cli/main.ts" },
    // CommonJS starts faster: an ES import of node:http alone costs 30 ms.
    format: ["cjs"],
    outExtension: () => ({ js: ".cjs" }),
    shims: true,
    minify: true,
    // The parser runs at every start; the rest of the packages is loaded by the commands that need it.
    noExternal: ["commander"],
    // tsup leaves out dependencies, but bundles optional ones: a bundled keytar looks for its binary in the wrong place.
    external: ["keytar"],
  },
  {
    ...shared,
    name: "programs",
    entry: {
      daemon: "src/daemon/main.ts",
      "store-worker": "src/store/worker.ts",
      "lines-worker": "src/lines/worker.ts",
      "sandbox-worker": "src/sandbox/worker.ts",
      "ai-speech-child": "src/ai/speech-child.ts",
      "cli-ui-campaign-view": "src/cli/ui/campaign-view.tsx",
    },
    format: ["esm"],
    outExtension: () => ({ js: ".js" }),
  },
]);
