import {
  OutdialError,
  type AccountId,
  type CallId,
  type CampaignId,
  type Clock,
  type PlaybookId,
} from "#base";
import { defaultSpeakers, type CallState, type PlaybookSettings } from "#domain";
import { eventMatcher, type EventFilter } from "./event-filter.ts";
import type { Feed } from "./feed.ts";
import type { AttemptRow, CallRow, SipMessageRow, Store } from "./ports.ts";
import { openRecording, type OpenRecording } from "./recordings.ts";

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly feed: Feed;
  /** Names this run of the daemon to readers of its events. */
  readonly stream: string;
  readonly recordingsDir: string;
  /** An account's calls under way. */
  readonly liveCalls: (accountId: AccountId) => readonly CallId[];
  readonly liveSip: (callId: CallId) => readonly SipMessageRow[];
  /** Ends a call under way; false when it is not. */
  readonly hangUp: (id: CallId) => boolean;
}

interface CallQuery {
  readonly accountId: AccountId;
  readonly from?: number;
  readonly to?: number;
  readonly states?: readonly CallState[];
  readonly playbookId?: PlaybookId;
  readonly campaignId?: CampaignId;
  readonly phone?: string;
  readonly before?: { readonly createdAt: number; readonly id: CallId };
  /** In all; absent: every match. */
  readonly limit?: number;
}

type Speakers = PlaybookSettings["speakers"];

interface CallDetail {
  readonly call: CallRow & { readonly speakers: Speakers };
  readonly attempts: readonly AttemptRow[];
}

interface LiveEvent {
  readonly seq: number;
  readonly type: string;
  readonly callId: CallId | null;
  readonly campaignId: CampaignId | null;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

/** Rows asked of the store at once: bounds the memory of a list of any length. */
const pageSize = 200;

/** What is known of calls: records, recordings, live events; and what a person may do to one call. */
export function recordService({ store, clock, feed, stream, ...parts }: Parts) {
  const { recordingsDir, hangUp, liveCalls, liveSip } = parts;
  return {
    events,
    feedPosition: () => ({ stream, seq: feed.lastSeq }),
    findCall,
    hangUpCall,
    listCalls,
    listLiveCalls,
    listSipMessages,
    openRecording: openCallRecording,
    resolveCall,
  };

  async function* listCalls(query: CallQuery): AsyncGenerator<readonly CallDetail["call"][]> {
    const label = labeller();
    let left = query.limit ?? Infinity;
    let before = query.before;
    while (left > 0) {
      const limit = Math.min(left, pageSize);
      const page = await store.listCalls({ ...query, limit, ...(before === undefined ? {} : { before }) });
      if (page.length > 0) yield await Promise.all(page.map(label));
      const last = page.at(-1);
      if (last === undefined || page.length < limit) return;
      left -= page.length;
      before = { createdAt: last.createdAt, id: last.id };
    }
  }

  async function findCall(accountId: AccountId, idOrPrefix: string): Promise<CallDetail | undefined> {
    const call = await store.findCall(accountId, idOrPrefix);
    return call && { call: await labeller()(call), attempts: await store.listAttempts(call.id) };
  }

  /** Adds the names of the speakers, as the call's version has them; each version is looked up once. */
  function labeller(): (call: CallRow) => Promise<CallDetail["call"]> {
    const known = new Map<string, Promise<Speakers>>();
    return async (call) => {
      const key = call.versionId ?? call.playbookId;
      const speakers = known.get(key) ?? findSpeakers(call);
      known.set(key, speakers);
      return { ...call, speakers: await speakers };
    };
  }

  async function findSpeakers({ playbookId, versionId }: CallRow): Promise<Speakers> {
    const source =
      versionId === null
        ? await store.findPlaybookById(playbookId)
        : await store.findVersion(playbookId, versionId);
    return source?.settings.speakers ?? defaultSpeakers;
  }

  async function openCallRecording(accountId: AccountId, callId: CallId): Promise<OpenRecording | undefined> {
    const call = await store.findCall(accountId, callId);
    return call === undefined || call.recording === null
      ? undefined
      : openRecording(recordingsDir, call.recording);
  }

  /** Ends a live call or cancels a waiting one. */
  async function hangUpCall(accountId: AccountId, idOrPrefix: string): Promise<CallDetail> {
    const { call } = await getCall(accountId, idOrPrefix);
    const ended = hangUp(call.id) || (await store.cancelCall(accountId, call.id, Math.trunc(clock.now())));
    if (!ended)
      throw new OutdialError("wrong-state", `The call is ${call.state}; there is nothing to hang up`);
    return getCall(accountId, call.id);
  }

  async function resolveCall(
    accountId: AccountId,
    idOrPrefix: string,
    decision: { readonly as: "closed" | "failed"; readonly note: string },
  ): Promise<CallDetail> {
    const { call } = await getCall(accountId, idOrPrefix);
    const now = Math.trunc(clock.now());
    if (!(await store.resolveCall(accountId, call.id, decision.as, decision.note, now))) {
      throw new OutdialError(
        "wrong-state",
        `The call is ${call.state}; only a call that waits for a person is resolved`,
      );
    }
    return getCall(accountId, call.id);
  }

  async function getCall(accountId: AccountId, idOrPrefix: string): Promise<CallDetail> {
    const found = await findCall(accountId, idOrPrefix);
    if (found !== undefined) return found;
    throw new OutdialError("call-not-found", `There is no call ${idOrPrefix}`, { hint: "outdial call list" });
  }

  async function listLiveCalls(accountId: AccountId): Promise<readonly CallDetail["call"][]> {
    const calls = await Promise.all(liveCalls(accountId).map((id) => store.findCall(accountId, id)));
    return Promise.all(calls.filter((call) => call !== undefined).map(labeller()));
  }

  /** What was on the wire in all attempts, the one under way included; undefined for an unknown call. */
  async function listSipMessages(
    accountId: AccountId,
    callId: CallId,
  ): Promise<readonly SipMessageRow[] | undefined> {
    const call = await store.findCall(accountId, callId);
    if (call === undefined) return undefined;
    // First the live ones: what is stored meanwhile is then there twice rather than not at all.
    const live = liveSip(call.id);
    const stored = await store.listSipMessages(call.id);
    return [...stored, ...live.filter(({ n }) => stored.every((row) => row.n !== n))];
  }

  async function* events(filter: EventFilter, signal: AbortSignal): AsyncGenerator<LiveEvent> {
    const { accountId, call, campaign } = filter;
    const matches = eventMatcher(filter, {
      callId: call === undefined ? undefined : (await getCall(accountId, call)).call.id,
      campaignId: campaign === undefined ? undefined : await getCampaignId(accountId, campaign),
    });
    let seq = filter.since ?? feed.lastSeq;
    const follow = filter.follow !== false;
    for await (const item of feed.read({ since: seq, follow, matches, signal })) {
      if (item.type === "lost") {
        const data = { count: item.count };
        yield { seq, type: "events-lost", callId: null, campaignId: null, at: clock.now(), data };
      } else {
        const { event } = item;
        seq = event.seq;
        yield { ...event, callId: event.callId ?? null, campaignId: event.campaignId ?? null };
      }
    }
  }

  async function getCampaignId(accountId: AccountId, ref: string): Promise<CampaignId> {
    const campaign = await store.findCampaign(accountId, ref);
    if (campaign !== undefined) return campaign.id;
    throw new OutdialError("campaign-not-found", `There is no campaign ${ref}`, {
      hint: "outdial campaign list",
    });
  }
}
