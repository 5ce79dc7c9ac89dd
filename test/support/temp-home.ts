import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A directory of its own for one daemon and its programs: everything of OUTDIAL_HOME lies under it. */
export class TempHome implements AsyncDisposable {
  readonly directory: string;

  private constructor(directory: string) {
    this.directory = directory;
  }

  /** `daemonTable` is the text of `[daemon]` in config.toml; the API listens on a free port unless it says otherwise. */
  static async create(daemonTable = ""): Promise<TempHome> {
    const home = new TempHome(await mkdtemp(join(tmpdir(), "outdial-home-")));
    await home.configure(daemonTable);
    return home;
  }

  configure(daemonTable: string): Promise<void> {
    const listen = /^listen\b/m.test(daemonTable) ? "" : 'listen = "127.0.0.1:0"\n';
    return writeFile(this.path("config.toml"), `[daemon]\n${listen}${daemonTable}\n`, { mode: 0o600 });
  }

  path(...parts: readonly string[]): string {
    return join(this.directory, ...parts);
  }

  get dataDir(): string {
    return this.path("data");
  }

  get recordingsDir(): string {
    return this.path("data", "recordings");
  }

  get socketPath(): string {
    return this.path("run", "daemon.sock");
  }

  get logFile(): string {
    return this.path("state", "daemon.log");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }
}
