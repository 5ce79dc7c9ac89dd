import type { AccountId, CallId, CampaignId } from "#base";
import type { CampaignContact, VoiceId, VoiceModel } from "#domain";
import type { IdempotencyEntry } from "./ports.ts";

/** What comes with an Idempotency-Key: the answer is stored in the same write as its result. */
export interface Idempotency<Result> {
  readonly key: string;
  readonly bodyHash: string;
  readonly answer: (result: Result) => { readonly status: number; readonly answer: string };
}

export interface CallOrder {
  readonly accountId: AccountId;
  /** E.164. */
  readonly phone: string;
  readonly playbook: string;
  readonly version?: string;
  readonly voiceId?: VoiceId;
  readonly voiceModel?: VoiceModel;
  readonly language?: string;
  readonly interrupt?: boolean;
  readonly params: Readonly<Record<string, string>>;
  readonly trunk?: string;
  readonly recallMin?: readonly number[];
  /** Not before this time. */
  readonly at?: number;
  readonly idempotency?: Idempotency<StartedCall>;
}

export interface StartedCall {
  readonly id: CallId;
  readonly message: string;
}

export interface CampaignOrder {
  readonly accountId: AccountId;
  readonly playbook: string;
  readonly contacts: readonly CampaignContact[];
  /** Absent: now. */
  readonly launchAt?: number;
  readonly recallMin: readonly number[];
  readonly name?: string;
  readonly trunk?: string;
  readonly maxConcurrent?: number;
  readonly dryRun?: boolean;
  readonly idempotency?: Idempotency<LaunchedCampaign>;
}

export interface LaunchedCampaign {
  readonly id: CampaignId;
  readonly scheduled: boolean;
  readonly launchAt: number;
  readonly total: number;
  readonly scheduledCalls: number;
  readonly errorCalls: number;
  readonly firstCallAt: number | null;
  readonly lastCallAt: number | null;
}

/** The row to store for an order's key; undefined when it came without one. */
export function idempotencyEntry<Result>(
  order: { readonly accountId: AccountId; readonly idempotency?: Idempotency<Result> },
  result: Result,
  now: number,
): IdempotencyEntry | undefined {
  const { accountId, idempotency } = order;
  if (idempotency === undefined) return undefined;
  const { key, bodyHash, answer } = idempotency;
  return { accountId, key, bodyHash, ...answer(result), createdAt: now };
}
