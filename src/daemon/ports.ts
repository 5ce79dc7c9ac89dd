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
import type { ConversationEvent, ConversationPlan, ConversationReport } from "#talk";
import type { LineMedia, SavedDialog } from "./telephony.ts";

export type {
  CallIdentity,
  DialOrder,
  LegEnd,
  LegEvent,
  LineMedia,
  LocalMedia,
  ProbeResult,
  Registration,
  RegistrationState,
  SavedDialog,
  SdesKey,
  SipTarget,
  Telephony,
} from "./telephony.ts";

/*
 * What the application needs from the world. Adapters (store, trunks, lines, sandbox) fit structurally;
 * `main.ts` joins them. All times are epoch milliseconds unless a name says otherwise.
 */

// ── Store ────────────────────────────────────────────────────────────────────────────────────────

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
export interface CallOptions {
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

/** Whole operations; a write has been fsynced when its promise resolves. Rejects with OutdialError `store-full` or `store-failed`. */
export interface Store {
  // accounts
  createAccount(account: Account): Promise<Account>; // rejects `account-exists`
  listAccounts(): Promise<readonly Account[]>;
  findAccount(nameOrId: string): Promise<Account | undefined>;
  // tokens
  createToken(token: TokenRow): Promise<void>; // rejects `token-exists` for a second one of that name
  listTokens(accountId: AccountId): Promise<readonly TokenRow[]>;
  findToken(prefix: string): Promise<TokenRow | undefined>;
  revokeToken(accountId: AccountId, nameOrPrefix: string): Promise<boolean>;
  // playbooks
  /** Creates or updates by account and name; with `version` also commits it (the first becomes production). */
  applyPlaybook(playbook: PlaybookRow, version: VersionRow | undefined): Promise<PlaybookRow>;
  listPlaybooks(accountId: AccountId): Promise<readonly PlaybookRow[]>;
  findPlaybook(accountId: AccountId, nameOrId: string): Promise<PlaybookRow | undefined>;
  /** Of any account: to tell foreign from unknown is the caller's business. */
  findPlaybookById(id: string): Promise<PlaybookRow | undefined>;
  listVersions(playbookId: PlaybookId): Promise<readonly VersionRow[]>; // newest first
  findVersion(playbookId: PlaybookId, idOrPrefix: string): Promise<VersionRow | undefined>;
  promoteVersion(playbookId: PlaybookId, versionId: VersionId): Promise<void>;
  // trunks
  createTrunk(trunk: TrunkRow): Promise<void>; // rejects `trunk-exists`
  listTrunks(accountId: AccountId): Promise<readonly TrunkRow[]>;
  findTrunk(accountId: AccountId, nameOrId: string): Promise<TrunkRow | undefined>;
  removeTrunk(accountId: AccountId, name: string): Promise<boolean>;
  setDefaultTrunk(accountId: AccountId, name: string): Promise<boolean>;
  /** Everything but id, account, default and time of creation. False: it is gone. Rejects `trunk-exists` for a name that another one has. */
  updateTrunk(trunk: TrunkRow): Promise<boolean>;
  updateTrunkAddress(trunkId: TrunkId, host: string, port: number): Promise<void>;
  // suppressions
  isSuppressed(accountId: AccountId, phone: string): Promise<boolean>;
  suppress(accountId: AccountId, phone: string, reason: string, now: number): Promise<void>;
  // calls and campaigns
  insertCall(call: NewCall, idempotency?: IdempotencyEntry): Promise<void>;
  /** Upserts contacts, stores the campaign and all its calls in one durable operation. */
  insertCampaign(
    campaign: Omit<CampaignRow, "counts">,
    contacts: readonly ContactFields[],
    calls: readonly NewCall[],
    idempotency?: IdempotencyEntry,
  ): Promise<void>;
  /** The answer stored under this key in the last 24 h, with the hash of its body. */
  findIdempotent(accountId: AccountId, key: string, now: number): Promise<IdempotencyEntry | undefined>;
  listCampaigns(accountId: AccountId): Promise<readonly CampaignRow[]>;
  findCampaign(accountId: AccountId, idOrPrefix: string): Promise<CampaignRow | undefined>;
  /** Compare-and-set on the status; `stopped` also ends every call not yet under way as cancelled. Returns the row, or undefined when the step is not allowed. */
  setCampaignStatus(
    id: CampaignId,
    to: "running" | "paused" | "stopped",
    now: number,
  ): Promise<CampaignRow | undefined>;
  listCalls(filter: CallFilter): Promise<readonly CallRow[]>; // newest first
  findCall(accountId: AccountId, idOrPrefix: string): Promise<CallRow | undefined>;
  listAttempts(callId: CallId): Promise<readonly AttemptRow[]>;
  /** What was on the wire in an attempt; kept up to 64 KiB a call, the oldest attempts' go first. */
  saveSipMessages(callId: CallId, n: number, messages: readonly SipMessageRow[]): Promise<void>;
  /** By attempt, then as they were on the wire. */
  listSipMessages(callId: CallId): Promise<readonly SipMessageRow[]>;
  /** manual → the given state. False when the call is not manual. */
  resolveCall(
    accountId: AccountId,
    id: CallId,
    to: "closed" | "failed",
    note: string,
    now: number,
  ): Promise<boolean>;
  /** A call not yet under way → cancelled. False when it is under way or over. */
  cancelCall(accountId: AccountId, id: CallId, now: number): Promise<boolean>;
  /** A call that cannot be dialled now goes back: `queued`/`recall-scheduled` with a new due time, its attempt removed. */
  unclaimCall(callId: CallId, n: number, dueAt: number): Promise<void>;
  // dialling
  claimDue(
    request: ClaimRequest,
  ): Promise<{ readonly claimed: readonly ClaimedCall[]; readonly nextDueAt: number | null }>;
  /** claimed → dialing, compare-and-set. False: do not dial. */
  startDial(
    callId: CallId,
    n: number,
    owner: string,
    sipCallId: string,
    dialog: SavedDialog,
    now: number,
  ): Promise<boolean>;
  /** The latest identity of the INVITE (after a challenge) or of the answered call, for a CANCEL or BYE by a later process. */
  saveDialog(callId: CallId, n: number, dialog: SavedDialog): Promise<void>;
  markRinging(callId: CallId, n: number, now: number): Promise<void>;
  markAnswered(callId: CallId, n: number, dialog: SavedDialog, now: number): Promise<void>;
  /** Compare-and-set on the attempt not having ended. False: it had. */
  endAttempt(end: AttemptEnd): Promise<boolean>;
  /** At start: claimed → queued again, dialing or answered → lost and the call manual. Returns the lost ones with their dialogs. */
  recover(
    owner: string,
    now: number,
  ): Promise<{
    readonly requeued: number;
    readonly lost: readonly {
      readonly callId: CallId;
      readonly n: number;
      readonly trunkId: TrunkId | null;
      readonly dialog: SavedDialog | null;
      readonly answered: boolean;
    }[];
  }>;
  /** The recording that an attempt lost in a crash left behind: it belongs to the attempt and its call. */
  keepRecording(callId: CallId, n: number, fileName: string, durationS: number): Promise<void>;
  stats(): Promise<{
    readonly open: number;
    readonly dueNow: number;
    readonly calls: number;
  }>;
  close(): Promise<void>;
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

// ── Lines ────────────────────────────────────────────────────────────────────────────────────────

/** Providers of a call: tables of the configuration file, and the secrets they name. */
export interface VoiceOrder {
  readonly config: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, string>>;
}

export interface LineOrder {
  readonly callId: CallId;
  readonly attempt: number;
  /** Local address RTP binds to and is offered with. */
  readonly address: string;
  readonly plan: ConversationPlan;
  /** Who hears, thinks and speaks; absent: what is built in. */
  readonly voice?: VoiceOrder;
  /** Absolute path of the WAV to write; undefined: no recording. */
  readonly recordingPath: string | undefined;
  readonly onEvent: (event: LineEvent) => void;
}

export type LineEvent =
  /** Live turns, verdicts, meters: for the event stream. */
  | { readonly type: "conversation"; readonly event: ConversationEvent }
  /** The conversation is over and everything it said was played: hang up. */
  | { readonly type: "conversation-finished" }
  | { readonly type: "media-timeout"; readonly first: boolean }
  /** The worker died; the call must end. */
  | { readonly type: "line-lost"; readonly reason: string };

export interface LineReport {
  readonly conversation: ConversationReport;
  readonly recordedMs: number;
  readonly media: Readonly<Record<string, number>>;
}

export interface Line {
  readonly local: { readonly address: string; readonly audioPort: number; readonly textPort?: number };
  /** Ringing: warm up and prepare the greeting (also safe to skip). */
  prepare(): void;
  /** Answered: audio flows, the conversation starts. */
  connect(media: LineMedia): void;
  changeMedia(media: LineMedia): void;
  /** A digit that came by SIP INFO. */
  pressed(digit: string): void;
  /** Ends audio and recording; resolves with the report. `endedBy` counts if the conversation had not ended by itself. Idempotent. */
  close(endedBy?: "callee" | "operator"): Promise<LineReport>;
}

export interface Lines {
  /** Rejects with OutdialError `lines-busy` when no worker has room. */
  open(order: LineOrder): Promise<Line>;
  readonly room: number;
  close(): Promise<void>;
}
