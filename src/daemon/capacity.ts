import type { CampaignId, TrunkId } from "#base";
import type { TrunkRow } from "./ports.ts";

/** Who is on the line now, and so who may be dialled next. Counts only; knows no time but what it is given. */
export interface Capacity {
  /** Takes a place before the attempt starts. */
  enter(place: Place, now: number): void;
  leave(place: Place): void;
  /** Trunks without a free channel, or asked for a call too soon after their last one. */
  fullTrunks(trunks: readonly TrunkRow[], now: number): TrunkId[];
  fullCampaigns(): CampaignId[];
  busyNumbers(): string[];
  /** When the next of these trunks may start a call again, if only its rate forbids it now. */
  nextStartAt(trunks: readonly TrunkRow[], now: number): number;
  readonly size: number;
}

export interface Place {
  readonly number: string;
  readonly trunkId: TrunkId;
  readonly campaign: { readonly id: CampaignId; readonly maxConcurrent: number | null } | undefined;
}

export function createCapacity(): Capacity {
  const byTrunk = new Map<TrunkId, number>();
  const byCampaign = new Map<CampaignId, { calls: number; max: number }>();
  const lastStartAt = new Map<TrunkId, number>();
  const numbers = new Set<string>();

  return {
    enter,
    leave,
    fullTrunks: (trunks, now) =>
      trunks.filter((trunk) => isFull(trunk) || mayStartAt(trunk) > now).map((trunk) => trunk.id),
    fullCampaigns: () => [...byCampaign].filter(([, { calls, max }]) => calls >= max).map(([id]) => id),
    busyNumbers: () => [...numbers],
    nextStartAt: (trunks, now) =>
      Math.min(...trunks.filter((trunk) => !isFull(trunk) && mayStartAt(trunk) > now).map(mayStartAt)),
    get size(): number {
      return numbers.size;
    },
  };

  function enter({ number, trunkId, campaign }: Place, now: number): void {
    numbers.add(number);
    byTrunk.set(trunkId, (byTrunk.get(trunkId) ?? 0) + 1);
    lastStartAt.set(trunkId, now);
    if (campaign === undefined) return;
    const calls = (byCampaign.get(campaign.id)?.calls ?? 0) + 1;
    byCampaign.set(campaign.id, { calls, max: campaign.maxConcurrent ?? Infinity });
  }

  function leave({ number, trunkId, campaign }: Place): void {
    numbers.delete(number);
    byTrunk.set(trunkId, (byTrunk.get(trunkId) ?? 1) - 1);
    const entry = campaign && byCampaign.get(campaign.id);
    if (campaign === undefined || entry === undefined) return;
    entry.calls--;
    if (entry.calls === 0) byCampaign.delete(campaign.id);
  }

  function isFull(trunk: TrunkRow): boolean {
    return (byTrunk.get(trunk.id) ?? 0) >= trunk.maxCalls;
  }

  function mayStartAt(trunk: TrunkRow): number {
    return (lastStartAt.get(trunk.id) ?? -Infinity) + 1000 / trunk.callsPerSecond;
  }
}
