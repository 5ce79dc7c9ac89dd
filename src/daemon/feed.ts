import type { AccountId, CallId, CampaignId } from "#base";

/** Something that happened, as readers of the event stream see it. */
export interface FeedEvent {
  /** Rises by one with each event of this daemon; readers resume after it. A passing event has the number of the last kept one. */
  readonly seq: number;
  readonly type: string;
  readonly at: number;
  readonly accountId: AccountId;
  readonly callId?: CallId;
  readonly campaignId?: CampaignId;
  readonly data: Readonly<Record<string, unknown>>;
  /** Only for who reads at the moment: never replayed, and the first to go when a reader is slow. */
  readonly passing?: true;
}

/** What a reader gets: an event, or word that it was too slow (or came back too late) and so many are missing. */
export type FeedItem =
  | { readonly type: "event"; readonly event: FeedEvent }
  | { readonly type: "lost"; readonly count: number };

export interface Feed {
  publish(event: Omit<FeedEvent, "seq">): void;
  /** Events after `since` (those still kept) and then live ones, until the signal fires. */
  read(request: FeedRequest): AsyncGenerator<FeedItem>;
  readonly lastSeq: number;
}

interface FeedRequest {
  readonly since?: number;
  /** False: only those still kept, no live ones. */
  readonly follow?: boolean;
  readonly matches: (event: FeedEvent) => boolean;
  readonly signal: AbortSignal;
}

interface Reader {
  readonly matches: (event: FeedEvent) => boolean;
  /** Events of before it came; not bounded again, for they are held anyway. */
  readonly replay: FeedEvent[];
  readonly queue: FeedEvent[];
  lost: number;
  wake: () => void;
}

/** One writer, many readers. The writer never waits: a reader that falls behind loses the oldest and is told how many. */
export function createFeed(options: { readonly kept: number; readonly queued: number }): Feed {
  const kept: FeedEvent[] = [];
  const readers = new Set<Reader>();
  let lastSeq = 0;

  return {
    publish,
    read,
    get lastSeq(): number {
      return lastSeq;
    },
  };

  function publish(event: Omit<FeedEvent, "seq">): void {
    const numbered = { ...event, seq: event.passing === true ? lastSeq : ++lastSeq };
    if (event.passing !== true) kept.push(numbered);
    if (kept.length > options.kept) kept.shift();
    for (const reader of readers) if (reader.matches(numbered)) hand(reader, numbered);
  }

  function hand(reader: Reader, event: FeedEvent): void {
    reader.queue.push(event);
    if (reader.queue.length > options.queued) {
      const passing = reader.queue.findIndex((one) => one.passing === true);
      reader.queue.splice(Math.max(0, passing), 1);
      reader.lost++;
    }
    reader.wake();
  }

  async function* read(request: FeedRequest): AsyncGenerator<FeedItem> {
    const reader = admit(request.matches, request.since);
    const onAbort = (): void => reader.wake();
    request.signal.addEventListener("abort", onAbort);
    readers.add(reader);
    try {
      while (!request.signal.aborted) {
        if (reader.lost > 0) yield lossOf(reader);
        const next = reader.replay.shift() ?? reader.queue.shift();
        if (next !== undefined) yield { type: "event", event: next };
        else if (request.follow === false) return;
        else await new Promise<void>((resolve) => (reader.wake = resolve));
      }
    } finally {
      readers.delete(reader);
      request.signal.removeEventListener("abort", onAbort);
    }
  }

  function admit(matches: (event: FeedEvent) => boolean, since: number | undefined): Reader {
    const reader: Reader = { matches, replay: [], queue: [], lost: 0, wake: () => undefined };
    if (since === undefined) return reader;
    const oldest = kept[0]?.seq ?? lastSeq + 1;
    reader.lost = Math.max(0, oldest - since - 1);
    for (const event of kept) if (event.seq > since && matches(event)) reader.replay.push(event);
    return reader;
  }
}

function lossOf(reader: Reader): FeedItem {
  const count = reader.lost;
  reader.lost = 0;
  return { type: "lost", count };
}
