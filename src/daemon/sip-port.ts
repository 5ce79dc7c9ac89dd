import { OutdialError } from "#base";
import { writeFileAtomic } from "#host";
import { readFile } from "node:fs/promises";

/**
 * Opens a SIP endpoint on the configured port or, when that is 0, on the port of the last run if it is free.
 * What a dead process left behind is bound to its port: a CANCEL must repeat the Via of its INVITE (RFC 3261 9.1),
 * and the 200 of a phone that was picked up meanwhile is sent there. Rejects as `open` does.
 */
export async function openOnLastPort<T extends { readonly local: { readonly port: number } }>(
  file: string,
  configured: number,
  open: (port: number) => Promise<T>,
): Promise<T> {
  if (configured !== 0) return open(configured);
  const last = await lastPort(file);
  const endpoint = last === undefined ? await open(0) : await open(last).catch(orElse(() => open(0)));
  if (endpoint.local.port !== last) await writeFileAtomic(file, `${endpoint.local.port}\n`);
  return endpoint;
}

async function lastPort(file: string): Promise<number | undefined> {
  const text = await readFile(file, "utf8").catch(() => "");
  const port = Number(text);
  return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined;
}

function orElse<T>(other: () => Promise<T>): (error: unknown) => Promise<T> {
  return (error) => {
    if (error instanceof OutdialError && error.code === "sip-port-busy") return other();
    throw error;
  };
}
