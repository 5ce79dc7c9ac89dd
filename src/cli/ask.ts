import { createInterface } from "node:readline";
import { CommandError, usageError } from "./command-error.ts";
import type { Io } from "./io.ts";

/** Questions to the person at the keyboard; on standard error, so that the answer stays clean. */
export interface Ask {
  /** y/N. With --yes true at once; where nobody can be asked, exit 2 naming the flag. */
  confirm(question: string): Promise<void>;
  /** The number must be typed back. Same rules. */
  confirmCount(question: string, count: number): Promise<void>;
  /** A secret, not shown while typed. `flag` is what to give where nobody can be asked. */
  secret(question: string, flag: string): Promise<string>;
}

/** Asks through the given terminal. */
export function createAsk(io: Io, mayAsk: boolean, yes: boolean): Ask {
  const need = (what: string, flag: string): void => {
    if (!mayAsk) throw usageError(`${what}, and nobody can be asked here`, `add ${flag}`);
  };
  const line = (question: string): Promise<string> => readLine(io, question);
  return {
    confirm: async (question) => {
      if (yes) return;
      need("this needs a confirmation", "--yes");
      if (!/^y(es)?$/i.test((await line(`${question} [y/N] `)).trim())) throw declined();
    },
    confirmCount: async (question, count) => {
      if (yes) return;
      need("this needs a confirmation", "--yes");
      const answer = await line(`${question}\nType the number ${count} to go on: `);
      if (answer.replace(/[\s.,]/g, "") !== String(count)) throw declined();
    },
    secret: async (question, flag) => {
      need("a secret is needed", flag);
      const secret = await hidden(io, question);
      if (secret === "") throw declined();
      return secret;
    },
  };
}

function declined(): CommandError {
  return new CommandError("declined", "nothing was done");
}

function readLine(io: Io, question: string): Promise<string> {
  const reader = createInterface({ input: io.stdin, output: io.stderr, terminal: false });
  io.stderr.write(question);
  return new Promise((resolve) => {
    reader.once("line", (text) => {
      resolve(text);
      reader.close();
    });
    reader.once("close", () => resolve(""));
  });
}

type RawInput = NodeJS.ReadableStream & { setRawMode?: (on: boolean) => unknown };

/** Reads a line with echo off; Ctrl-C and Ctrl-D give up, backspace works. */
function hidden(io: Io, question: string): Promise<string> {
  const input: RawInput = io.stdin;
  io.stderr.write(question);
  input.setRawMode?.(true);
  input.setEncoding("utf8");
  input.resume();
  return new Promise((resolve) => {
    let typed = "";
    const finish = (answer: string): void => {
      input.off("data", take);
      input.off("end", end);
      input.setRawMode?.(false);
      input.pause();
      io.stderr.write("\n");
      resolve(answer);
    };
    const end = (): void => finish(typed);
    const take = (chunk: string | Uint8Array): void => {
      for (const key of String(chunk)) {
        if (key === "\r" || key === "\n") return finish(typed);
        if (key === "\u0003" || key === "\u0004") return finish("");
        typed = key === "\u007f" || key === "\b" ? typed.slice(0, -1) : typed + key;
      }
    };
    input.on("data", take);
    input.once("end", end);
  });
}
