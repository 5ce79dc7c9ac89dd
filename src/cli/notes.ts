import { cleanLines } from "./clean-text.ts";
import type { CommandError } from "./command-error.ts";
import type { Output } from "./io.ts";
import { jsonText } from "./printer.ts";

/** Everything that is not the answer: to standard error. */
export interface Notes {
  /** What is going on; for a person. */
  say(line: string): void;
  warn(line: string): void;
  error(error: CommandError): void;
  /** A line that replaces itself on a terminal; elsewhere nothing. Clear with an empty text. */
  progress(line: string): void;
}

/** Notes for one run; with machine output an error is one line of JSON. */
export function createNotes(stderr: Output, machine: boolean, color: boolean): Notes {
  let progressShown = false;
  const write = (line: string): void => {
    stderr.write(`${progressShown ? "\r\u001b[K" : ""}${line}\n`);
    progressShown = false;
  };
  const paint = (code: number, word: string): string => (color ? `\u001b[${code}m${word}\u001b[39m` : word);
  return {
    say: (line) => write(cleanLines(line)),
    warn: (line) => write(`${paint(33, "warning:")} ${cleanLines(line)}`),
    error: (error) => write(machine ? jsonText(errorObject(error)) : errorText(error, paint)),
    progress: (line) => {
      if (stderr.isTTY !== true || (line === "" && !progressShown)) return;
      stderr.write(`\r\u001b[K${cleanLines(line)}`);
      progressShown = line !== "";
    },
  };
}

function errorText(error: CommandError, paint: (code: number, word: string) => string): string {
  const lines = [`${paint(31, "error:")} ${cleanLines(error.message)}`];
  const part = (name: string, text: string | undefined): void => {
    if (text !== undefined && text !== "")
      lines.push(`  ${name}  ${cleanLines(text).replaceAll("\n", "\n        ")}`);
  };
  part("why:", error.why);
  part("fix:", error.hint);
  part("ref:", error.ref);
  return lines.join("\n");
}

function errorObject(error: CommandError): unknown {
  return {
    error: {
      code: error.code,
      message: error.message,
      ...(error.why === undefined ? {} : { why: error.why }),
      ...(error.hint === undefined ? {} : { hint: error.hint }),
      ...(error.ref === undefined ? {} : { ref: error.ref }),
      exit_code: error.exit,
    },
  };
}
