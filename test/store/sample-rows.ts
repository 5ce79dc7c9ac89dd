import { plainTrunkSip, type PlaybookSettings } from "#domain";
import type {
  CampaignRow,
  NewCall,
  PlaybookRow,
  SavedDialog,
  TrunkRow,
  VersionRow,
} from "../../src/store/rows.ts";
import type { Store } from "../../src/store/contract.ts";

/** 2026-11-21T10:00:00Z. */
export const noon = 1_795_255_200_000;

/** A UUID that sorts by `n`. */
export function id(n: number): string {
  return `0190a000-0000-7000-8000-${n.toString(16).padStart(12, "0")}`;
}

export const accountId = id(1);
export const playbookId = id(2);

export const settings: PlaybookSettings = {
  name: "welcome",
  language: "es",
  voice: undefined,
  interrupt: undefined,
  opening: "Hola {{first_name}}",
  script: undefined,
  prompt: "Be brief.",
  voicemail: { action: "hang-up", message: undefined },
  output: undefined,
  success: undefined,
  rtt: false,
  speakers: { agent: "Assistant", callee: "Customer" },
  silence: { promptAfterMs: 5000, maxPrompts: 2, prompt: undefined },
  goodbye: undefined,
  maxCallMs: 600_000,
};

export function playbook(overrides: Partial<PlaybookRow> = {}): PlaybookRow {
  return {
    id: playbookId,
    accountId,
    name: "welcome",
    settings,
    source: "# Welcome",
    productionVersionId: null,
    createdAt: noon,
    updatedAt: noon,
    ...overrides,
  };
}

export function version(overrides: Partial<VersionRow> = {}): VersionRow {
  return {
    id: id(3),
    playbookId,
    message: "first",
    settings,
    source: "# Welcome",
    createdAt: noon,
    ...overrides,
  };
}

export function trunk(overrides: Partial<TrunkRow> = {}): TrunkRow {
  return {
    id: id(4),
    accountId,
    name: "main",
    kind: "digest",
    host: "sip.example.com",
    port: 5060,
    username: "bob",
    passwordRef: "outdial/main",
    callerId: "+34910000000",
    codecs: ["PCMU", "PCMA"],
    maxCalls: 10,
    callsPerSecond: 0.5,
    isDefault: true,
    createdAt: noon,
    sip: plainTrunkSip,
    ...overrides,
  };
}

/** A queued call to a number of its own, due at noon. */
export function call(n: number, overrides: Partial<NewCall> = {}): NewCall {
  return {
    id: id(1000 + n),
    accountId,
    playbookId,
    versionId: null,
    campaignId: null,
    contactId: null,
    trunkId: null,
    to: `+34600${String(n).padStart(6, "0")}`,
    from: "+34910000000",
    state: "queued",
    params: { first_name: "Ana" },
    options: { voiceId: "6", voiceModel: "human", language: "es", interrupt: false },
    recallMin: [30, 120],
    timezone: null,
    recallFrom: noon,
    dueAt: noon,
    createdAt: noon,
    ...overrides,
  };
}

export function campaign(n: number, overrides: Partial<CampaignRow> = {}): Omit<CampaignRow, "counts"> {
  return {
    id: id(500 + n),
    accountId,
    playbookId,
    versionId: null,
    name: `campaign ${n}`,
    launchAt: noon,
    recallMin: [30],
    maxConcurrent: null,
    trunkId: null,
    status: "running",
    total: 0,
    createdAt: noon,
    ...overrides,
  };
}

/** `count` calls of a campaign; numbers start at `first`. */
export function callsOf(
  campaignId: string,
  first: number,
  count: number,
  overrides: Partial<NewCall> = {},
): NewCall[] {
  return Array.from({ length: count }, (_, index) => call(first + index, { campaignId, ...overrides }));
}

export function dialog(overrides: Partial<SavedDialog> = {}): SavedDialog {
  return {
    sipCallId: "abc@outdial",
    localTag: "l1",
    remoteTag: null,
    localUri: "sip:+34910000000@sip.example.com",
    remoteUri: "sip:+34600000001@sip.example.com",
    remoteTarget: "sip:+34600000001@10.0.0.1",
    routeSet: [],
    localCSeq: 1,
    inviteBranch: "z9hG4bK1",
    requestUri: "sip:+34600000001@sip.example.com",
    destination: { address: "10.0.0.1", port: 5060 },
    ...overrides,
  };
}

/** What every test stands on: one account with one playbook. */
export async function furnish(store: Store): Promise<void> {
  await store.createAccount({ id: accountId, name: "default", timezone: "Europe/Madrid", createdAt: noon });
  await store.applyPlaybook(playbook(), undefined);
}

/** A claim of everything due at `now`, by owner `d1`. */
export function claimAt(now: number, overrides: Partial<Parameters<Store["claimDue"]>[0]> = {}) {
  return {
    owner: "d1",
    now,
    limit: 10,
    busyNumbers: [],
    excludeCampaigns: [],
    excludeTrunks: [],
    excludeUnrouted: [],
    ...overrides,
  };
}

/** How an attempt ends when nobody picks up and it is not tried again. */
export function ended(
  callId: string,
  n: number,
  overrides: Partial<Parameters<Store["endAttempt"]>[0]> = {},
) {
  return {
    callId,
    n,
    at: noon + 30_000,
    outcome: { state: "no-answer", cause: "ring-timeout", sipStatus: 487 },
    state: "no-answer",
    dueAt: null,
    durationS: 0,
    success: false,
    summary: "",
    output: {},
    turns: [],
    recording: null,
    evidence: {},
    ...overrides,
  } satisfies Parameters<Store["endAttempt"]>[0];
}
