import { accept, reject, type Decoded } from "#base";
import type { Outcome } from "./call.ts";
import { mayRecall } from "./outcome.ts";

const maxDelays = 20;
const maxDelayMin = 43_200;
const accepted = `recall must be an array of at most ${maxDelays} whole numbers of minutes from 0 to ${maxDelayMin}, or a string such as "[30,120]"`;

/** Recall delays in minutes, ascending, from an array of numbers or a bracketed list in a string. */
export function parseRecall(input: unknown): Decoded<readonly number[]> {
  const list = typeof input === "string" ? listInText(input) : input;
  if (!Array.isArray(list) || list.length > maxDelays) return reject("recall", accepted);
  const delays = list.filter((delay): delay is number => isDelay(delay));
  if (delays.length !== list.length) return reject("recall", accepted);
  return accept(delays.toSorted((a, b) => a - b));
}

export interface RecallPlan {
  /** Delays in minutes, ascending. */
  readonly recallMin: readonly number[];
  /** Start of the call, or launch time of its scheduled campaign: what the delays count from. */
  readonly recallFrom: number;
  /** Attempts made so far, the one that just ended included. */
  readonly attempts: number;
  readonly outcome: Outcome;
  readonly endedAt: number;
}

/** When to ring again, or undefined when the contact is settled or the delays are used up. A delay already past means at once. */
export function nextRecallAt(plan: RecallPlan): number | undefined {
  const delayMin = mayRecall(plan.outcome) ? plan.recallMin[plan.attempts - 1] : undefined;
  return delayMin === undefined ? undefined : Math.max(plan.endedAt, plan.recallFrom + delayMin * 60_000);
}

function listInText(text: string): readonly number[] | undefined {
  const inside = /^\s*\[([\s\d,]*)\]\s*$/.exec(text)?.[1];
  if (inside === undefined || inside.length > 1000) return undefined;
  if (inside.trim() === "") return [];
  return inside.split(",").map((part) => (/^\s*\d+\s*$/.test(part) ? Number(part) : Number.NaN));
}

function isDelay(value: unknown): boolean {
  return typeof value === "number" && Number.isInteger(value) && value >= 0 && value <= maxDelayMin;
}
