import { OutdialError, type AccountId, type CallId, type Clock, type TrunkId } from "#base";
import { outcomeOf, type Outcome } from "#domain";
import { describeError, type Log, type Tasks } from "#host";
import { createCapacity, type Place } from "./capacity.ts";
import type { ClaimedCall, Lines, Store, TrunkRow } from "./ports.ts";
import type { RunningCall } from "./run-call.ts";
import type { TrunkHealth } from "./trunk-health.ts";
import { inOrder } from "./trunk-order.ts";

export interface DialerParts {
  readonly store: Pick<Store, "claimDue" | "isSuppressed" | "unclaimCall" | "endAttempt">;
  readonly lines: Pick<Lines, "room">;
  readonly clock: Clock;
  readonly log: Log;
  readonly tasks: Tasks;
  readonly owner: string;
  /** Every trunk of every account, as stored. */
  readonly trunks: () => Promise<readonly TrunkRow[]>;
  readonly health: Pick<TrunkHealth, "faultOf" | "callStarted" | "callEnded">;
  /** Holds the call; resolves when nothing of it is left, with its end, or undefined when it was not dialled. */
  readonly run: (call: RunningCall) => Promise<Outcome | undefined>;
  /** When the call may be dialled at the earliest: `now`, or the opening of its calling hours. */
  readonly mayDialAt: (call: ClaimedCall, trunk: TrunkRow, now: number) => number;
}

export interface Dialer {
  /** Something may have become due. */
  wake(): void;
  /** Ends a call under way; false when it is not. */
  hangUp(id: CallId, why: "operator" | "shutdown"): boolean;
  /** No more dialling; calls under way go on. */
  drain(): void;
  /** Waits for the calls under way, for `drainMs` at most, then ends them; resolves when none is left. */
  finish(drainMs: number): Promise<void>;
  readonly draining: boolean;
  /** When the queue, as last looked at, has the next call; null: it is empty. */
  readonly nextDueAt: number | null;
  readonly running: number;
  /** This account's calls under way. */
  liveCalls(accountId: AccountId): readonly CallId[];
  /** Calls of this trunk on the line now. */
  liveOn(trunkId: TrunkId): number;
}

/** A failed look at the queue is repeated after this long. */
const troubleMs = 1_000;
/** No timer is trusted for longer: the calendar may be set, the machine may sleep. */
const longestSleepMs = 30_000;
/** A call told to end gets this long for its BYE and its report. */
const farewellMs = 5_000;
/** A call found without a free line, although one was counted, waits this long. */
const noLineMs = 250;

/** Takes due calls out of the store, one by one, as long as lines, trunks and campaigns have room. */
export function startDialer(parts: DialerParts): Dialer {
  const { store, lines, clock, log, tasks, owner, health } = parts;
  const capacity = createCapacity();
  const running = new Map<CallId, RunningCall>();
  let draining = false;
  let seenDueAt: number | null = null;
  let woken = false;
  let wakeUp: () => void = () => undefined;
  let whenLeft: () => void = () => undefined;

  tasks.spawn("dialer", loop);
  return {
    wake,
    hangUp: (id, why) => {
      const call = running.get(id);
      call?.hangUp(why);
      return call !== undefined;
    },
    drain,
    finish,
    get draining(): boolean {
      return draining;
    },
    get nextDueAt(): number | null {
      return seenDueAt;
    },
    get running(): number {
      return running.size;
    },
    liveCalls: (accountId) =>
      [...running.values()]
        .filter(({ claimed }) => claimed.call.accountId === accountId)
        .map(({ claimed }) => claimed.call.id),
    liveOn: (trunkId) => [...running.values()].filter(({ trunk }) => trunk.id === trunkId).length,
  };

  function drain(): void {
    draining = true;
    wake();
  }

  async function finish(drainMs: number): Promise<void> {
    drain();
    await emptyUntil(clock.now() + drainMs);
    for (const call of running.values()) call.hangUp("shutdown");
    await emptyUntil(clock.now() + farewellMs);
  }

  async function emptyUntil(at: number): Promise<void> {
    while (running.size > 0 && clock.now() < at) {
      const { promise, resolve } = Promise.withResolvers<void>();
      whenLeft = resolve;
      using _alarm = clock.alarm(at, resolve);
      await promise;
    }
  }

  function wake(): void {
    woken = true;
    wakeUp();
  }

  async function loop(signal: AbortSignal): Promise<void> {
    signal.addEventListener("abort", wake);
    while (!signal.aborted && !draining) {
      woken = false;
      const until = await dialNext().catch((error: unknown) => {
        log.error("the queue could not be read", { error: describeError(error) });
        return clock.now() + troubleMs;
      });
      await sleepUntil(until);
    }
  }

  /** Dials the next due call, if there is one and room for it; gives when to look again. */
  async function dialNext(): Promise<number> {
    if (lines.room <= 0) return Infinity; // The end of a call wakes us.
    const trunks = await parts.trunks();
    const now = clock.now();
    const full = capacity.fullTrunks(trunks, now);
    const { claimed, nextDueAt } = await store.claimDue({
      owner,
      now: Math.trunc(now),
      limit: 1,
      busyNumbers: capacity.busyNumbers(),
      excludeCampaigns: capacity.fullCampaigns(),
      excludeTrunks: trunks
        .filter(({ id }) => full.includes(id) || health.faultOf(id) !== undefined)
        .map(({ id }) => id),
      excludeUnrouted: unrouted(trunks, full),
    });
    const [next] = claimed;
    seenDueAt = nextDueAt;
    if (next === undefined) return Math.min(nextDueAt ?? Infinity, capacity.nextStartAt(trunks, now));
    await dial(next, trunks, now);
    return now;
  }

  async function dial(claimed: ClaimedCall, trunks: readonly TrunkRow[], now: number): Promise<void> {
    const { call, attempt } = claimed;
    const trunk = trunkFor(claimed, trunks);
    if (trunk === undefined || (await store.isSuppressed(call.accountId, call.to))) {
      return refuse(claimed, trunk === undefined ? "trunk-missing" : "suppressed", now);
    }
    // It may have failed while this call was being claimed.
    const fault = health.faultOf(trunk.id);
    if (fault !== undefined) {
      const again = Math.min(fault.until ?? Infinity, now + longestSleepMs);
      return store.unclaimCall(call.id, attempt, Math.ceil(again));
    }
    const allowedAt = parts.mayDialAt(claimed, trunk, now);
    if (allowedAt > now) return store.unclaimCall(call.id, attempt, Math.ceil(allowedAt));
    const place = placeOf(claimed, trunk);
    const entry = newRunningCall(claimed, trunk);
    capacity.enter(place, now);
    running.set(call.id, entry);
    health.callStarted(trunk.id);
    tasks.spawn(`call ${call.id}`, async () => {
      let outcome: Outcome | undefined;
      try {
        outcome = await parts.run(entry);
      } catch (error) {
        await giveBack(claimed, error);
      } finally {
        running.delete(call.id);
        capacity.leave(place);
        health.callEnded(trunk.id, outcome);
        wake();
        whenLeft();
      }
    });
  }

  /** The trunk the call is bound to; else the first that takes calls, or the first of all when none does. */
  function trunkFor({ call }: ClaimedCall, trunks: readonly TrunkRow[]): TrunkRow | undefined {
    if (call.trunkId !== null) return trunks.find(({ id }) => id === call.trunkId);
    const ways = inOrder(trunks.filter(({ accountId }) => accountId === call.accountId));
    return ways.find(({ id }) => health.faultOf(id) === undefined) ?? ways[0];
  }

  /** Accounts whose trunks are all at fault, or whose first sound one has no room. */
  function unrouted(trunks: readonly TrunkRow[], full: readonly TrunkId[]): AccountId[] {
    return [...new Set(trunks.map(({ accountId }) => accountId))].filter((account) => {
      const ways = inOrder(trunks.filter(({ accountId }) => accountId === account));
      const way = ways.find(({ id }) => health.faultOf(id) === undefined);
      return ways.length > 0 && (way === undefined || full.includes(way.id));
    });
  }

  async function giveBack(claimed: ClaimedCall, error: unknown): Promise<void> {
    const busy = error instanceof OutdialError && error.code === "lines-busy";
    if (!busy)
      log.error("a call could not be dialled", { call: claimed.call.id, error: describeError(error) });
    const waitMs = busy ? noLineMs : longestSleepMs;
    // Only an attempt that never reached its INVITE can be given back; the store refuses any other.
    await store.unclaimCall(claimed.call.id, claimed.attempt, Math.trunc(clock.now() + waitMs));
  }

  async function refuse(
    { call, attempt }: ClaimedCall,
    cause: "trunk-missing" | "suppressed",
    now: number,
  ): Promise<void> {
    const outcome =
      cause === "suppressed"
        ? outcomeOf("suppressed")
        : { ...outcomeOf("no-route"), detail: "The call's trunk has been removed." };
    await store.endAttempt({
      callId: call.id,
      n: attempt,
      at: Math.trunc(now),
      outcome,
      state: outcome.state,
      dueAt: null,
      durationS: 0,
      success: false,
      summary: "",
      output: {},
      turns: [],
      recording: null,
      evidence: {},
    });
  }

  async function sleepUntil(at: number): Promise<void> {
    const end = Math.min(at, clock.now() + longestSleepMs);
    if (woken || end <= clock.now()) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    wakeUp = resolve;
    using _alarm = clock.alarm(end, resolve);
    await promise;
  }
}

function newRunningCall(claimed: ClaimedCall, trunk: TrunkRow): RunningCall {
  let early: "operator" | "shutdown" | undefined;
  return { claimed, trunk, hangUp: (why) => (early = why), hungUpEarly: () => early };
}

function placeOf({ call, campaignMaxConcurrent }: ClaimedCall, trunk: TrunkRow): Place {
  return {
    number: call.to,
    trunkId: trunk.id,
    campaign:
      call.campaignId === null ? undefined : { id: call.campaignId, maxConcurrent: campaignMaxConcurrent },
  };
}
