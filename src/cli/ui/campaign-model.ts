/** A campaign as the watch shows it; changed only by the functions below. Times are epoch milliseconds. */
export interface CampaignModel {
  readonly name: string;
  readonly status: string;
  readonly total: number;
  readonly finished: number;
  readonly live: number;
  readonly waiting: number;
  /** Calls by exact state, the most frequent first. */
  readonly counts: readonly (readonly [state: string, count: number])[];
  /** How many were finished at a time, oldest first; for the rate. */
  readonly history: readonly { readonly at: number; readonly finished: number }[];
  /** Calls that ended, newest first. */
  readonly recent: readonly EndedCall[];
}

export interface EndedCall {
  readonly id: string;
  /** Number that was called; empty when the event does not tell. */
  readonly to: string;
  readonly at: number;
  readonly state: string;
  readonly durationS: number;
  readonly success: boolean;
}

/** What the daemon says about a campaign. */
export interface CampaignFigures {
  readonly name: string;
  readonly status: string;
  readonly total: number;
  readonly finished: number;
  readonly live: number;
  readonly waiting: number;
  readonly counts: Readonly<Record<string, number>>;
}

const rateWindowMs = 120_000;
const recentShown = 8;

/** The model from the daemon's figures, with what was known before. */
export function withFigures(
  before: CampaignModel | undefined,
  figures: CampaignFigures,
  now: number,
): CampaignModel {
  const kept = (before?.history ?? []).filter((entry) => now - entry.at <= rateWindowMs);
  const last = kept.at(-1);
  const history =
    last !== undefined &&
    last.finished === figures.finished &&
    kept.length > 1 &&
    kept.at(-2)?.finished === last.finished
      ? [...kept.slice(0, -1), { at: now, finished: figures.finished }]
      : [...kept, { at: now, finished: figures.finished }];
  return {
    name: figures.name,
    status: figures.status,
    total: figures.total,
    finished: figures.finished,
    live: figures.live,
    waiting: figures.waiting,
    counts: Object.entries(figures.counts).toSorted(([a, n], [b, m]) => m - n || a.localeCompare(b)),
    history,
    recent: before?.recent ?? [],
  };
}

/** The model after a call ended. */
export function withEndedCall(model: CampaignModel, call: EndedCall): CampaignModel {
  return { ...model, recent: [call, ...model.recent].slice(0, recentShown) };
}

/** Calls finished per minute over the last two minutes; undefined while nothing can be said. */
export function ratePerMinute(model: CampaignModel): number | undefined {
  const first = model.history[0];
  const last = model.history.at(-1);
  if (first === undefined || last === undefined || last.at - first.at < 1000) return undefined;
  return ((last.finished - first.finished) * 60_000) / (last.at - first.at);
}

/** How long the rest takes at the present rate, in milliseconds. Recalls that are hours away are not foreseen. */
export function timeLeftMs(model: CampaignModel): number | undefined {
  const rate = ratePerMinute(model);
  if (rate === undefined || rate <= 0 || model.status === "paused") return undefined;
  return ((model.total - model.finished) / rate) * 60_000;
}

/** Nothing more will happen in this campaign. */
export function isOver(model: CampaignModel): boolean {
  return model.status === "done" || (model.status === "stopped" && model.live === 0);
}

/** A bar of `width` cells; full only when everything is done. */
export function progressBar(finished: number, total: number, width: number): string {
  const share = total === 0 ? 1 : finished / total;
  const full = share >= 1 ? width : Math.min(width - 1, Math.floor(share * width));
  return "█".repeat(Math.max(0, full)) + "░".repeat(Math.max(0, width - full));
}

/** `12m`, `3h 20m`; for a person. */
export function spanText(ms: number): string {
  const minutes = Math.round(ms / 60_000);
  if (minutes < 1) return "less than a minute";
  if (minutes < 60) return `${minutes}m`;
  return `${Math.floor(minutes / 60)}h ${minutes % 60}m`;
}

/** The same facts on one line, for pipes and logs. */
export function campaignLine(model: CampaignModel): string {
  const percent = model.total === 0 ? 100 : Math.floor((model.finished / model.total) * 100);
  const rate = ratePerMinute(model);
  const left = timeLeftMs(model);
  const counts = model.counts.map(([state, count]) => `${count} ${state}`).join(", ");
  return [
    `${model.name}: ${model.status}`,
    `${model.finished} of ${model.total} (${percent} %)`,
    `${model.live} live`,
    ...(rate === undefined ? [] : [`${rate.toFixed(1)}/min`]),
    ...(left === undefined || isOver(model) ? [] : [`${spanText(left)} left`]),
    counts,
  ].join(" · ");
}
