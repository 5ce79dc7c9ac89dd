import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const besideTheCheckout = fileURLToPath(new URL("../../../shared/fixtures/sip-torture", import.meta.url));

/** The torture messages of RFC 4475 and RFC 5118 by `folder/name`. Throws when they are nowhere: the tests must not pass without them. */
export function readTortureMessages(): ReadonlyMap<string, Uint8Array> {
  const root = process.env["OUTDIAL_SIP_TORTURE"] ?? besideTheCheckout;
  const messages = new Map<string, Uint8Array>();
  for (const folder of ["rfc4475", "rfc5118"]) {
    const path = join(root, folder);
    if (!existsSync(path)) {
      throw new Error(
        `The SIP torture messages are not at ${path}. Set OUTDIAL_SIP_TORTURE to the folder that holds rfc4475/ and rfc5118/.`,
      );
    }
    for (const file of readdirSync(path)) {
      if (file.endsWith(".dat")) {
        messages.set(
          `${folder}/${file.slice(0, -".dat".length)}`,
          new Uint8Array(readFileSync(join(path, file))),
        );
      }
    }
  }
  return messages;
}
