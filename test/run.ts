/*
 * `npm test`: sets the machine up for the tests, then runs every check. Steps are independent of what a person
 * installed by hand: missing Debian packages are installed (as root or through sudo), the programs are built.
 */
import { spawnSync } from "node:child_process";
import { existsSync, globSync } from "node:fs";
import { delimiter, join } from "node:path";

/** Programs the acceptance tests meet, and the Debian package of each. */
const peers: Readonly<Record<string, string>> = {
  sipp: "sip-tester",
  baresip: "baresip-core",
  soxi: "sox",
  "gnome-keyring-daemon": "gnome-keyring",
  "dbus-run-session": "dbus-daemon",
  "secret-tool": "libsecret-tools",
  fish: "fish",
  zsh: "zsh",
  mandoc: "mandoc",
  tcpdump: "tcpdump",
  kamailio: "kamailio",
};
/** Packages that bring no program, and a file of each (`*`: the machine's name for its kind). */
const plugins: Readonly<Record<string, string>> = {
  "/usr/lib/*/kamailio/modules/tls.so": "kamailio-tls-modules",
};

const root = join(import.meta.dirname, "..");
const local = (program: string): string => join(root, "node_modules", ".bin", program);

installPeers();
run("build", local("tsup"), []);
run("format", local("oxfmt"), ["--check", "."]);
run("lint", local("oxlint"), []);
run("types", local("tsc"), ["-p", "."]);
run("unused exports", local("knip"), []);
run("tests", local("vitest"), ["run", "-c", "test/vitest.config.ts", ...process.argv.slice(2)]);

function installPeers(): void {
  const missing = [
    ...Object.entries(peers).filter(([program]) => !isInstalled(program)),
    ...Object.entries(plugins).filter(([file]) => globSync(file).length === 0),
  ];
  if (missing.length === 0) return;
  const packages = missing.map(([, name]) => name);
  const prefix = process.getuid?.() === 0 ? [] : ["sudo", "-n"];
  const apt = (...words: string[]): boolean => {
    const [program = "", ...rest] = [...prefix, "apt-get", ...words];
    const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
    // One line a package would drown the report; the reason of a failure goes to standard error.
    return (
      spawnSync(program, rest, { stdio: ["ignore", "ignore", "inherit"], env: environment }).status === 0
    );
  };
  print(`installing ${packages.join(", ")}`);
  const installed =
    apt("update", "-qq") && apt("install", "-y", "-qq", "--no-install-recommends", ...packages);
  if (installed) return;
  print(`error: the tests need the Debian packages ${packages.join(" ")}; install them and run again`);
  process.exit(1);
}

function isInstalled(program: string): boolean {
  const places = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/bin", "/usr/local/bin"];
  return places.some((place) => existsSync(join(place, program)));
}

function run(name: string, program: string, words: readonly string[]): void {
  const start = performance.now();
  const { status } = spawnSync(program, words, { cwd: root, stdio: "inherit" });
  if (status !== 0) {
    print(`error: ${name} failed`);
    process.exit(status ?? 1);
  }
  print(`${name}: ok (${((performance.now() - start) / 1000).toFixed(1)} s)`);
}

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}
