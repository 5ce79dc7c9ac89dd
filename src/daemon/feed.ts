import type { AccountId, CallId, CampaignId } from "#base";

/** Something that happened, as readers of the event stream see it. */
export interface FeedEvent {
  /** Rises by one with each event of this daemon; readers resume after it. */
  readonly seq: number;
  readonly type: string;
  readonly at: number;
  readonly accountId: AccountId;
  readonly callId?: CallId;
  readonly campaignId?: CampaignId;
  readonly data: Readonly<Record<string, unknown>>;
}

/** What a reader gets: an event, or word that it was too slow (or came back too late) and so many are missing. */
export type FeedItem =
  | { readonly type: "event"; readonly event: FeedEvent }
  | { readonly type: "lost"; readonly count: number };

export interface Feed {
  publish(event: Omit<FeedEvent, "seq">): void;
  /** Events after `since` (those still kept) and then live ones, until the signal fires. */
  read(options: {
    readonly since?: number;
    readonly matches: (event: FeedEvent) => boolean;
    readonly signal: AbortSignal;
  }): AsyncGenerator<FeedItem>;
  readonly lastSeq: number;
}

interface Reader {
  readonly matches: (event: FeedEvent) => boolean;
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
    const numbered = { ...event, seq: ++lastSeq };
    kept.push(numbered);
    if (kept.length > options.kept) kept.shift();
    for (const reader of readers) if (reader.matches(numbered)) hand(reader, numbered);
  }

  function hand(reader: Reader, event: FeedEvent): void {
    reader.queue.push(event);
    if (reader.queue.length > options.queued) {
      reader.queue.shift();
      reader.lost++;
    }
    reader.wake();
  }

  async function* read(request: {
    readonly since?: number;
    readonly matches: (event: FeedEvent) => boolean;
    readonly signal: AbortSignal;
  }): AsyncGenerator<FeedItem> {
    const reader = admit(request.matches, request.since);
    const onAbort = (): void => reader.wake();
    request.signal.addEventListener("abort", onAbort);
    readers.add(reader);
    try {
      while (!request.signal.aborted) {
        if (reader.lost > 0) yield lossOf(reader);
        const next = reader.queue.shift();
        if (next === undefined) await new Promise<void>((resolve) => (reader.wake = resolve));
        else yield { type: "event", event: next };
      }
    } finally {
      readers.delete(reader);
      request.signal.removeEventListener("abort", onAbort);
    }
  }

  function admit(matches: (event: FeedEvent) => boolean, since: number | undefined): Reader {
    const reader: Reader = { matches, queue: [], lost: 0, wake: () => undefined };
    if (since === undefined) return reader;
    const oldest = kept[0]?.seq ?? lastSeq + 1;
    reader.lost = Math.max(0, oldest - since - 1);
    reader.queue.push(...kept.filter((event) => event.seq > since && matches(event)));
    return reader;
  }
}

function lossOf(reader: Reader): FeedItem {
  const count = reader.lost;
  reader.lost = 0;
  return { type: "lost", count };
}
