import type {
  AccountId,
  CallId,
  CampaignId,
  ContactId,
  PlaybookId,
  TokenId,
  TrunkId,
  VersionId,
} from "#base";
import type {
  CallState,
  Outcome,
  PlaybookSettings,
  TrunkKind,
  TrunkSip,
  Turn,
  VoiceId,
  VoiceModel,
} from "#domain";

/*
 * What the store keeps and answers. All times are epoch milliseconds unless a name says otherwise.
 */

export interface Account {
  readonly id: AccountId;
  readonly name: string;
  /** IANA zone. */
  readonly timezone: string;
  readonly createdAt: number;
}

export interface TokenRow {
  readonly id: TokenId;
  readonly accountId: AccountId;
  readonly name: string;
  /** First 24 characters of the token, unique. */
  readonly prefix: string;
  /** SHA-256 of the secret part, hex. */
  readonly secretHash: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface PlaybookRow {
  readonly id: PlaybookId;
  readonly accountId: AccountId;
  readonly name: string;
  /** Current configuration. */
  readonly settings: PlaybookSettings;
  /** The file it was read from, as given. */
  readonly source: string;
  readonly productionVersionId: VersionId | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface VersionRow {
  readonly id: VersionId;
  readonly playbookId: PlaybookId;
  readonly message: string;
  readonly settings: PlaybookSettings;
  readonly source: string;
  readonly createdAt: number;
}

export interface TrunkRow {
  readonly id: TrunkId;
  readonly accountId: AccountId;
  readonly name: string;
  /** `sandbox` takes only +999 000 0nnn numbers; the others never do. */
  readonly kind: TrunkKind;
  readonly host: string;
  readonly port: number;
  readonly username: string | null;
  /** Where the password is kept: never the password itself. */
  readonly passwordRef: string | null;
  readonly callerId: string;
  readonly codecs: readonly ("PCMU" | "PCMA" | "G722")[];
  readonly maxCalls: number;
  readonly callsPerSecond: number;
  readonly isDefault: boolean;
  readonly createdAt: number;
  readonly sip: TrunkSip;
}

export interface CampaignRow {
  readonly id: CampaignId;
  readonly accountId: AccountId;
  readonly playbookId: PlaybookId;
  readonly versionId: VersionId | null;
  readonly name: string;
  readonly launchAt: number;
  readonly recallMin: readonly number[];
  readonly maxConcurrent: number | null;
  readonly trunkId: TrunkId | null;
  readonly status: "scheduled" | "running" | "paused" | "stopped" | "done";
  readonly total: number;
  readonly createdAt: number;
  /** Calls by state: a counter each, states with none are absent. */
  readonly counts: Readonly<Partial<Record<CallState, number>>>;
}

/** How a call is to be held; fixed when the call is created. */
interface CallOptions {
  readonly voiceId: VoiceId;
  readonly voiceModel: VoiceModel;
  readonly language: string;
  readonly interrupt: boolean;
}

export interface CallRow {
  readonly id: CallId;
  readonly accountId: AccountId;
  readonly playbookId: PlaybookId;
  readonly playbookName: string;
  readonly versionId: VersionId | null;
  readonly campaignId: CampaignId | null;
  readonly contactId: ContactId | null;
  readonly trunkId: TrunkId | null;
  /** E.164, or the text as given when the state is wrong-number. */
  readonly to: string;
  readonly from: string;
  readonly state: CallState;
  readonly outcome: Outcome | null;
  readonly params: Readonly<Record<string, string>>;
  readonly options: CallOptions;
  readonly recallMin: readonly number[];
  /** IANA zone of the contact; null: the account's. */
  readonly timezone: string | null;
  /** Start of the recall clock: creation, or the launch of a scheduled campaign. */
  readonly recallFrom: number;
  readonly dueAt: number | null;
  readonly attempts: number;
  readonly durationS: number;
  readonly success: boolean;
  readonly summary: string;
  readonly output: Readonly<Record<string, unknown>>;
  readonly turns: readonly Turn[];
  /** File name inside the recordings directory; null when there is none. */
  readonly recording: string | null;
  readonly createdAt: number;
}

export interface AttemptRow {
  readonly callId: CallId;
  /** 1, 2, … */
  readonly n: number;
  readonly state: "claimed" | "dialing" | "answered" | "ended" | "lost";
  readonly sipCallId: string | null;
  readonly startedAt: number;
  readonly ringingAt: number | null;
  readonly answeredAt: number | null;
  readonly endedAt: number | null;
  readonly outcome: Outcome | null;
  readonly recording: string | null;
  /** Verdict, media figures and timings of the attempt. */
  readonly evidence: Readonly<Record<string, unknown>>;
}

/** One SIP message of an attempt, without what must stay secret. */
export interface SipMessageRow {
  readonly callId: CallId;
  /** The attempt. */
  readonly n: number;
  /** 1, 2, … in the order of the wire; a gap is messages that were left out for want of room. */
  readonly seq: number;
  readonly at: number;
  readonly direction: "sent" | "received";
  readonly transport: "udp" | "tcp" | "tls";
  /** `address:port`, `[v6]:port`. */
  readonly local: string;
  readonly remote: string;
  readonly text: string;
}

export type NewCall = Omit<
  CallRow,
  | "playbookName"
  | "outcome"
  | "attempts"
  | "durationS"
  | "success"
  | "summary"
  | "output"
  | "turns"
  | "recording"
> & { readonly outcome?: Outcome | null };

export interface ContactFields {
  readonly phone: string;
  /** Given fields overwrite, absent ones stay. */
  readonly fields: Readonly<Record<string, string>>;
  /** Merged key by key. */
  readonly customFields: Readonly<Record<string, unknown>>;
}

export interface CallFilter {
  readonly accountId: AccountId;
  readonly from?: number;
  readonly to?: number;
  readonly states?: readonly CallState[];
  readonly playbookId?: PlaybookId;
  readonly campaignId?: CampaignId;
  readonly phone?: string;
  /** Exclusive position of the previous page. */
  readonly before?: { readonly createdAt: number; readonly id: CallId };
  readonly limit: number;
}

/** What the dialer takes out of the queue: the call and the settings of the version it is bound to. */
export interface ClaimedCall {
  readonly call: CallRow;
  readonly attempt: number;
  readonly settings: PlaybookSettings;
  /** Most calls at once of its campaign; null: no own limit. */
  readonly campaignMaxConcurrent: number | null;
}

export interface ClaimRequest {
  readonly owner: string;
  readonly now: number;
  readonly limit: number;
  /** Numbers already in a call: not to be claimed. */
  readonly busyNumbers: readonly string[];
  /** Campaigns or trunks without room: not to be claimed. */
  readonly excludeCampaigns: readonly CampaignId[];
  readonly excludeTrunks: readonly TrunkId[];
  /** Accounts whose calls without a trunk of their own find none now. */
  readonly excludeUnrouted: readonly AccountId[];
  readonly excludeAccounts?: readonly AccountId[];
}

export interface AttemptEnd {
  readonly callId: CallId;
  readonly n: number;
  readonly at: number;
  readonly outcome: Outcome;
  /** The call's state now: a final one, or `recall-scheduled` with `dueAt`. */
  readonly state: CallState;
  readonly dueAt: number | null;
  readonly durationS: number;
  readonly success: boolean;
  readonly summary: string;
  readonly output: Readonly<Record<string, unknown>>;
  readonly turns: readonly Turn[];
  readonly recording: string | null;
  readonly evidence: Readonly<Record<string, unknown>>;
  /** Suppress the number for the account in the same transaction. */
  readonly suppress?: { readonly phone: string; readonly reason: string };
}

export interface SavedDialog {
  readonly sipCallId: string;
  readonly localTag: string;
  readonly remoteTag: string | null;
  readonly localUri: string;
  readonly remoteUri: string;
  readonly remoteTarget: string;
  readonly routeSet: readonly string[];
  readonly localCSeq: number;
  /** Branch of the INVITE, for a CANCEL; null once answered. */
  readonly inviteBranch: string | null;
  readonly requestUri: string;
  readonly destination: {
    readonly address: string;
    readonly port: number;
    readonly transport?: "udp" | "tcp" | "tls";
    readonly domain?: string;
  };
}

export interface IdempotencyEntry {
  readonly accountId: AccountId;
  readonly key: string;
  /** SHA-256 of method, path and body, hex. */
  readonly bodyHash: string;
  readonly status: number;
  /** JSON text. */
  readonly answer: string;
  readonly createdAt: number;
}
