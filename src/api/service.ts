import type { AccountId, CallId, CampaignId, Decoded, PlaybookId, TokenId, TrunkId, VersionId } from "#base";
import type {
  CallState,
  CampaignContact,
  Finding,
  Outcome,
  PlaybookSettings,
  TokenExpiry,
  TrunkKind,
  TrunkSip,
  Turn,
  VoiceId,
  VoiceModel,
} from "#domain";

/*
 * What the HTTP side needs from the application. All times are epoch milliseconds.
 *
 * Anything a person can act on rejects with an OutdialError; its code becomes a status in `failure.ts`
 * (`…-not-found`, `…-exists`, `store-full`, `suppressed`, `no-trunk`, `ambiguous-id`, `wrong-state`, …).
 * Every operation is bound to one account: what belongs to another account is "not found".
 */

export interface Account {
  readonly id: AccountId;
  readonly name: string;
  /** IANA zone in which dates without an offset are read. */
  readonly timezone: string;
  readonly createdAt: number;
}

/** A token as it is checked: never the secret itself. */
export interface Credential {
  readonly id: TokenId;
  readonly account: Account;
  /** SHA-256 of the secret part, hex. */
  readonly secretHash: string;
  readonly expiresAt: number;
}

export interface Token {
  readonly name: string;
  /** First 24 characters. */
  readonly prefix: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface MintedToken extends Token {
  /** The whole token; shown once, stored nowhere. */
  readonly token: string;
}

// ── Calls ────────────────────────────────────────────────────────────────────────────────────────

/**
 * The operation was sent with an Idempotency-Key. The service stores `answer(result)` under the key
 * in the same write as the result. A second write under the key rejects with OutdialError `idempotency-key-used`.
 */
export interface Idempotency<Result> {
  readonly key: string;
  /** SHA-256 of method, path and body, hex. */
  readonly bodyHash: string;
  readonly answer: (result: Result) => { readonly status: number; readonly answer: string };
}

export interface StoredAnswer {
  readonly bodyHash: string;
  readonly status: number;
  /** JSON text. */
  readonly answer: string;
}

export interface CallOrder {
  readonly accountId: AccountId;
  /** E.164. */
  readonly phone: string;
  /** Public API: the id. Admin: name, id or unique prefix. */
  readonly playbook: string;
  /** Unknown, foreign or malformed: the production version is used. */
  readonly version?: string;
  /** Absent: the version's own choice, then the default of the contract. */
  readonly voiceId?: VoiceId;
  readonly voiceModel?: VoiceModel;
  /** Lower case. */
  readonly language?: string;
  readonly interrupt?: boolean;
  readonly params: Readonly<Record<string, string>>;
  /** Name, id or unique prefix; absent: the account's default trunk. */
  readonly trunk?: string;
  /** Minutes from the call's own start, ascending. */
  readonly recallMin?: readonly number[];
  /** Not before this time. */
  readonly at?: number;
  readonly idempotency?: Idempotency<StartedCall>;
}

export interface StartedCall {
  readonly id: CallId;
  /** One sentence for a person; says when, if the call has to wait for the calling hours. */
  readonly message: string;
}

export interface CampaignOrder {
  readonly accountId: AccountId;
  /** Public API: the id, already checked to be owned. Admin: name, id or unique prefix. */
  readonly playbook: string;
  readonly contacts: readonly CampaignContact[];
  /** Absent: now. */
  readonly launchAt?: number;
  readonly recallMin: readonly number[];
  readonly name?: string;
  readonly trunk?: string;
  readonly maxConcurrent?: number;
  /** Check everything, store nothing. */
  readonly dryRun?: boolean;
  readonly idempotency?: Idempotency<LaunchedCampaign>;
}

export interface LaunchedCampaign {
  readonly id: CampaignId;
  readonly scheduled: boolean;
  readonly launchAt: number;
  readonly total: number;
  readonly scheduledCalls: number;
  /** Contacts whose phone is no number: stored, their call is wrong-number from the start. */
  readonly errorCalls: number;
  readonly firstCallAt: number | null;
  readonly lastCallAt: number | null;
}

export interface CallQuery {
  readonly accountId: AccountId;
  /** Both inclusive, by creation time. */
  readonly from?: number;
  readonly to?: number;
  readonly states?: readonly CallState[];
  readonly playbookId?: PlaybookId;
  readonly campaignId?: CampaignId;
  /** E.164. */
  readonly phone?: string;
  /** Exclusive position of the row before. */
  readonly before?: { readonly createdAt: number; readonly id: CallId };
  /** At most so many rows in all; absent: every match. */
  readonly limit?: number;
}

export interface Call {
  readonly id: CallId;
  readonly accountId: AccountId;
  readonly playbookId: PlaybookId;
  readonly playbookName: string;
  readonly versionId: VersionId | null;
  readonly campaignId: CampaignId | null;
  readonly to: string;
  readonly from: string;
  readonly state: CallState;
  readonly outcome: Outcome | null;
  readonly params: Readonly<Record<string, string>>;
  readonly dueAt: number | null;
  readonly attempts: number;
  readonly durationS: number;
  readonly success: boolean;
  readonly summary: string;
  readonly output: Readonly<Record<string, unknown>>;
  readonly turns: readonly Turn[];
  /** Labels of the version's playbook; absent: Assistant and Customer. */
  readonly speakers?: { readonly agent: string; readonly callee: string };
  /** Not null: there is a recording. The value never leaves the server. */
  readonly recording: string | null;
  readonly createdAt: number;
}

export interface Attempt {
  readonly n: number;
  readonly state: "claimed" | "dialing" | "answered" | "ended" | "lost";
  readonly sipCallId: string | null;
  readonly startedAt: number;
  readonly ringingAt: number | null;
  readonly answeredAt: number | null;
  readonly endedAt: number | null;
  readonly outcome: Outcome | null;
  readonly evidence: Readonly<Record<string, unknown>>;
}

export interface CallDetail {
  readonly call: Call;
  /** In order. */
  readonly attempts: readonly Attempt[];
}

/** A SIP message without credentials and media keys. */
export interface SipMessage {
  readonly n: number;
  readonly seq: number;
  readonly at: number;
  readonly direction: "sent" | "received";
  readonly transport: "udp" | "tcp" | "tls";
  readonly local: string;
  readonly remote: string;
  readonly text: string;
}

/** An open WAV file. `read` gives octets `from`..`to`, both inclusive; `close` is safe to call twice. */
export interface OpenRecording {
  readonly sizeBytes: number;
  read(from: number, to: number): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

// ── The rest of the administration ───────────────────────────────────────────────────────────────

export interface Playbook {
  readonly id: PlaybookId;
  readonly name: string;
  readonly settings: PlaybookSettings;
  /** The file as it was applied. */
  readonly source: string;
  readonly productionVersionId: VersionId | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface PlaybookVersion {
  readonly id: VersionId;
  readonly message: string;
  readonly source: string;
  readonly createdAt: number;
}

export interface PlaybookOrder {
  readonly accountId: AccountId;
  readonly source: string;
  /** Name of the file, for messages. */
  readonly file?: string;
  /** Commit message. Present: a version is made, and the first one becomes production. */
  readonly message?: string;
}

export interface AppliedPlaybook {
  readonly playbook: Playbook;
  readonly version: PlaybookVersion | null;
  readonly created: boolean;
}

export interface Trunk {
  readonly id: TrunkId;
  readonly name: string;
  readonly kind: TrunkKind;
  readonly host: string;
  /** 0: by DNS. */
  readonly port: number;
  readonly username: string | null;
  readonly callerId: string;
  readonly codecs: readonly ("PCMU" | "PCMA" | "G722")[];
  readonly maxCalls: number;
  readonly callsPerSecond: number;
  readonly isDefault: boolean;
  readonly createdAt: number;
  readonly sip: TrunkSip;
  readonly fault: TrunkFault | null;
  readonly registration: Registration | null;
}

/** Why a trunk takes no calls now. */
export interface TrunkFault {
  readonly why: string;
  /** When it is tried again by itself; null: unknown. */
  readonly until: number | null;
  /** Nothing helps but a change. */
  readonly held: boolean;
}

/** How a trunk stands at its registrar; null for one that does not register. */
export interface Registration {
  readonly type: "registering" | "registered" | "waiting" | "refused";
}

/** What is not said stays as it is; an empty text takes a setting back. */
export interface TrunkChange {
  readonly name?: string;
  readonly kind?: TrunkKind;
  readonly host?: string;
  readonly port?: number;
  readonly username?: string;
  /** Goes to the credentials file or the keyring, never into the store or a log. */
  readonly password?: string;
  /** Where a password was already put. */
  readonly passwordRef?: string;
  readonly callerId?: string;
  readonly codecs?: readonly ("PCMU" | "PCMA" | "G722")[];
  readonly maxCalls?: number;
  readonly callsPerSecond?: number;
  readonly sip?: Partial<TrunkSip>;
}

/** Host: absent for the sandbox, which has its own. */
export interface TrunkOrder extends TrunkChange {
  readonly accountId: AccountId;
  readonly name: string;
  readonly kind: TrunkKind;
  readonly makeDefault?: boolean;
}

export interface TrunkCheck {
  readonly check: "name" | "options" | "tls" | "nat" | "registration" | "calls";
  readonly result: "ok" | "failed" | "unknown";
  readonly detail: string;
  readonly advice: string | null;
}

/** A configured AI provider. */
export interface Provider {
  readonly name: string;
  readonly kind: string;
  readonly address: string;
  /** Where its key is kept; null: it wants none. */
  readonly key: string | null;
  readonly roles: readonly string[];
}

/** How a provider did in one role. */
export interface ProviderTest {
  readonly role: string;
  readonly model: string;
  readonly ok: boolean;
  readonly firstMs?: number;
  readonly totalMs?: number;
  readonly problem?: string;
}

export interface Campaign {
  readonly id: CampaignId;
  readonly playbookId: PlaybookId;
  readonly versionId: VersionId | null;
  readonly name: string;
  readonly launchAt: number;
  readonly recallMin: readonly number[];
  readonly maxConcurrent: number | null;
  readonly status: "scheduled" | "running" | "paused" | "stopped" | "done";
  readonly total: number;
  readonly createdAt: number;
  /** Calls by state; states with none are absent. */
  readonly counts: Readonly<Partial<Record<CallState, number>>>;
}

export interface DaemonStatus {
  readonly version: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly state: "running" | "draining";
  /** Where the public API listens. */
  readonly api: { readonly address: string; readonly port: number };
  readonly dataDir: string;
  readonly accounts: number;
  readonly calls: {
    /** On the line or ringing now. */
    readonly live: number;
    /** Not over yet, live ones included. */
    readonly open: number;
    readonly dueNow: number;
    readonly total: number;
  };
  /** Calls the workers could still carry. */
  readonly room: number;
  readonly nextDueAt: number | null;
  readonly trunks: readonly {
    readonly account: string;
    readonly name: string;
    readonly kind: Trunk["kind"];
    readonly isDefault: boolean;
    readonly live: number;
    readonly maxCalls: number;
    readonly fault: TrunkFault | null;
    readonly registration: Registration | null;
  }[];
}

export interface EventFilter {
  readonly accountId: AccountId;
  /** Id or unique prefix. */
  readonly call?: string;
  readonly campaign?: string;
  /** Only events after this sequence number; those still held are replayed. */
  readonly since?: number;
  /** Absent: all but passing ones. */
  readonly types?: readonly string[];
  /** False: only what is still held. */
  readonly follow?: boolean;
}

export interface FeedPosition {
  /** Another one after a restart: numbers begin anew. */
  readonly stream: string;
  /** Of the last event. */
  readonly seq: number;
}

/** One thing that happened. A reader that falls behind misses events and gets one `events-lost` with `data.count`. */
export interface LiveEvent {
  readonly seq: number;
  readonly type: string;
  readonly callId: CallId | null;
  readonly campaignId: CampaignId | null;
  readonly at: number;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Service {
  // who asks
  findToken(prefix: string): Promise<Credential | undefined>;
  findAccount(nameOrId: string): Promise<Account | undefined>;

  // calls and campaigns
  /** Of the last 24 hours. */
  findIdempotent(accountId: AccountId, key: string): Promise<StoredAnswer | undefined>;
  /** By full id; undefined for unknown and foreign alike. */
  ownsPlaybook(accountId: AccountId, playbookId: string): Promise<boolean>;
  startCall(order: CallOrder): Promise<StartedCall>;
  /** Refuses what `startCall` would refuse, and stores nothing: for dry runs. */
  checkCall(order: CallOrder): Promise<{ readonly message: string }>;
  launchCampaign(order: CampaignOrder): Promise<LaunchedCampaign>;
  /** Newest first, in pages of bounded size. */
  listCalls(query: CallQuery): AsyncIterable<readonly Call[]>;
  /** By id or unique prefix; rejects `ambiguous-id`. */
  findCall(accountId: AccountId, idOrPrefix: string): Promise<CallDetail | undefined>;
  /** Dialing, ringing or talking now. */
  listLiveCalls(accountId: AccountId): Promise<readonly Call[]>;
  /** By attempt, as they were on the wire; undefined for an unknown call. */
  listSipMessages(accountId: AccountId, callId: CallId): Promise<readonly SipMessage[] | undefined>;
  openRecording(accountId: AccountId, callId: CallId): Promise<OpenRecording | undefined>;

  // administration
  status(): Promise<DaemonStatus>;
  listAccounts(): Promise<readonly Account[]>;
  createAccount(order: { readonly name: string; readonly timezone?: string }): Promise<Account>;
  listTokens(accountId: AccountId): Promise<readonly Token[]>;
  /** Rejects `token-exists`. */
  createToken(accountId: AccountId, name: string, expiry: TokenExpiry): Promise<MintedToken>;
  revokeToken(accountId: AccountId, nameOrPrefix: string): Promise<boolean>;
  listPlaybooks(accountId: AccountId): Promise<readonly Playbook[]>;
  findPlaybook(accountId: AccountId, ref: string): Promise<Playbook | undefined>;
  /** Rejected input says where in the file. */
  applyPlaybook(order: PlaybookOrder): Promise<Decoded<AppliedPlaybook>>;
  /** What is wrong with a file, by its place in it; stores nothing. */
  lintPlaybook(order: {
    readonly source: string;
    readonly params?: readonly string[];
  }): Promise<readonly Finding[]>;
  /** Newest first; rejects `playbook-not-found`. */
  listVersions(accountId: AccountId, ref: string): Promise<readonly PlaybookVersion[]>;
  /** Rejects `playbook-not-found` and `version-not-found`. */
  promoteVersion(accountId: AccountId, ref: string, version: string): Promise<Playbook>;
  listTrunks(accountId: AccountId): Promise<readonly Trunk[]>;
  findTrunk(accountId: AccountId, ref: string): Promise<Trunk | undefined>;
  createTrunk(order: TrunkOrder): Promise<Trunk>;
  /** Rejects `trunk-not-found` and what a new one is refused for. */
  editTrunk(accountId: AccountId, ref: string, change: TrunkChange): Promise<Trunk>;
  /** Rejects `trunk-not-found`. */
  checkTrunk(accountId: AccountId, ref: string): Promise<readonly TrunkCheck[]>;
  removeTrunk(accountId: AccountId, ref: string): Promise<boolean>;
  /** Rejects `trunk-not-found`. */
  setDefaultTrunk(accountId: AccountId, ref: string): Promise<Trunk>;
  listProviders(): Promise<readonly Provider[]>;
  /** Rejects `provider-unknown`, `provider-unused` and `secret-unusable`. */
  testProvider(name: string, signal: AbortSignal): Promise<readonly ProviderTest[]>;
  listCampaigns(accountId: AccountId): Promise<readonly Campaign[]>;
  findCampaign(accountId: AccountId, idOrPrefix: string): Promise<Campaign | undefined>;
  /** Rejects `campaign-not-found` and `wrong-state`. */
  steerCampaign(
    accountId: AccountId,
    idOrPrefix: string,
    act: "pause" | "resume" | "stop",
  ): Promise<Campaign>;
  /** Ends a live call or cancels a waiting one. Rejects `call-not-found` and `wrong-state`. */
  hangUpCall(accountId: AccountId, idOrPrefix: string): Promise<CallDetail>;
  /** Rejects `call-not-found` and `wrong-state` (not manual). */
  resolveCall(
    accountId: AccountId,
    idOrPrefix: string,
    decision: { readonly as: "closed" | "failed"; readonly note: string },
  ): Promise<CallDetail>;
  /** Rejects `call-not-found` and `campaign-not-found`. Ends when the signal fires or the daemon stops. */
  events(filter: EventFilter, signal: AbortSignal): AsyncIterable<LiveEvent>;
  feedPosition(): FeedPosition;
  /** Stops dialling at once and resolves then; the daemon ends when its calls have, or after `drainMs`. */
  stop(drainMs: number): Promise<void>;
}
