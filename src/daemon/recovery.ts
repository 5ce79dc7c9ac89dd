import type { CallId, Clock, TrunkId } from "#base";
import { describeError, type Log } from "#host";
import type { SavedDialog, SipTarget, Store, Telephony, TrunkRow } from "./ports.ts";
import { inOrder } from "./trunk-order.ts";

export interface RecoveryParts {
  readonly store: Store;
  readonly telephony: Pick<Telephony, "hangUpOrphan">;
  readonly clock: Clock;
  readonly log: Log;
  readonly owner: string;
  readonly trunks: () => Promise<readonly TrunkRow[]>;
  readonly target: (trunk: TrunkRow) => SipTarget;
  /** Makes a recording playable whose writer died, and gives its length in ms; rejects when there is none. */
  readonly repairRecording: (fileName: string) => Promise<number>;
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
      const trunk = trunkOf(attempt.trunkId, dialog, trunks);
      const target =
        trunk === undefined
          ? { host: dialog.destination.address, port: dialog.destination.port }
          : parts.target(trunk);
      telephony.hangUpOrphan(dialog, target, answered);
    }
    await keepRecording(parts, attempt).catch((error: unknown) => {
      if (answered)
        log.warn("a recording could not be repaired", { call: attempt.callId, error: describeError(error) });
    });
  }
  if (requeued + lost.length > 0) log.warn("recovered after a crash", { requeued, lost: lost.length });
  return { requeued, lost: lost.length };
}

/** Rejects when there is none: an attempt that was never answered has no recording. */
async function keepRecording(
  { repairRecording, store }: RecoveryParts,
  { callId, n }: { readonly callId: CallId; readonly n: number },
): Promise<void> {
  const fileName = `${callId}-${n}.wav`;
  const lengthMs = await repairRecording(fileName);
  if (lengthMs > 0) await store.keepRecording(callId, n, fileName, Math.round(lengthMs / 1000));
}

/** A call that any trunk could take went by the one whose name its INVITE bears. */
function trunkOf(id: TrunkId | null, dialog: SavedDialog, trunks: readonly TrunkRow[]): TrunkRow | undefined {
  if (id !== null) return trunks.find((trunk) => trunk.id === id);
  const host = /@\[?([^;>]+?)\]?(?::\d+)?(?:[;>]|$)/.exec(dialog.requestUri)?.[1];
  return inOrder(trunks).find((trunk) => (trunk.sip.domain ?? trunk.host) === host);
}
