import type { AttemptKey } from "./attempts.ts";
import type { SipMessageRow } from "./rows.ts";
import type { Db } from "./schema.ts";

/** What is kept of one call, all attempts together. */
const maxBytes = 64 * 1024;

/** Stores the messages of an attempt, and forgets the oldest attempts' when the call would hold more than 64 KiB. */
export async function saveSipMessages(
  db: Db,
  { callId, n }: AttemptKey,
  messages: readonly SipMessageRow[],
): Promise<void> {
  if (messages.length === 0) return;
  const sizes = messages.map(({ text }) => Buffer.byteLength(text));
  await makeRoom(
    db,
    { callId, n },
    sizes.reduce((sum, size) => sum + size, 0),
  );
  const rows = messages.map(({ seq, at, direction, transport, local, remote, text }, index) => ({
    call_id: callId,
    n,
    seq,
    at,
    direction,
    transport,
    local,
    remote,
    message: text,
    size_bytes: sizes[index] ?? 0,
  }));
  // In pieces: the number of parameters of one statement is limited.
  for (let at = 0; at < rows.length; at += 50) {
    await db
      .insertInto("sip_traces")
      .values(rows.slice(at, at + 50))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}

/** In the order of the attempts, and within one as they were on the wire. */
export async function listSipMessages(db: Db, callId: string): Promise<readonly SipMessageRow[]> {
  const rows = await db
    .selectFrom("sip_traces")
    .selectAll()
    .where("call_id", "=", callId)
    .orderBy("n")
    .orderBy("seq")
    .execute();
  return rows.map((row) => ({
    callId: row.call_id,
    n: row.n,
    seq: row.seq,
    at: row.at,
    direction: row.direction,
    transport: row.transport,
    local: row.local,
    remote: row.remote,
    text: row.message,
  }));
}

async function makeRoom(db: Db, { callId, n }: AttemptKey, newBytes: number): Promise<void> {
  const held = await db
    .selectFrom("sip_traces")
    .select((of) => ["n", of.fn.sum<number>("size_bytes").as("bytes")])
    .where("call_id", "=", callId)
    .where("n", "<", n)
    .groupBy("n")
    .orderBy("n", "desc")
    .execute();
  let bytes = newBytes;
  const tooOld = held.find((attempt) => (bytes += attempt.bytes) > maxBytes);
  if (tooOld === undefined) return;
  await db.deleteFrom("sip_traces").where("call_id", "=", callId).where("n", "<=", tooOld.n).execute();
}
