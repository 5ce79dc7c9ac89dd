import {
  OutdialError,
  type AccountId,
  type CallId,
  type CampaignId,
  type Clock,
  type PlaybookId,
} from "#base";
import { defaultSpeakers, type CallState, type PlaybookSettings } from "#domain";
import type { Feed, FeedEvent } from "./feed.ts";
import type { AttemptRow, CallRow, Store } from "./ports.ts";
import { openRecording, type OpenRecording } from "./recordings.ts";

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly feed: Feed;
  readonly recordingsDir: string;
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
export function recordService({ store, clock, feed, recordingsDir, hangUp }: Parts) {
  return { events, findCall, hangUpCall, listCalls, openRecording: openCallRecording, resolveCall };

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

  async function* events(
    filter: {
      readonly accountId: AccountId;
      readonly call?: string;
      readonly campaign?: string;
      readonly since?: number;
    },
    signal: AbortSignal,
  ): AsyncGenerator<LiveEvent> {
    const callId =
      filter.call === undefined ? undefined : (await getCall(filter.accountId, filter.call)).call.id;
    const campaignId =
      filter.campaign === undefined ? undefined : await getCampaignId(filter.accountId, filter.campaign);
    const matches = (event: FeedEvent): boolean =>
      event.accountId === filter.accountId &&
      (callId === undefined || event.callId === callId) &&
      (campaignId === undefined || event.campaignId === campaignId);
    let seq = filter.since ?? feed.lastSeq;
    for await (const item of feed.read({ since: seq, matches, signal })) {
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
