import { describe, expect, onTestFinished, test, vi } from "vitest";
import { startTicker, type Tickable, type TickerOptions } from "../../src/lines/ticker.ts";

/** A ticker on a clock that only the test moves. */
function virtual(options: Partial<TickerOptions> = {}) {
  vi.useFakeTimers({ now: 0, toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const ticker = startTicker({ now: () => performance.now(), ...options });
  onTestFinished(() => ticker.close());
  return { ticker, pass: (ms: number) => vi.advanceTimersByTime(ms) };
}

function line(tick: (now: number) => void = () => undefined): Tickable & { ticks: number; skipped: number } {
  return {
    ticks: 0,
    skipped: 0,
    tick(now) {
      this.ticks++;
      tick(now);
    },
    skip(frames) {
      this.skipped += frames;
    },
  };
}

describe("the ticker", () => {
  test("ticks all lines each 20 ms and does not drift", () => {
    const { ticker, pass } = virtual();
    const [a, b] = [line(), line()];
    ticker.register(a);
    ticker.register(b);
    pass(60_000);
    expect([a.ticks, b.ticks]).toEqual([3000, 3000]);
    ticker.unregister(a);
    pass(1000);
    expect([a.ticks, b.ticks]).toEqual([3000, 3050]);
  });

  test("makes up for a stall of the thread, up to 200 ms; the rest is told as skipped", () => {
    let now = 0;
    vi.useFakeTimers({ now: 0, toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    const ticker = startTicker({ now: () => now });
    onTestFinished(() => ticker.close());
    const one = line();
    ticker.register(one);
    now = 100;
    vi.advanceTimersByTime(20);
    expect(one).toMatchObject({ ticks: 5, skipped: 0 });
    now = 1100;
    vi.advanceTimersByTime(20);
    expect(one).toMatchObject({ ticks: 15, skipped: 40 });
    now = 1120;
    vi.advanceTimersByTime(20);
    expect(one).toMatchObject({ ticks: 16, skipped: 40 });
  });

  test("a line that throws is dropped and told of; the others go on", () => {
    const failed: unknown[] = [];
    const { ticker, pass } = virtual({ onLineFailed: (_line, error) => failed.push(error) });
    const bad = line(() => {
      throw new Error("broken");
    });
    const good = line();
    ticker.register(bad);
    ticker.register(good);
    pass(100);
    expect(failed).toMatchObject([{ message: "broken" }]);
    expect([bad.ticks, good.ticks]).toEqual([1, 5]);
  });

  test("nothing happens after it was closed, even from within a tick", () => {
    let wakes = 0;
    const { ticker, pass } = virtual({
      onTick: () => {
        wakes++;
        if (wakes === 3) ticker.close();
      },
    });
    pass(1000);
    expect(wakes).toBe(3);
  });
});
