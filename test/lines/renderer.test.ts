import { OutdialError } from "#base";
import type { SpeechRequest, Synthesizer } from "#talk";
import { describe, expect, test } from "vitest";
import { Renderer } from "../../src/lines/renderer.ts";

const never = new AbortController().signal;

/** A tone of so many seconds as there are characters, in 0.1 s chunks; counts what it was asked. */
class ToneSynthesizer implements Synthesizer {
  readonly capabilities = { marks: false, maxChars: 1000, cacheable: true };
  readonly asked: SpeechRequest[] = [];
  rateHz = 22_050;
  /** How often `?` finds the engine dead. */
  deaths = 0;

  async say(request: SpeechRequest, signal: AbortSignal) {
    this.asked.push(request);
    return { rateHz: this.rateHz, audio: this.#tone(request.text, signal) };
  }

  async *#tone(text: string, signal: AbortSignal) {
    const { rateHz } = this;
    if (text === "!") throw new Error("no voice");
    if (text === "?" && this.deaths-- > 0)
      throw new OutdialError("speech-unavailable", "it died", { retryable: true });
    for (let tenth = 0; tenth < text.length * 10; tenth++) {
      signal.throwIfAborted();
      const start = (tenth * rateHz) / 10;
      yield Int16Array.from(
        { length: rateHz / 10 },
        (_, i) => 8000 * Math.sin((2 * Math.PI * 440 * (start + i)) / rateHz),
      );
    }
  }
}

function setUp() {
  const synthesizer = new ToneSynthesizer();
  const kept = new Map<string, Int16Array>();
  const renderer = new Renderer({
    synthesizer,
    engine: "tone",
    rateHz: 22_050,
    parallel: 3,
    store: {
      find: (key) => kept.get(JSON.stringify(key)),
      keep: (key, pcm) => kept.set(JSON.stringify(key), pcm),
    },
  });
  return {
    synthesizer,
    kept,
    render: async (text: string, voice = "1") => rendered(renderer, { text, voice, language: "en" }),
    renderer,
  };
}

async function rendered(renderer: Renderer, request: SpeechRequest, signal = never): Promise<Int16Array> {
  const samples: number[] = [];
  for await (const chunk of renderer.render(request, signal)) samples.push(...chunk);
  return Int16Array.from(samples);
}

const upCrossings = (pcm: Int16Array): number =>
  pcm.reduce((n, x, i) => n + (x >= 0 && (pcm[i - 1] ?? 0) < 0 ? 1 : 0), 0);

describe("rendering for the line", () => {
  test("gives 8 kHz of the same length and pitch", async () => {
    const t = setUp();
    const pcm = await t.render("ab");
    expect(pcm).toHaveLength(16_000);
    expect(Math.abs(upCrossings(pcm) - 880)).toBeLessThan(4);
  });

  test("the same request is synthesised once, another voice anew", async () => {
    const t = setUp();
    const first = await t.render("a");
    expect(await t.render("a")).toEqual(first);
    await t.render("a", "2");
    expect(t.synthesizer.asked.map((request) => request.voice)).toEqual(["1", "2"]);
  });

  test("a synthesizer at the line's own rate is left alone, another rate is resampled too", async () => {
    const t = setUp();
    t.synthesizer.rateHz = 8000;
    expect(await t.render("a")).toHaveLength(8000);
    t.synthesizer.rateHz = 24_000;
    expect(await t.render("b")).toHaveLength(8000);
  });

  test("more renderings than filters all come to their end, and sound as alone", async () => {
    const t = setUp();
    const many = await Promise.all(Array.from({ length: 20 }, async (_, i) => t.render("a", `v${i}`)));
    const alone = await setUp().render("a");
    for (const pcm of many) expect(pcm).toEqual(alone);
  });

  test("an aborted or failed rendering is not kept, and leaves nothing in the filter", async () => {
    const t = setUp();
    const alone = await setUp().render("a");
    for (let i = 0; i < 10; i++) {
      const abort = new AbortController();
      const reading = (async () => {
        for await (const _ of t.renderer.render({ text: "long", voice: "1", language: "en" }, abort.signal))
          abort.abort();
      })();
      await expect(reading).rejects.toMatchObject({ name: "AbortError" });
      await expect(t.render("!")).rejects.toThrow("no voice");
    }
    expect(t.kept.size).toBe(0);
    expect(await t.render("a")).toEqual(alone);
  });

  test("an engine that died is asked again, once", async () => {
    const t = setUp();
    t.synthesizer.deaths = 1;
    expect(await t.render("?")).toHaveLength(8000);
    t.synthesizer.deaths = 2;
    await expect(t.render("?", "2")).rejects.toMatchObject({ code: "speech-unavailable" });
  });

  test("lower ranks go before higher ones, and those that are not wanted any more leave the queue", async () => {
    const t = setUp();
    const abort = new AbortController();
    const request = (text: string): SpeechRequest => ({ text, voice: "1", language: "en" });
    const first = ["a", "b", "c"].map(async (text) => t.render(text));
    const left = rendered(t.renderer, request("never"), abort.signal);
    const rest = Object.entries({ f: 2, e: 1, g: 2, d: 0 }).map(async ([text, rank]) => {
      for await (const _ of t.renderer.render(request(text), never, rank));
    });
    abort.abort();
    await expect(left).rejects.toMatchObject({ name: "AbortError" });
    await Promise.all([...first, ...rest]);
    expect(t.synthesizer.asked.map(({ text }) => text).join("")).toBe("abcdefg");
  });

  test("other work of the loop comes in between", async () => {
    const t = setUp();
    let turns = 0;
    let done = false;
    const count = (): void => {
      turns++;
      if (!done) setImmediate(count);
    };
    count();
    await Promise.all([t.render("abc"), t.render("def")]);
    done = true;
    expect(turns).toBeGreaterThan(50);
  });
});
