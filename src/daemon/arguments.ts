import { accept, reject, type Decoded } from "#base";
import { parseListen } from "./config.ts";

export type DaemonCommand =
  | { readonly type: "run"; readonly listen: { readonly host: string; readonly port: number } | undefined }
  | { readonly type: "sandbox"; readonly address: string; readonly port: number }
  | { readonly type: "help" };

export const usage = `outdiald: the daemon of outdial

  outdiald run [--listen HOST:PORT]       serve the APIs and place the calls
  outdiald sandbox [--listen HOST:PORT]   only the sandbox carrier (default 127.0.0.1:5060)
`;

/** Reads the command line, without the program's name. */
export function readArguments(argv: readonly string[]): Decoded<DaemonCommand> {
  const [command, ...rest] = argv;
  if (command === "--help" || command === "-h" || command === "help") return accept({ type: "help" });
  if (command !== "run" && command !== "sandbox") {
    return reject(
      "",
      `${command === undefined ? "a command is missing" : `"${command}" is no command`}; run or sandbox`,
    );
  }
  const [option, text, ...more] = rest.flatMap((word) =>
    word.startsWith("--listen=") ? ["--listen", word.slice(9)] : [word],
  );
  if (option === undefined) {
    return accept(
      command === "run"
        ? { type: "run", listen: undefined }
        : { type: "sandbox", address: "127.0.0.1", port: 5060 },
    );
  }
  if (option !== "--listen" || more.length > 0)
    return reject("", `"${more[0] ?? option}" is not known; only --listen is`);
  const listen = parseListen(text ?? "");
  if (listen === undefined)
    return reject("--listen", `"${text ?? ""}" is no address; give HOST:PORT, such as 127.0.0.1:5060`);
  return accept(
    command === "run"
      ? { type: "run", listen }
      : { type: "sandbox", address: listen.host, port: listen.port },
  );
}
