import { once } from "node:events";
import { writeSync } from "node:fs";
import { call, furnish } from "./sample-rows.ts";
import { openHere } from "./temporary-store.ts";

/*
 * Writes until there is no room, says "full <calls stored>", waits for a line, writes once more, says "again", closes.
 */

const [file = ""] = process.argv.slice(2);
const store = await openHere({ file });
await furnish(store);
let stored = 0;
for (;;) {
  try {
    await store.insertCall(call(stored, { params: { text: "x".repeat(20_000) } }));
    stored++;
  } catch (error) {
    writeSync(
      1,
      `full ${stored} ${error instanceof Error && "code" in error ? String(error.code) : String(error)}\n`,
    );
    break;
  }
}
await once(process.stdin, "data");
await store.insertCall(call(stored, { params: { text: "x".repeat(20_000) } }));
await store.close();
writeSync(1, "again\n");
process.exit();
