import { exitCode } from "./exit-codes.ts";

/** The reason of the abort signal after Ctrl-C or SIGTERM. */
export class Interrupted extends Error {
  override readonly name = "Interrupted";
  readonly exit: number;

  constructor(signal: "SIGINT" | "SIGTERM") {
    super(`interrupted by ${signal}`);
    this.exit = exitCode(signal === "SIGINT" ? "interrupted" : "terminated");
  }
}
