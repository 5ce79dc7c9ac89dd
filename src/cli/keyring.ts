import type * as KeytarModule from "keytar";
import { spawn } from "node:child_process";
import type { Context, Input } from "./handler.ts";
import type { Io } from "./io.ts";

/** Name under which all secrets are kept in the system's keychain. */
const service = "outdial";
const answerWithinMs = 3000;

export type KeyringAct = "get" | "set" | "delete";

/** `unavailable` says why: no keychain here, or one that does not answer. */
export type KeyringAnswer =
  | { readonly type: "done"; readonly secret: string | undefined }
  | { readonly type: "unavailable"; readonly why: string };

/**
 * Asks the keychain in a child process that is killed after 3 s: with a session bus that never answers, the
 * native call blocks for ever and even `process.exit()` hangs. Secrets travel over pipes, never as arguments.
 */
export function askKeyring(io: Io, act: KeyringAct, name: string, secret = ""): Promise<KeyringAnswer> {
  const [program = "", ...leading] = io.selfCommand;
  return new Promise((resolve) => {
    const child = spawn(program, [...leading, "__keyring", act, name], {
      stdio: ["pipe", "pipe", "pipe"],
      env: { ...io.env },
    });
    const alarm = io.steady.alarm(io.steady.now() + answerWithinMs, () => {
      child.kill("SIGKILL");
      finish({ type: "unavailable", why: "the keychain did not answer within 3 s" });
    });
    const finish = (answer: KeyringAnswer): void => {
      alarm[Symbol.dispose]();
      resolve(answer);
    };
    let out = "";
    let complaint = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => (out += text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => (complaint += text));
    child.stdin.on("error", () => undefined); // A child that died early is reported by its exit.
    child.stdin.end(secret);
    child.on("error", (error) => finish({ type: "unavailable", why: error.message }));
    child.on("close", (code) => {
      if (code === 0) finish({ type: "done", secret: out === "" ? undefined : out });
      else finish({ type: "unavailable", why: complaint.trim().split("\n")[0] || "there is no keychain" });
    });
  });
}

/** `outdial __keyring <act> <name>`, run by `askKeyring`. */
export function keyringAct({ io }: Context, input: Input): Promise<number> {
  return runKeyringAct(io, input.arg("act"), input.arg("name"));
}

/** The child's side: one act on the keychain; the secret comes on standard input and goes to standard output. */
async function runKeyringAct(io: Io, act: string, name: string): Promise<number> {
  try {
    const keytar = await loadKeytar();
    if (act === "get") {
      const secret = await keytar.getPassword(service, name);
      if (secret !== null) io.stdout.write(secret);
    } else if (act === "set") {
      await keytar.setPassword(service, name, await readAll(io.stdin));
    } else {
      await keytar.deletePassword(service, name);
    }
    return 0;
  } catch (error) {
    io.stderr.write(`${error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error)}\n`);
    return 1;
  }
}

type Keytar = Pick<typeof KeytarModule, "getPassword" | "setPassword" | "deletePassword">;

async function loadKeytar(): Promise<Keytar> {
  const loaded = (await import("keytar")) as Keytar & { readonly default?: Keytar };
  return loaded.default ?? loaded;
}

async function readAll(stream: NodeJS.ReadableStream): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    text += typeof chunk === "string" ? chunk : decoder.decode(chunk, { stream: true });
  }
  return text;
}
