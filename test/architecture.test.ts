import { globSync, readFileSync } from "node:fs";
import { builtinModules } from "node:module";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

interface Layer {
  readonly may: readonly string[];
  readonly npm: readonly string[];
  readonly node: boolean;
  readonly why: string;
  /** Files that may reach further: composition roots. */
  readonly roots?: Readonly<Record<string, readonly string[]>>;
}

/** Who may import whom, bottom to top, and why not more. */
const layers: Readonly<Record<string, Layer>> = {
  base: { may: [], npm: [], node: false, why: "everything stands on it" },
  sip: { may: ["base"], npm: [], node: false, why: "the protocol core is a function of octets and time" },
  media: { may: ["base"], npm: [], node: false, why: "a frame of audio knows nothing of sockets or calls" },
  domain: {
    may: ["base"],
    npm: ["luxon", "libphonenumber-js", "yaml"],
    node: false,
    why: "the business must be testable without a machine around it",
  },
  talk: {
    may: ["base", "media", "domain"],
    npm: [],
    node: false,
    why: "a conversation knows no vendor and no socket",
  },
  wire: {
    may: ["base", "domain"],
    npm: ["typebox"],
    node: false,
    why: "the HTTP contract is data, read by server and client",
  },
  host: { may: ["base"], npm: ["pino"], node: true, why: "what the machine offers knows nothing of calls" },
  store: {
    may: ["base", "domain", "host"],
    npm: ["kysely", "sql.js"],
    node: true,
    why: "SQL knows nothing of calls in progress",
  },
  trunks: {
    may: ["base", "sip", "host"],
    npm: [],
    node: true,
    why: "signalling never touches audio or storage",
  },
  lines: {
    may: ["base", "media", "talk", "host"],
    npm: [],
    node: true,
    why: "audio and conversation of a call know neither SIP nor SQL",
    roots: { "worker.ts": ["ai"] },
  },
  ai: {
    may: ["base", "media", "talk", "host"],
    npm: ["undici", "ajv"],
    node: true,
    why: "vendors stand behind talk's ports",
  },
  sandbox: {
    may: ["base", "sip", "media", "host", "trunks", "lines"],
    npm: [],
    node: true,
    why: "the carrier is a stranger to the daemon: it meets it on the wire only",
    roots: { "worker.ts": ["ai"] },
  },
  api: {
    may: ["base", "domain", "wire", "host"],
    npm: ["fastify", "typebox"],
    node: true,
    why: "HTTP in, service calls out",
  },
  daemon: {
    may: ["base", "domain", "talk", "host"],
    npm: ["luxon", "smol-toml", "ajv"],
    node: true,
    why: "the application names its needs as ports; only main.ts knows who fills them",
    roots: { "main.ts": ["trunks", "lines", "store", "api", "sandbox", "ai"] },
  },
  cli: {
    may: ["base", "wire", "host"],
    npm: [
      "commander",
      "ink",
      "react",
      "undici",
      "keytar",
      "papaparse",
      "luxon",
      "smol-toml",
      "libphonenumber-js",
    ],
    node: true,
    why: "the CLI talks to the daemon over HTTP only",
  },
};

const sources = globSync("src/**/*.{ts,tsx}", { cwd: root }).filter((file) => !file.endsWith(".d.ts"));

test("every import goes down the layers", () => {
  expect(sources.length).toBeGreaterThan(100);
  expect(sources.flatMap(brokenEdges)).toEqual([]);
});

test("a module is entered through its index only, and every module has one", () => {
  for (const name of Object.keys(layers)) expect(sources).toContain(`src/${name}/index.ts`);
  const manifest = JSON.parse(readFileSync(`${root}package.json`, "utf8")) as {
    imports: Record<string, string>;
  };
  expect(Object.keys(manifest.imports)).toEqual(Object.keys(layers).map((name) => `#${name}`));
});

test("the check itself finds an edge that goes up", () => {
  expect(wrongImport("src/cli/index.ts", "#store")).toContain("over HTTP only");
  expect(wrongImport("src/sip/parse.ts", "node:dgram")).toContain("octets and time");
  expect(wrongImport("src/daemon/service.ts", "#store")).toContain("main.ts");
  expect(wrongImport("src/daemon/main.ts", "#store")).toBeUndefined();
  expect(wrongImport("src/api/server.ts", "../daemon/main.ts")).toBeDefined();
});

function brokenEdges(file: string): string[] {
  const source = readFileSync(root + file, "utf8");
  return importsOf(source).flatMap((specifier) => wrongImport(file, specifier) ?? []);
}

function wrongImport(file: string, specifier: string): string | undefined {
  const [, name = "", ...rest] = file.split("/");
  const layer = layers[name];
  if (layer === undefined) return `${file}: no layer is declared for ${name}`;
  if (isAllowed(layer, rest.join("/"), specifier)) return undefined;
  return `${file} -> ${specifier} (${layer.why})`;
}

function isAllowed(layer: Layer, file: string, specifier: string): boolean {
  if (specifier.startsWith("./") || specifier === "../../package.json") return true;
  if (specifier.startsWith("../")) return file.includes("/") && !specifier.startsWith("../../");
  if (specifier.startsWith("#")) {
    return [...layer.may, ...(layer.roots?.[file] ?? [])].includes(specifier.slice(1));
  }
  if (specifier.startsWith("node:") || builtinModules.includes(specifier)) return layer.node;
  return layer.npm.some((name) => specifier === name || specifier.startsWith(`${name}/`));
}

function importsOf(source: string): string[] {
  return [
    ...source.matchAll(
      /(?:^|\n)\s*(?:import|export)[^;"'`]*?\bfrom\s*["']([^"']+)["']|\bimport\s*\(?\s*["']([^"']+)["']/g,
    ),
  ].map((match) => match[1] ?? match[2] ?? "");
}
