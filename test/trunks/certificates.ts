import { execFile } from "node:child_process";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** A key and its certificate, PEM. */
export interface Identity {
  readonly key: string;
  readonly cert: string;
}

/** A certificate authority of the test, made by openssl. */
export class Authority implements AsyncDisposable {
  readonly #directory: string;
  /** Its own certificate, PEM. */
  readonly certificate: string;
  #count = 0;

  private constructor(directory: string, certificate: string) {
    this.#directory = directory;
    this.certificate = certificate;
  }

  static async create(): Promise<Authority> {
    const directory = await mkdtemp(join(tmpdir(), "outdial-ca-"));
    await openssl(directory, [
      "req",
      "-x509",
      ...newKey("ca.key"),
      "-days",
      "30",
      "-subj",
      "/CN=Test CA",
      "-out",
      "ca.pem",
    ]);
    return new Authority(directory, await readFile(join(directory, "ca.pem"), "utf8"));
  }

  /** A certificate for subject alternative names such as `DNS:trunk.test`; negative days: it has expired. */
  async issue(names: string, days = 30): Promise<Identity> {
    const name = `leaf${++this.#count}`;
    const extensions = join(this.#directory, `${name}.ext`);
    await writeFile(extensions, `subjectAltName=${names}\n`);
    await openssl(this.#directory, [
      "req",
      ...newKey(`${name}.key`),
      "-subj",
      "/CN=leaf",
      "-out",
      `${name}.csr`,
    ]);
    await openssl(this.#directory, [
      "x509",
      "-req",
      "-CAcreateserial",
      ...options({ in: `${name}.csr`, CA: "ca.pem", CAkey: "ca.key", extfile: extensions }),
      ...options({ days: `${days}`, out: `${name}.pem` }),
    ]);
    return this.#read(name);
  }

  /** A certificate that vouches for itself. */
  async selfSigned(names: string): Promise<Identity> {
    const name = `self${++this.#count}`;
    await openssl(this.#directory, [
      "req",
      "-x509",
      ...newKey(`${name}.key`),
      ...options({ days: "30", subj: "/CN=self", addext: `subjectAltName=${names}`, out: `${name}.pem` }),
    ]);
    return this.#read(name);
  }

  async #read(name: string): Promise<Identity> {
    const [key, cert] = await Promise.all(
      [`${name}.key`, `${name}.pem`].map((file) => readFile(join(this.#directory, file), "utf8")),
    );
    return { key: key!, cert: cert! };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true });
  }
}

function options(named: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(named).flatMap(([name, value]) => [`-${name}`, value]);
}

function newKey(file: string): readonly string[] {
  return ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", file];
}

async function openssl(cwd: string, words: readonly string[]): Promise<void> {
  await run("openssl", [...words], { cwd });
}
