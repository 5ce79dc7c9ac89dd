import { renderToString } from "ink";
import { describe, expect, it } from "vitest";
import {
  campaignLine,
  isOver,
  progressBar,
  ratePerMinute,
  timeLeftMs,
  withEndedCall,
  withFigures,
  type CampaignFigures,
  type CampaignModel,
} from "../../src/cli/ui/campaign-model.ts";
import { CampaignPanel } from "../../src/cli/ui/campaign-view.tsx";
import { withoutEscapes } from "../support/run-cli.ts";

const figures = (finished: number, more: Partial<CampaignFigures> = {}): CampaignFigures => ({
  name: "leads",
  status: "running",
  total: 100,
  finished,
  live: 3,
  waiting: 97 - finished,
  counts: { closed: finished - 1, busy: 1 },
  ...more,
});

const after = (...steps: readonly (readonly [at: number, finished: number])[]): CampaignModel =>
  steps.reduce<CampaignModel | undefined>(
    (model, [at, finished]) => withFigures(model, figures(finished), at),
    undefined,
  )!;

describe("the model of a campaign", () => {
  it("knows pace and time left from the last two minutes", () => {
    const model = after([0, 10], [30_000, 15], [60_000, 20]);
    expect(ratePerMinute(model)).toBe(10);
    expect(timeLeftMs(model)).toBe(8 * 60_000);
    expect(ratePerMinute(after([0, 10]))).toBeUndefined();
    expect(ratePerMinute(after([0, 10], [200_000, 50], [260_000, 51]))).toBe(1);
  });

  it("does not promise an end while nothing happens or it is paused", () => {
    expect(timeLeftMs(after([0, 10], [60_000, 10]))).toBeUndefined();
    expect(
      timeLeftMs(withFigures(after([0, 10]), figures(20, { status: "paused" }), 60_000)),
    ).toBeUndefined();
  });

  it("does not grow while it is watched", () => {
    let model = after([0, 10]);
    for (let at = 500; at < 3_600_000; at += 500) model = withFigures(model, figures(10), at);
    expect(model.history.length).toBeLessThan(10);
    for (let n = 0; n < 50; n++)
      model = withEndedCall(model, {
        id: `${n}`,
        to: "",
        at: n,
        state: "busy",
        durationS: 0,
        success: false,
      });
    expect(model.recent.map(({ id }) => id)).toEqual(["49", "48", "47", "46", "45", "44", "43", "42"]);
  });

  it("is over when done, or stopped with its last call ended", () => {
    const over = (status: string, live: number): boolean =>
      isOver(withFigures(undefined, figures(9, { status, live }), 0));
    expect([over("done", 0), over("stopped", 2), over("stopped", 0), over("paused", 0)]).toEqual([
      true,
      false,
      true,
      false,
    ]);
  });

  it("has a full bar only when all is done", () => {
    expect(progressBar(999, 1000, 10)).toBe("█████████░");
    expect(progressBar(5, 5, 4)).toBe("████");
    expect(progressBar(0, 0, 4)).toBe("████");
    expect(progressBar(0, 9, 4)).toBe("░░░░");
  });

  it("is one line for a pipe", () => {
    expect(campaignLine(after([0, 10], [60_000, 20]))).toBe(
      "leads: running · 20 of 100 (20 %) · 3 live · 10.0/min · 8m left · 19 closed, 1 busy",
    );
  });
});

describe("the panel", () => {
  const model = withEndedCall(after([0, 10], [60_000, 20]), {
    id: "0197d4c2-7f3a-7b1c-8000-000000000001",
    to: "+9990000001",
    at: Date.UTC(2026, 10, 21, 9, 15, 30),
    state: "closed",
    durationS: 12,
    success: true,
  });

  it("shows counts, pace and the last calls", () => {
    const text = withoutEscapes(renderToString(<CampaignPanel model={model} />, { columns: 80 }));
    expect(text).toContain("leads  running");
    expect(text).toContain("████████░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 20 of 100");
    expect(text).toContain("3 live · 77 waiting · 10.0 a minute · 8m left at this rate");
    expect(text).toMatch(/closed +19 +19 %/);
    expect(text).toContain("09:15:30  +9990000001  closed  12 s  objectives met");
    expect(text).toContain("Ctrl-C stops watching");
  });

  it("says nothing of Ctrl-C when it is over, and stays within a narrow terminal", () => {
    const done = withFigures(model, figures(100, { status: "done", live: 0, waiting: 0 }), 61_000);
    const text = withoutEscapes(renderToString(<CampaignPanel model={done} />, { columns: 50 }));
    expect(text).not.toContain("Ctrl-C");
    for (const line of text.split("\n")) expect(line.length).toBeLessThanOrEqual(50);
  });
});
