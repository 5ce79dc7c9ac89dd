import type { Paths } from "#host";
import type { Ask } from "./ask.ts";
import type { Client } from "./client.ts";
import type { Config } from "./config.ts";
import type { Io } from "./io.ts";
import type { Notes } from "./notes.ts";
import type { Printer } from "./printer.ts";
import type { Format } from "./global-options.ts";
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
  /** One of a set of words. */
  choice<Word extends string>(name: string, words: readonly Word[]): Word | undefined;
  flag(name: string): boolean;
  list(name: string): readonly string[];
  /** A whole number of at least `least`. */
  whole(name: string, least?: number): number | undefined;
  /** `30s`, `10m`, `2h`, `1d` in milliseconds. */
  durationMs(name: string): number | undefined;
  /** Option names that were given, without their dashes. */
  readonly given: readonly string[];
}

/** The options that every command shares, decided: flag, then environment, then configuration, then default. */
export interface Settings {
  readonly format: Format | undefined;
  /** A format of the command's own (`html`), when one was asked for. */
  readonly ownFormat: string | undefined;
  readonly fields: readonly string[];
  readonly header: boolean;
  readonly zone: string | undefined;
  readonly yes: boolean;
  /** Questions are possible: both ends are terminals and nothing forbids them. */
  readonly mayAsk: boolean;
  readonly account: string | undefined;
  readonly mayStart: boolean;
  readonly profile: string | undefined;
  readonly host: string | undefined;
  readonly retryForMs: number;
}
