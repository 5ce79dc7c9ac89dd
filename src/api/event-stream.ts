import type { Clock } from "#base";
import type { EventLine } from "#wire";
import { isoTime } from "./records.ts";
import type { FeedPosition, LiveEvent } from "./service.ts";

const heartbeatMs = 15_000;

interface Beginning {
  /** The number after which the reader wants to read. */
  readonly since: number;
  /** Where the feed is at the moment. */
  readonly position: () => FeedPosition;
}

const nowhere: Beginning = { since: 0, position: () => ({ stream: "", seq: 0 }) };

/**
 * Live events as lines of JSON, with a heartbeat at the start and whenever nothing happened for a while; a heartbeat's
 * number is one that a reader may resume after. It is pulled by the socket, so that a slow reader makes the feed wait
 * and not this process grow.
 */
export async function* eventLines(
  events: AsyncIterable<LiveEvent>,
  clock: Clock,
  { since, position }: Beginning = nowhere,
): AsyncGenerator<string> {
  const reader = events[Symbol.asyncIterator]();
  const { stream } = position();
  let seq = since;
  // While `next` is still pending later, nothing up to this number is on its way to this reader.
  let passed = position().seq;
  let next = reader.next();
  try {
    yield heartbeat(seq, clock.now(), stream);
    for (;;) {
      const came = await beforeBeat(next, clock);
      if (came === "beat") {
        seq = Math.max(seq, passed);
        passed = position().seq;
        yield heartbeat(seq, clock.now(), stream);
        continue;
      }
      if (came.done) return;
      seq = came.value.seq;
      yield line(came.value);
      passed = position().seq;
      next = reader.next();
    }
  } finally {
    // The feed may still be waiting for its next event; the signal it was given ends that wait.
    next.catch(() => undefined);
    void reader.return?.().catch(() => undefined);
  }
}

async function beforeBeat<T>(next: Promise<T>, clock: Clock): Promise<T | "beat"> {
  const { promise, resolve } = Promise.withResolvers<"beat">();
  const alarm = clock.alarm(clock.now() + heartbeatMs, () => resolve("beat"));
  try {
    return await Promise.race([next, promise]);
  } finally {
    alarm[Symbol.dispose]();
  }
}

function line(event: LiveEvent): string {
  const { seq, type, callId, campaignId, at, data } = event;
  return print({ seq, type, call_id: callId, campaign_id: campaignId, at: isoTime(at), data });
}

function heartbeat(seq: number, now: number, stream: string): string {
  const data = stream === "" ? {} : { stream };
  return print({ seq, type: "heartbeat", call_id: null, campaign_id: null, at: isoTime(now), data });
}

function print(event: EventLine): string {
  return `${JSON.stringify(event)}\n`;
}
