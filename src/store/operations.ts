import { createAccount, findAccount, listAccounts } from "./accounts.ts";
import {
  endAttempt,
  keepRecording,
  listAttempts,
  markAnswered,
  markRinging,
  saveDialog,
  startDial,
  unclaimCall,
} from "./attempts.ts";
import { listCalls } from "./call-list.ts";
import { cancelCall, findCall, insertCall, insertCalls, resolveCall } from "./calls.ts";
import { beginImport, cancelStoppedChunk, dropImportChunk, finishImport } from "./campaign-import.ts";
import { findCampaign, getCampaign, listCampaigns, stepCampaign } from "./campaigns.ts";
import { claimDue } from "./claim.ts";
import { upsertContacts } from "./contacts.ts";
import type { Store } from "./contract.ts";
import { findIdempotent } from "./idempotency.ts";
import {
  applyPlaybook,
  findPlaybook,
  findPlaybookById,
  findVersion,
  listPlaybooks,
  listVersions,
  promoteVersion,
} from "./playbooks.ts";
import { recover } from "./recover.ts";
import type { CampaignRow, ContactFields, IdempotencyEntry, NewCall } from "./rows.ts";
import type { Db } from "./schema.ts";
import { listSipMessages, saveSipMessages } from "./sip-traces.ts";
import { stats } from "./stats.ts";
import { isSuppressed, suppress } from "./suppressions.ts";
import { createToken, findToken, listTokens, revokeToken } from "./tokens.ts";
import {
  createTrunk,
  findTrunk,
  listTrunks,
  removeTrunk,
  setDefaultTrunk,
  updateTrunk,
  updateTrunkAddress,
} from "./trunks.ts";

/** `dial` writes go first, then other writes, then reads; of `bulk` writes one at a time, when there is nothing else. */
export type Urgency = "dial" | "write" | "bulk" | "read";

export interface Operation<Args extends readonly unknown[], Result> {
  readonly urgency: Urgency;
  run(db: Db, args: Args): Promise<Result>;
}

/** What the Store does in one piece: these cross the thread as they are. */
type WholeName = Exclude<keyof Store, "close" | "insertCampaign" | "setCampaignStatus" | "stats">;

/** What the rest of the Store is made of. */
interface Parts {
  stepCampaign(
    id: string,
    to: "running" | "paused" | "stopped",
    now: number,
  ): Promise<CampaignRow | undefined>;
  cancelStoppedChunk(id: string): Promise<boolean>;
  getCampaign(id: string): Promise<CampaignRow | undefined>;
  beginImport(
    campaign: Omit<CampaignRow, "counts">,
    idempotency: IdempotencyEntry | undefined,
  ): Promise<void>;
  importContacts(accountId: string, contacts: readonly ContactFields[], now: number): Promise<void>;
  importCalls(calls: readonly NewCall[]): Promise<void>;
  finishImport(id: string, status: CampaignRow["status"]): Promise<void>;
  dropImportChunk(id: string): Promise<boolean>;
  statsAt(now: number): ReturnType<Store["stats"]>;
}

export type Requests = Pick<Store, WholeName> & Parts;

export type RequestName = keyof Requests;

/** Asks for one operation, in this thread or another. */
export type Invoke = <Name extends RequestName>(
  name: Name,
  args: Parameters<Requests[Name]>,
) => Promise<Answer<Name>>;

export type Answer<Name extends RequestName> = Awaited<ReturnType<Requests[Name]>>;

type Operations = {
  readonly [Name in RequestName]: Operation<Parameters<Requests[Name]>, Answer<Name>>;
};

export const operations: Operations = {
  createAccount: write((db, [account]) => createAccount(db, account)),
  listAccounts: read((db) => listAccounts(db)),
  findAccount: read((db, [nameOrId]) => findAccount(db, nameOrId)),
  createToken: write((db, [token]) => createToken(db, token)),
  listTokens: read((db, [accountId]) => listTokens(db, accountId)),
  findToken: read((db, [prefix]) => findToken(db, prefix)),
  revokeToken: write((db, [accountId, nameOrPrefix]) => revokeToken(db, accountId, nameOrPrefix)),
  applyPlaybook: write((db, [playbook, version]) => applyPlaybook(db, playbook, version)),
  listPlaybooks: read((db, [accountId]) => listPlaybooks(db, accountId)),
  findPlaybook: read((db, [accountId, nameOrId]) => findPlaybook(db, accountId, nameOrId)),
  findPlaybookById: read((db, [id]) => findPlaybookById(db, id)),
  listVersions: read((db, [playbookId]) => listVersions(db, playbookId)),
  findVersion: read((db, [playbookId, idOrPrefix]) => findVersion(db, playbookId, idOrPrefix)),
  promoteVersion: write((db, [playbookId, versionId]) => promoteVersion(db, playbookId, versionId)),
  createTrunk: write((db, [trunk]) => createTrunk(db, trunk)),
  listTrunks: read((db, [accountId]) => listTrunks(db, accountId)),
  findTrunk: read((db, [accountId, nameOrId]) => findTrunk(db, accountId, nameOrId)),
  removeTrunk: write((db, [accountId, name]) => removeTrunk(db, accountId, name)),
  setDefaultTrunk: write((db, [accountId, name]) => setDefaultTrunk(db, accountId, name)),
  updateTrunk: write((db, [trunk]) => updateTrunk(db, trunk)),
  updateTrunkAddress: write((db, [trunkId, host, port]) => updateTrunkAddress(db, trunkId, host, port)),
  isSuppressed: read((db, [accountId, phone]) => isSuppressed(db, accountId, phone)),
  suppress: write((db, [accountId, phone, reason, now]) => suppress(db, { accountId, phone, reason, now })),
  insertCall: write((db, [call, idempotency]) => insertCall(db, call, idempotency)),
  findIdempotent: read((db, [accountId, key, now]) => findIdempotent(db, accountId, key, now)),
  listCampaigns: read((db, [accountId]) => listCampaigns(db, accountId)),
  findCampaign: read((db, [accountId, idOrPrefix]) => findCampaign(db, accountId, idOrPrefix)),
  listCalls: read((db, [filter]) => listCalls(db, filter)),
  findCall: read((db, [accountId, idOrPrefix]) => findCall(db, accountId, idOrPrefix)),
  listAttempts: read((db, [callId]) => listAttempts(db, callId)),
  saveSipMessages: write((db, [callId, n, messages]) => saveSipMessages(db, { callId, n }, messages)),
  listSipMessages: read((db, [callId]) => listSipMessages(db, callId)),
  resolveCall: write((db, [accountId, id, to, note]) => resolveCall(db, { accountId, id }, to, note)),
  cancelCall: write((db, [accountId, id]) => cancelCall(db, accountId, id)),
  unclaimCall: dial((db, [callId, n, dueAt]) => unclaimCall(db, { callId, n }, dueAt)),
  claimDue: dial((db, [request]) => claimDue(db, request)),
  startDial: dial((db, [callId, n, owner, sipCallId, dialog, now]) =>
    startDial(db, { callId, n }, { owner, sipCallId, dialog, now }),
  ),
  saveDialog: dial((db, [callId, n, dialog]) => saveDialog(db, { callId, n }, dialog)),
  markRinging: dial((db, [callId, n, now]) => markRinging(db, { callId, n }, now)),
  markAnswered: dial((db, [callId, n, dialog, now]) => markAnswered(db, { callId, n }, dialog, now)),
  endAttempt: dial((db, [end]) => endAttempt(db, end)),
  keepRecording: write((db, [callId, n, fileName, durationS]) =>
    keepRecording(db, { callId, n }, fileName, durationS),
  ),
  recover: dial((db, [_owner, now]) => recover(db, now)),
  stepCampaign: write((db, [id, to, now]) => stepCampaign(db, id, to, now)),
  cancelStoppedChunk: bulk((db, [id]) => cancelStoppedChunk(db, id)),
  getCampaign: read((db, [id]) => getCampaign(db, id)),
  beginImport: write((db, [campaign, idempotency]) => beginImport(db, campaign, idempotency)),
  importContacts: bulk((db, [accountId, contacts, now]) => upsertContacts(db, accountId, contacts, now)),
  importCalls: bulk((db, [calls]) => insertCalls(db, calls)),
  finishImport: write((db, [id, status]) => finishImport(db, id, status)),
  dropImportChunk: bulk((db, [id]) => dropImportChunk(db, id)),
  statsAt: read((db, [now]) => stats(db, now)),
};

type Run<Args extends readonly unknown[], Result> = (db: Db, args: Args) => Promise<Result>;

function dial<Args extends readonly unknown[], Result>(run: Run<Args, Result>): Operation<Args, Result> {
  return { urgency: "dial", run };
}

function write<Args extends readonly unknown[], Result>(run: Run<Args, Result>): Operation<Args, Result> {
  return { urgency: "write", run };
}

function bulk<Args extends readonly unknown[], Result>(run: Run<Args, Result>): Operation<Args, Result> {
  return { urgency: "bulk", run };
}

function read<Args extends readonly unknown[], Result>(run: Run<Args, Result>): Operation<Args, Result> {
  return { urgency: "read", run };
}
