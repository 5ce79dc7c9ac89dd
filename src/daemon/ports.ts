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
import type { CallState, Outcome, PlaybookSettings, Turn, VoiceId, VoiceModel } from "#domain";
import type { ConversationEvent, ConversationPlan, ConversationReport } from "#talk";

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
  readonly kind: "ip" | "digest" | "sandbox";
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
  /** Campaigns or trunks without room: not to be claimed. `single` lane is never excluded. */
  readonly excludeCampaigns: readonly CampaignId[];
  readonly excludeTrunks: readonly TrunkId[];
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
  readonly destination: { readonly address: string; readonly port: number };
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
  /** The INVITE's latest identity (after a challenge), for a CANCEL by a later process. */
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

// ── Telephony (trunks) ───────────────────────────────────────────────────────────────────────────

/** Our side of an SDP offer or answer. */
export interface LocalMedia {
  readonly address: string;
  readonly audioPort: number;
  /** Present: offer or accept real-time text (RFC 4103). */
  readonly textPort?: number;
  readonly codecs: readonly ("PCMU" | "PCMA" | "G722")[];
  /** RFC 8866 6.12 `a=lang`. */
  readonly language?: string;
  /** Present: the audio must be encrypted (SRTP with SDES), with one of these keys, dearest first. Only for a signalling path that is itself encrypted. */
  readonly srtp?: readonly SdesKey[];
}

/** A suite of RFC 4568 and RFC 7714 with a key for what we send; a secret of one call, never stored or logged. */
interface SdesKey {
  readonly suite: SrtpSuite;
  /** Base64 of master key and master salt. */
  readonly key: string;
}

type SrtpSuite = "AES_CM_128_HMAC_SHA1_80" | "AES_CM_128_HMAC_SHA1_32" | "AEAD_AES_128_GCM";

/** What both sides agreed on. */
export interface LineMedia {
  readonly audio: {
    readonly remote: { readonly address: string; readonly port: number; readonly rtcpPort: number };
    readonly codec: "PCMU" | "PCMA" | "G722";
    readonly payloadType: number;
    /** telephone-event (RFC 4733), when agreed. */
    readonly dtmfPayloadType?: number;
    readonly direction: "sendrecv" | "sendonly" | "recvonly" | "inactive";
    /** Present: the audio is encrypted with these keys (base64 of master key and salt); never to be stored or logged. */
    readonly srtp?: { readonly suite: SrtpSuite; readonly localKey: string; readonly remoteKey: string };
  };
  readonly text?: {
    readonly remote: { readonly address: string; readonly port: number };
    readonly payloadType: number;
    /** RFC 2198 redundancy, when agreed. */
    readonly redPayloadType?: number;
  };
}

export interface SipTarget {
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
}

export interface DialOrder {
  readonly target: SipTarget;
  /** E.164 with `+`. */
  readonly number: string;
  readonly callerId: string;
  /** Chosen by the caller and stored before; the INVITE's Call-ID. */
  readonly sipCallId: string;
  readonly media: LocalMedia;
  readonly ringTimeoutMs: number;
  readonly onEvent: (event: LegEvent) => void;
}

export type LegEvent =
  /** Challenged (401/407): the INVITE went again with credentials, same Call-ID, next CSeq. */
  | { readonly type: "leg-invited-again"; readonly dialog: SavedDialog }
  | { readonly type: "leg-ringing"; readonly status: number }
  | { readonly type: "leg-early-media"; readonly media: LineMedia }
  | { readonly type: "leg-answered"; readonly media: LineMedia; readonly dialog: SavedDialog }
  | { readonly type: "leg-media-changed"; readonly media: LineMedia }
  | { readonly type: "leg-dtmf"; readonly digit: string } // INFO (application/dtmf-relay)
  /** Exactly once, last. */
  | { readonly type: "leg-ended"; readonly end: LegEnd };

export interface LegEnd {
  /** `us`: hangUp() or the ring timeout; `them`: BYE or a final failure; `nobody`: timeout, transport or protocol failure. */
  readonly by: "us" | "them" | "nobody";
  readonly answered: boolean;
  readonly ringing: boolean;
  /** Why we ended it, when we did. */
  readonly ourAct?: "hang-up" | "ring-timeout" | "cancel";
  readonly status?: number;
  readonly reason?: string;
  readonly q850?: number;
  readonly q850Text?: string;
  /** Seconds, of a 503. */
  readonly retryAfterS?: number;
  readonly failure?: "timeout" | "transport" | "auth" | "media";
}

export interface PreparedLeg {
  readonly dialog: SavedDialog;
  /** Sends the INVITE; once. */
  send(): Leg;
}

export interface Leg {
  /** CANCEL or BYE, whichever fits; the end comes as `leg-ended`. */
  hangUp(): void;
}

export interface Telephony {
  /** Builds the INVITE without sending it, so that its identity can be stored first. */
  prepare(order: DialOrder): PreparedLeg;
  /** BYE (answered) or CANCEL (ringing) for a dialog of a process that died. */
  hangUpOrphan(dialog: SavedDialog, target: SipTarget, answered: boolean): void;
  close(): Promise<void>;
}

// ── Lines ────────────────────────────────────────────────────────────────────────────────────────

export interface LineOrder {
  readonly callId: CallId;
  readonly attempt: number;
  /** Local address RTP binds to and is offered with. */
  readonly address: string;
  readonly plan: ConversationPlan;
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
