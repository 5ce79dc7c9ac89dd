import type { Clock } from "#base";
import { describeError, type Log } from "#host";
import type { SipTarget, Store, Telephony, TrunkRow } from "./ports.ts";

export interface RecoveryParts {
  readonly store: Store;
  readonly telephony: Pick<Telephony, "hangUpOrphan">;
  readonly clock: Clock;
  readonly log: Log;
  readonly owner: string;
  readonly trunks: () => Promise<readonly TrunkRow[]>;
  readonly target: (trunk: TrunkRow) => SipTarget;
  /** Makes a recording playable whose writer died; undefined when there is none. */
  readonly repairRecording: (fileName: string) => Promise<number | undefined>;
}

/**
 * After a crash: attempts that never reached their INVITE go back into the queue; those that did are lost, their
 * calls wait for a person, and the phones that may still ring or talk are hung up.
 */
export async function recoverCalls(parts: RecoveryParts): Promise<{ requeued: number; lost: number }> {
  const { store, telephony, clock, log, owner } = parts;
  const { requeued, lost } = await store.recover(owner, Math.trunc(clock.now()));
  const trunks = lost.length === 0 ? [] : await parts.trunks();
  for (const attempt of lost) {
    const { dialog, answered } = attempt;
    if (dialog !== null) {
      const trunk = trunks.find(({ id }) => id === attempt.trunkId);
      const target =
        trunk === undefined
          ? { host: dialog.destination.address, port: dialog.destination.port }
          : parts.target(trunk);
      telephony.hangUpOrphan(dialog, target, answered);
    }
    await parts.repairRecording(`${attempt.callId}-${attempt.n}.wav`).catch((error: unknown) => {
      log.warn("a recording could not be repaired", { call: attempt.callId, error: describeError(error) });
    });
  }
  if (requeued + lost.length > 0) log.warn("recovered after a crash", { requeued, lost: lost.length });
  return { requeued, lost: lost.length };
}
