import type { Paths } from "#host";
import type { Ask } from "./ask.ts";
import type { Client } from "./client.ts";
import type { Config } from "./config.ts";
import type { Io } from "./io.ts";
import type { Notes } from "./notes.ts";
import type { Printer } from "./printer.ts";
import type { Settings } from "./settings.ts";
import type { Transport } from "./transport.ts";

/** A verb's work: resolves with the exit code, or with nothing for 0. */
export type Handler = (context: Context, input: Input) => Promise<number | void>;

/** What a command works with. */
export interface Context {
  readonly io: Io;
  readonly settings: Settings;
  readonly config: Config;
  readonly paths: Paths;
  readonly print: Printer;
  readonly notes: Notes;
  readonly ask: Ask;
  /** Fires at the first Ctrl-C or SIGTERM. */
  readonly signal: AbortSignal;
  /** The owner's interface of the local daemon, or the public one of a remote service. */
  server(): Promise<Server>;
  /** The daemon's socket, whether anything answers on it or not. */
  readonly socket: Transport;
}

export type Server =
  | { readonly type: "local"; readonly client: Client }
  | { readonly type: "remote"; readonly client: Client };

/** The arguments and options of one command, by name. Asking for one the table does not have is a bug. */
export interface Input {
  arg(name: string): string;
  optionalArg(name: string): string | undefined;
  args(name: string): readonly string[];
  text(name: string): string | undefined;
  flag(name: string): boolean;
  list(name: string): readonly string[];
  /** A whole number of at least `least`. */
  whole(name: string, least?: number): number | undefined;
  /** `30s`, `10m`, `2h`, `1d` in milliseconds. */
  durationMs(name: string): number | undefined;
  /** Option names that were given, without their dashes. */
  readonly given: readonly string[];
}

