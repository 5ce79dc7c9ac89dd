import type { CallState } from "#domain";
import type { Generated, Kysely } from "kysely";
import type { AttemptRow, CampaignRow, SipMessageRow, TrunkRow } from "./rows.ts";

/*
 * The tables, in types that every SQL database has: ids and JSON are text, times whole milliseconds,
 * booleans 0 or 1. "No such thing" in a key is the empty text, because nulls are never equal.
 */

export type Db = Kysely<Tables>;

export interface Tables {
  readonly accounts: { id: string; name: string; timezone: string; created_at: number };
  readonly tokens: {
    id: string;
    account_id: string;
    name: string;
    prefix: string;
    secret_hash: string;
    created_at: number;
    expires_at: number;
  };
  readonly playbooks: {
    id: string;
    account_id: string;
    name: string;
    settings: string;
    source: string;
    production_version_id: string | null;
    created_at: number;
    updated_at: number;
  };
  readonly versions: {
    id: string;
    playbook_id: string;
    message: string;
    settings: string;
    source: string;
    created_at: number;
  };
  readonly trunks: {
    id: string;
    account_id: string;
    name: string;
    kind: TrunkRow["kind"];
    host: string;
    port: number;
    username: string | null;
    password_ref: string | null;
    caller_id: string;
    codecs: string;
    max_calls: number;
    calls_per_second: number;
    is_default: number;
    created_at: number;
    sip: string;
  };
  readonly contacts: {
    id: string;
    account_id: string;
    phone: string;
    fields: string;
    custom_fields: string;
    created_at: number;
    updated_at: number;
  };
  readonly suppressions: { account_id: string; phone: string; reason: string; created_at: number };
  readonly idempotency: {
    account_id: string;
    key: string;
    body_hash: string;
    status: number;
    answer: string;
    /** Whose import must be complete before the answer counts; empty when there is none. */
    campaign_id: string;
    created_at: number;
  };
  readonly campaigns: CampaignsTable;
  readonly call_counts: { campaign_id: string; state: CallState; n: number };
  readonly lanes: { id: Generated<number>; account_id: string; campaign_id: string; trunk_id: string };
  readonly calls: CallsTable;
  readonly attempts: AttemptsTable;
  readonly sip_traces: {
    call_id: string;
    n: number;
    seq: number;
    at: number;
    direction: SipMessageRow["direction"];
    transport: SipMessageRow["transport"];
    local: string;
    remote: string;
    message: string;
    size_bytes: number;
  };
}

interface CampaignsTable {
  id: string;
  account_id: string;
  playbook_id: string;
  version_id: string | null;
  name: string;
  launch_at: number;
  recall_min: string;
  max_concurrent: number | null;
  trunk_id: string | null;
  /** `importing`: its calls are still coming in, nobody may see it. */
  status: CampaignRow["status"] | "importing";
  total: number;
  created_at: number;
}

interface CallsTable {
  id: string;
  account_id: string;
  playbook_id: string;
  version_id: string | null;
  campaign_id: string | null;
  contact_id: string | null;
  trunk_id: string | null;
  /** The queue it waits in: one for each account, campaign and trunk. */
  lane_id: number;
  to_number: string;
  from_number: string;
  state: CallState;
  outcome: string | null;
  params: string;
  options: string;
  recall_min: string;
  timezone: string | null;
  recall_from: number;
  /** When to dial next; null while it is under way and when it is over. */
  due_at: number | null;
  attempts: number;
  duration_s: number;
  success: number;
  summary: string;
  output: string;
  turns: string;
  recording: string | null;
  created_at: number;
}

interface AttemptsTable {
  call_id: string;
  n: number;
  state: AttemptRow["state"];
  owner: string;
  sip_call_id: string | null;
  dialog: string | null;
  started_at: number;
  ringing_at: number | null;
  answered_at: number | null;
  ended_at: number | null;
  outcome: string | null;
  recording: string | null;
  evidence: string;
}
