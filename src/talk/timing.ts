import type { TurnTiming } from "./plan.ts";

/** The steps from the callee's last sound to the agent's reply, as far as they were taken. Times: ms since the answer. */
export interface ReplyClock {
  readonly speechEndMs: number;
  readonly wordsFinalMs: number | undefined;
  readonly endOfTurnMs: number;
  readonly firstTokenMs?: number;
  readonly firstTextMs?: number;
  /** The reply itself, once there is one, and its first sentence. */
  readonly utteranceId?: string;
  readonly speechId?: string;
  readonly firstAudioMs?: number;
  readonly firstPacketMs?: number;
}

export type TimedTurn = TurnTiming & { readonly seq: number };

/** The finished figures; undefined for a reply of which nothing was heard. */
export function turnTiming(clock: ReplyClock): TurnTiming | undefined {
  const { speechEndMs, wordsFinalMs, endOfTurnMs, firstTokenMs, firstAudioMs, firstPacketMs } = clock;
  if (firstPacketMs === undefined) return undefined;
  const firstTextMs = clock.firstTextMs ?? endOfTurnMs;
  const readyMs = Math.max(endOfTurnMs, firstTextMs, firstAudioMs ?? 0);
  return {
    speechEndMs,
    ...(wordsFinalMs !== undefined && { wordsFinalMs }),
    endOfTurnMs,
    ...(firstTokenMs !== undefined && { firstTokenMs }),
    firstTextMs,
    ...(firstAudioMs !== undefined && { firstAudioMs }),
    firstPacketMs,
    ownMs: Math.max(0, firstPacketMs - readyMs),
  };
}
