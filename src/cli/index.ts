/**
 * The terminal: reads a command line, talks to the daemon over its socket (or to a remote service over the
 * public API), prints the answer on standard output and everything else on standard error, and gives the
 * exit code. Does nothing when imported.
 */
export type { Io } from "./io.ts";
export { main } from "./main.ts";
