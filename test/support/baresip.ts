import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { existsSync } from "node:fs";
import { ChildProgram } from "./child-program.ts";
import { eventually } from "./eventually.ts";
import { freeUdpPort } from "./free-port.ts";

export interface BaresipOptions {
  /** Holds its files; made if needed. */
  readonly directory: string;
  /** What it plays to its callers: mono, 8 kHz. */
  readonly playedFile: string;
}

/** Debian's baresip, headless, answering every call at once with PCMU. Leaving the scope ends it. */
export class Baresip implements AsyncDisposable {
  readonly port: number;
  readonly directory: string;
  readonly #program: ChildProgram;

  private constructor(program: ChildProgram, port: number, directory: string) {
    this.#program = program;
    this.port = port;
    this.directory = directory;
  }

  /** Its account is the user `number` of `sip:number@127.0.0.1:port`. */
  static async start(number: string, options: BaresipOptions): Promise<Baresip> {
    const { directory } = options;
    await mkdir(directory, { recursive: true });
    const port = await freeUdpPort();
    const firstRtpPort = await freeUdpPort(20);
    const account = `<sip:${number}@127.0.0.1:${port}>;regint=0;answermode=auto;audio_codecs=pcmu`;
    await writeFile(join(directory, "config"), configOf({ ...options, port, firstRtpPort }));
    await writeFile(join(directory, "accounts"), `${account}\n`);
    await writeFile(join(directory, "contacts"), "");
    const program = new ChildProgram("baresip", ["-f", directory], { cwd: directory });
    try {
      await program.shows(/baresip is ready/);
    } catch (error) {
      await program[Symbol.asyncDispose]();
      throw error;
    }
    return new Baresip(program, port, directory);
  }

  /** The recording of what it heard, when the call is over. */
  async heardFile(withinMs = 5_000): Promise<string> {
    const { name } = await eventually(
      "baresip's recording",
      async () => {
        const found = (await readdir(this.directory)).find((file) => /^dump-.*-dec\.wav$/.test(file));
        return found === undefined ? this.#program.stdout.slice(-500) : { name: found };
      },
      withinMs,
    );
    return join(this.directory, name);
  }

  get output(): string {
    return this.#program.stdout + this.#program.stderr;
  }

  /** It closes its recordings when it ends by itself. */
  async stop(): Promise<void> {
    this.#program.signal("SIGTERM");
    await this.#program.ends();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#program[Symbol.asyncDispose]();
  }
}

function configOf(at: BaresipOptions & { readonly port: number; readonly firstRtpPort: number }): string {
  // `lo` is no name it takes, and without a working source it never answers: so a file plays and a bridge swallows.
  return `sip_listen 127.0.0.1:${at.port}
sip_transports udp
call_local_timeout 120
call_max_calls 4
audio_path /usr/share/baresip
audio_player aubridge,sink
audio_source aufile,${at.playedFile}
audio_alert aubridge,sink
ausrc_srate 8000
auplay_srate 8000
rtp_ports ${at.firstRtpPort}-${at.firstRtpPort + 20}
rtcp_mux no
jitter_buffer_delay 2-10
net_interface 127.0.0.1
module_path ${modulePath()}
module g711.so
module aufile.so
module aubridge.so
module sndfile.so
module_tmp account.so
module_app menu.so
snd_path ${at.directory}
`;
}

function modulePath(): string {
  const places = ["/usr/lib/baresip/modules", "/usr/local/lib/baresip/modules"];
  return places.find((place) => existsSync(place)) ?? "/usr/lib/baresip/modules";
}
