import type { Clock } from "#base";
import type { HeardFrame, HearEvent, LanguageModel, Synthesizer, Transcriber } from "#talk";

/*
 * Providers that do what a scenario says, in virtual time: they implement the ports, and record what they were asked.
 */

/** Waits on the clock; rejects with the signal's reason. */
async function wait(clock: Clock, ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  if (ms === 0) return;
  const over = Promise.withResolvers<void>();
  const leave = (): void => over.reject(signal?.reason);
  signal?.addEventListener("abort", leave, { once: true });
  const alarm = ms === Infinity ? undefined : clock.alarm(clock.now() + ms, over.resolve);
  try {
    await over.promise;
  } finally {
    alarm?.[Symbol.dispose]();
    signal?.removeEventListener("abort", leave);
  }
}

// ── Thinks ───────────────────────────────────────────────────────────────────────────────────────

export interface ScriptedReply {
  readonly text?: string;
  readonly calls?: readonly { readonly name: string; readonly arguments?: unknown }[];
  /** Default 200; Infinity: it never answers. */
  readonly firstTokenMs?: number;
  /** Default 10. */
  readonly wordMs?: number;
  /** In place of the first token. */
  readonly fails?: Error;
  /** Breaks off after so many words. */
  readonly breaksAfter?: number;
}

type Messages = Parameters<LanguageModel["stream"]>[0]["messages"];

export interface ScriptedModel extends LanguageModel {
  /** What each request said, without the instructions: `callee: …`, `agent: …`. */
  readonly asked: (readonly string[])[];
  readonly requests: Messages[];
  /** How many requests were aborted before they were answered. */
  readonly aborted: number;
}

/** Answers request after request; the last reply is for all further ones. A function chooses by what was said. */
export function scriptedModel(
  clock: Clock,
  replies: readonly ScriptedReply[] | ((lastWords: string, n: number) => ScriptedReply),
  objects: readonly unknown[] = [],
): ScriptedModel {
  const asked: (readonly string[])[] = [];
  const requests: Messages[] = [];
  let aborted = 0;
  let objectsAsked = 0;
  return {
    capabilities: { tools: true, jsonSchema: "strict" },
    asked,
    requests,
    get aborted(): number {
      return aborted;
    },
    async *stream({ messages }, signal) {
      const lines = messages
        .filter(({ role }) => role !== "system")
        .map(
          ({ role, text }) =>
            `${role === "assistant" ? "agent" : role === "user" ? "callee" : role}: ${text}`,
        );
      asked.push(lines);
      requests.push(messages);
      const n = asked.length - 1;
      const reply =
        typeof replies === "function"
          ? replies(lines.at(-1) ?? "", n)
          : (replies[Math.min(n, replies.length - 1)] ?? {});
      let done = false;
      try {
        await wait(clock, reply.firstTokenMs ?? 200, signal);
        if (reply.fails !== undefined) throw reply.fails;
        for (const [i, word] of (reply.text ?? "").split(/(?<=\s)/).entries()) {
          if (i === reply.breaksAfter) throw new Error("the stream broke");
          if (i > 0) await wait(clock, reply.wordMs ?? 10, signal);
          if (word !== "") yield { type: "text", text: word };
        }
        for (const [i, call] of (reply.calls ?? []).entries())
          yield { type: "tool-call", call: { id: `c${n}.${i}`, arguments: {}, ...call } };
        done = true;
        yield { type: "finish", reason: "stop" };
      } finally {
        if (!done && signal.aborted) aborted++;
      }
    },
    async object(_request, _schema, signal) {
      signal.throwIfAborted();
      const answer = objects[objectsAsked++];
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}

// ── Hears ────────────────────────────────────────────────────────────────────────────────────────

/** Words as they are spoken: each takes `wordMs`. */
export interface SpokenWords {
  readonly atMs: number;
  readonly text: string;
  readonly wordMs: number;
}

export interface ScriptedEars {
  /** From `finalize` (or, when it ends turns, from the last word) to the final text. Default 150. */
  readonly finalAfterMs?: number;
  readonly endsTurns?: boolean;
  /** Says early that a turn may be over, so long after its last word. */
  readonly eagerAfterMs?: number;
  /** The session breaks when it has heard so much; one entry a session. */
  readonly breaksAtMs?: readonly number[];
  /** So many openings fail at first. */
  readonly refusals?: number;
}

export interface ScriptedTranscriber extends Transcriber {
  readonly opened: number;
  /** Frames of all sessions, by when they were heard. */
  readonly heardMs: number[];
}

/** Hears exactly the words of the scenario whose time has come in the frames it was given. */
export function scriptedTranscriber(
  clock: Clock,
  spoken: readonly SpokenWords[],
  ears: ScriptedEars = {},
): ScriptedTranscriber {
  const { finalAfterMs = 150, endsTurns = false, eagerAfterMs, refusals = 0 } = ears;
  const heardMs: number[] = [];
  let opened = 0;
  /** Up to where the words were given as final. */
  const told = new Map<SpokenWords, number>();
  return {
    capabilities: { streaming: true, turnDetection: endsTurns, finalWithinMs: 600 },
    heardMs,
    get opened(): number {
      return opened;
    },
    async open(_request, signal) {
      opened++;
      if (opened <= refusals) throw new Error("connection refused");
      const breaksAtMs = ears.breaksAtMs?.[opened - 1 - refusals] ?? Infinity;
      const queue: HearEvent[] = [];
      let wake = Promise.withResolvers<void>();
      let broken = false;
      const push = (event: HearEvent): void => {
        queue.push(event);
        wake.resolve();
      };
      const wordsOf = (one: SpokenWords): readonly string[] => one.text.split(" ");
      const final = (one: SpokenWords, upTo: number): void => {
        const from = told.get(one) ?? 0;
        const text = wordsOf(one).slice(from, upTo).join(" ");
        if (text === "") return;
        told.set(one, upTo);
        push({
          type: "final",
          text,
          startMs: one.atMs + from * one.wordMs,
          endMs: one.atMs + upTo * one.wordMs,
        });
      };
      const count = (one: SpokenWords, atMs: number): number =>
        Math.max(0, Math.min(wordsOf(one).length, Math.floor((atMs - one.atMs) / one.wordMs)));
      let lastMs = 0;
      return {
        bufferedMs: 0,
        write({ atMs, pcm }: HeardFrame) {
          if (broken || pcm.length !== 160) return;
          heardMs.push(atMs);
          const [before, now] = [lastMs, atMs + 20];
          lastMs = now;
          if (now >= breaksAtMs) {
            broken = true;
            wake.resolve();
            return;
          }
          for (const one of spoken) {
            const end = one.atMs + wordsOf(one).length * one.wordMs;
            if (count(one, now) > count(one, before)) {
              const text = wordsOf(one)
                .slice(told.get(one) ?? 0, count(one, now))
                .join(" ");
              push({ type: "partial", text, startMs: one.atMs, endMs: now });
            }
            const passed = (ms: number): boolean => before < end + ms && now >= end + ms;
            if (eagerAfterMs !== undefined && passed(eagerAfterMs))
              push({ type: "turn-ending", text: one.text });
            if (endsTurns && passed(finalAfterMs)) {
              final(one, wordsOf(one).length);
              push({ type: "turn-ended", text: one.text });
            }
          }
        },
        finalize() {
          const upTo = spoken.map((one) => [one, count(one, lastMs)] as const);
          clock.alarm(clock.now() + finalAfterMs, () => {
            if (!broken) for (const [one, words] of upTo) final(one, words);
          });
        },
        events: {
          async *[Symbol.asyncIterator]() {
            signal.addEventListener("abort", () => wake.resolve(), { once: true });
            for (;;) {
              for (let event = queue.shift(); event !== undefined; event = queue.shift()) yield event;
              if (signal.aborted) return;
              if (broken) throw new Error("the socket was closed");
              await wake.promise;
              wake = Promise.withResolvers<void>();
            }
          },
        },
        async [Symbol.asyncDispose]() {
          broken = true;
        },
      };
    },
  };
}

// ── Speaks ───────────────────────────────────────────────────────────────────────────────────────

/** Speech of `charMs` a character, the whole of it after `firstAudioMs`. */
export function scriptedSynthesizer(
  clock: Clock,
  { charMs = 50, firstAudioMs = 40 }: { readonly charMs?: number; readonly firstAudioMs?: number } = {},
): Synthesizer & { readonly engine: string } {
  return {
    engine: "scripted",
    capabilities: { marks: false, maxChars: 1000, cacheable: false },
    say: async ({ text }, signal) => ({
      rateHz: 8000,
      audio: (async function* () {
        await wait(clock, firstAudioMs, signal);
        yield new Int16Array(text.length * charMs * 8).fill(500);
      })(),
    }),
  };
}
