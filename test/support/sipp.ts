import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { ChildProgram } from "./child-program.ts";
import { eventually, eventuallyTrue } from "./eventually.ts";
import { freeUdpPort, isUdpPortFree } from "./free-port.ts";

/** One SIP message as sipp saw it on the wire. */
export interface TracedMessage {
  /** Unix ms. */
  readonly at: number;
  readonly direction: "sent" | "received";
  /** `INVITE`, `BYE` … or the status, `200`. */
  readonly kind: string;
  readonly callId: string;
  readonly cseq: string;
  /** The user part of the request line, when there is one. */
  readonly number: string;
  readonly text: string;
}

export interface SippOptions {
  /** Where its files go; must exist. */
  readonly directory: string;
  readonly scenario: string;
  /** Calls after which it ends by itself; default: never. */
  readonly calls?: number;
  /** Sends every audio packet back to where it came from; otherwise it is deaf and mute. */
  readonly echo?: boolean;
  readonly more?: readonly string[];
  /** `host:port` to call; a callee has none. */
  readonly target?: string;
}

/** Debian's sipp on a free port, its messages on record. Leaving the scope ends it. */
export class Sipp implements AsyncDisposable {
  readonly port: number;
  readonly #program: ChildProgram;
  readonly #messageFile: string;
  readonly #errorFile: string;

  private constructor(program: ChildProgram, port: number, files: { messages: string; errors: string }) {
    this.#program = program;
    this.port = port;
    this.#messageFile = files.messages;
    this.#errorFile = files.errors;
  }

  static async start(options: SippOptions): Promise<Sipp> {
    const { directory } = options;
    const port = await freeUdpPort();
    const mediaPort = await freeUdpPort(4);
    const file = (ending: string): string => join(directory, `sipp-${port}.${ending}`);
    await writeFile(file("xml"), options.scenario);
    const target = options.target === undefined ? [] : [options.target];
    const media = ["-i", "127.0.0.1", "-mi", "127.0.0.1", "-p", `${port}`, "-mp", `${mediaPort}`];
    const traces = [
      "-trace_msg",
      "-message_file",
      file("messages"),
      "-trace_err",
      "-error_file",
      file("errors"),
    ];
    const echo = options.echo === true ? ["-rtp_echo"] : [];
    const calls = options.calls === undefined ? [] : ["-m", `${options.calls}`];
    const more = ["-nostdin", "-skip_rlimit", ...echo, ...calls, ...(options.more ?? [])];
    const words = [...target, "-sf", file("xml"), ...media, ...traces, ...more];
    const files = { messages: file("messages"), errors: file("errors") };
    const sipp = new Sipp(new ChildProgram("sipp", words, { cwd: directory }), port, files);
    // Its output is no sign of life: not on a terminal, it comes at the end.
    await eventuallyTrue(
      "sipp listens",
      async () => !sipp.#program.isRunning || !(await isUdpPortFree(port)),
    );
    if (!sipp.#program.isRunning) await sipp.#program.shows(/ready/, 0);
    return sipp;
  }

  /** All messages so far. */
  async messages(): Promise<readonly TracedMessage[]> {
    return parseTrace(await readFile(this.#messageFile, "utf8").catch(() => ""));
  }

  /** What came in, in short: `INVITE 1`, `ACK 1`, `BYE 2`. */
  async received(): Promise<readonly string[]> {
    return (await this.messages())
      .filter(({ direction }) => direction === "received")
      .map(({ kind, cseq }) => `${kind} ${cseq.split(" ")[0]}`);
  }

  /** Resolves with the messages when a received one is of this kind. */
  async receives(kind: string, withinMs = 10_000): Promise<readonly TracedMessage[]> {
    return eventually(
      `sipp receives ${kind}`,
      async () => {
        const messages = await this.messages();
        const has = messages.some((message) => message.direction === "received" && message.kind === kind);
        return has ? messages : messages.map((message) => `${message.direction} ${message.kind}`).join(", ");
      },
      withinMs,
    );
  }

  /** Waits until it has ended by itself; rejects with its complaints unless every call went by the scenario. */
  async passes(withinMs = 20_000): Promise<void> {
    const { code } = await this.#program.ends(withinMs);
    if (code === 0) return;
    const complaints = await readFile(this.#errorFile, "utf8").catch(() => "");
    throw new Error(`sipp exited with ${code}: ${complaints.slice(0, 3_000)}`);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#program[Symbol.asyncDispose]();
  }
}

/** Reads what `-trace_msg` writes. */
function parseTrace(text: string): readonly TracedMessage[] {
  const header =
    /^-{20,} (\d{4}-\d\d-\d\d)[\tT ](\d\d:\d\d:\d\d\.\d+).*\nUDP message (sent|received) [^\n]*\n\n?/m;
  return text.split(/^(?=-{20,} \d{4}-)/m).flatMap((block) => {
    const match = header.exec(block);
    if (match === null) return [];
    const message = block.slice(match.index + match[0].length);
    const [first = ""] = message.trimStart().split(/\r?\n/, 1);
    const request = /^([A-Z]+) sips?:(?:([^@>; ]*)@)?\S* SIP\/2\.0/.exec(first);
    const field = (name: string): string =>
      new RegExp(`^${name}:[ \\t]*(.*?)\\r?$`, "im").exec(message)?.[1] ?? "";
    return [
      {
        at: new Date(`${match[1]}T${match[2]}`).getTime(),
        direction: match[3] === "sent" ? "sent" : "received",
        kind: request?.[1] ?? first.split(" ")[1] ?? "",
        callId: field("Call-ID"),
        cseq: field("CSeq"),
        number: request?.[2] ?? "",
        text: message,
      } as const,
    ];
  });
}
