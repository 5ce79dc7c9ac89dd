import { open } from "node:fs/promises";
import { usageError } from "./command-error.ts";
import type { Context } from "./handler.ts";
import { pcapHeader, pcapPacket } from "./pcap.ts";
import type { TracedMessage } from "./sip-ladder.ts";

/** A capture of SIP messages that Wireshark opens; whatever carried them, they are written as UDP. */
export interface CaptureFile extends AsyncDisposable {
  add(message: TracedMessage): Promise<void>;
}

/** Creates the file, readable by its owner only; `-` is standard output, for a program that reads along. */
export async function openCapture(context: Context, path: string): Promise<CaptureFile> {
  if (path === "-" && context.print.interactive)
    throw usageError(
      "a capture is nothing for a terminal",
      "add --pcap <file>, or pipe it into: wireshark -k -i -",
    );
  const file = path === "-" ? undefined : await open(path, "w", 0o600);
  const write = async (octets: Uint8Array): Promise<void> => {
    if (file === undefined) await context.print.bytes(octets);
    else await file.write(octets);
  };
  await write(pcapHeader());
  return {
    add: async ({ at, direction, local, remote, text }) => {
      const [from, to] = direction === "sent" ? [local, remote] : [remote, local];
      const payload = new TextEncoder().encode(text);
      await write(pcapPacket({ atMs: Date.parse(at), from, to, payload }));
    },
    [Symbol.asyncDispose]: async () => file?.close(),
  };
}
