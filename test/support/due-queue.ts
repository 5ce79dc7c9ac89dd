import type { AttemptEnd, CallRow, ClaimedCall, ClaimRequest } from "../../src/daemon/ports.ts";

interface Entry {
  readonly id: string;
  readonly to: string;
  readonly dueAt: number;
  /** Null: any trunk. */
  readonly trunkId?: string | null;
  readonly campaign?: { readonly id: string; readonly maxConcurrent: number };
}

/** The part of the store that the dialer sees, in memory: a queue that obeys a claim's conditions and records the rest. */
export class DueQueue {
  readonly #waiting: Entry[];
  readonly ended: AttemptEnd[] = [];
  readonly givenBack: { id: string; dueAt: number }[] = [];
  readonly suppressed = new Set<string>();

  constructor(entries: readonly Entry[]) {
    this.#waiting = [...entries];
  }

  claimDue(request: ClaimRequest): Promise<{ claimed: ClaimedCall[]; nextDueAt: number | null }> {
    const fits = this.#waiting.filter((entry) => isAllowed(entry, request));
    const due = fits.filter(({ dueAt }) => dueAt <= request.now).slice(0, request.limit);
    for (const entry of due) this.#waiting.splice(this.#waiting.indexOf(entry), 1);
    const next = fits.filter(({ dueAt }) => dueAt > request.now).map(({ dueAt }) => dueAt);
    return Promise.resolve({
      claimed: due.map(claimedOf),
      nextDueAt: next.length === 0 ? null : Math.min(...next),
    });
  }

  isSuppressed(_accountId: string, phone: string): Promise<boolean> {
    return Promise.resolve(this.suppressed.has(phone));
  }

  unclaimCall(id: string, _n: number, dueAt: number): Promise<void> {
    this.givenBack.push({ id, dueAt });
    return Promise.resolve();
  }

  endAttempt(end: AttemptEnd): Promise<boolean> {
    this.ended.push(end);
    return Promise.resolve(true);
  }
}

function isAllowed({ to, trunkId = "t1", campaign }: Entry, request: ClaimRequest): boolean {
  return (
    !request.busyNumbers.includes(to) &&
    (trunkId === null ? !request.excludeUnrouted.includes("a") : !request.excludeTrunks.includes(trunkId)) &&
    !(campaign !== undefined && request.excludeCampaigns.includes(campaign.id))
  );
}

function claimedOf({ id, to, trunkId = "t1", campaign }: Entry): ClaimedCall {
  return {
    call: { id, to, trunkId, accountId: "a", campaignId: campaign?.id ?? null } as CallRow,
    attempt: 1,
    settings: {} as ClaimedCall["settings"],
    campaignMaxConcurrent: campaign?.maxConcurrent ?? null,
  };
}
