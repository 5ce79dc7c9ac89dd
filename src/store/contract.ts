import type { AccountId, CallId, CampaignId, PlaybookId, TrunkId, VersionId } from "#base";
import type {
  Account,
  TokenRow,
  PlaybookRow,
  VersionRow,
  TrunkRow,
  CampaignRow,
  CallRow,
  AttemptRow,
  NewCall,
  SipMessageRow,
  ContactFields,
  CallFilter,
  ClaimedCall,
  ClaimRequest,
  AttemptEnd,
  SavedDialog,
  IdempotencyEntry,
} from "./rows.ts";

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
  stats(): Promise<{ readonly open: number; readonly dueNow: number; readonly calls: number }>;
  close(): Promise<void>;
}
