import { q850Text, sinceDial } from "./call-times.ts";
import { plainValue, type Row } from "./fields.ts";

export interface Column {
  /** Name in `--fields`, JSON, CSV. */
  readonly field: string;
  /** Heading of the table. */
  readonly header: string;
  /** Where the value is, when not under `field` itself. */
  readonly path?: string;
  readonly kind?: "time" | "number" | "duration" | "id";
  /** Only in `wide` and in the machine formats. */
  readonly wide?: true;
  /** May be cut to the terminal's width. */
  readonly cut?: true;
  /** For people: table and record view. */
  readonly show?: (value: unknown, row: Row) => string;
}

/** How records of one kind are printed. */
export interface View {
  /** The field `-q` prints. */
  readonly id: string;
  readonly columns: readonly Column[];
  /** Further fields that may be asked for. */
  readonly fields: readonly string[];
  /** Objects that may be read into: `params.course`. */
  readonly open: readonly { readonly prefix: string; readonly path: string }[];
}

const call: View = {
  id: "id",
  columns: [
    { field: "id", header: "ID", kind: "id" },
    { field: "created_time", header: "CREATED", kind: "time" },
    { field: "to", header: "TO" },
    { field: "from", header: "FROM", wide: true },
    { field: "status", header: "STATUS", show: (value, row) => plainValue(row["status_label"] ?? value) },
    { field: "duration", header: "TIME", kind: "duration" },
    { field: "success", header: "OK" },
    { field: "attempts", header: "TRIES", kind: "number", wide: true, show: attemptCount },
    { field: "campaign_id", header: "CAMPAIGN", wide: true, kind: "id" },
    { field: "assistant_id", header: "PLAYBOOK", wide: true, kind: "id" },
    { field: "summary", header: "SUMMARY", cut: true },
  ],
  fields: [
    "timestamp",
    "status_label",
    "recording",
    "recording_url",
    "transcript",
    "output",
    "data",
    "outcome",
    "playbook_id",
    "playbook_name",
    "version_id",
  ],
  open: [
    { prefix: "params", path: "data.params" },
    { prefix: "data", path: "data" },
    { prefix: "output", path: "output" },
    { prefix: "outcome", path: "outcome" },
  ],
};

/** A call by itself: with the moments of its last attempt, as time after the dial for people. */
const callDetail: View = {
  ...call,
  columns: [
    ...call.columns,
    { field: "dialled_at", header: "DIALLED", kind: "time" },
    { field: "first_ring_at", header: "RING", kind: "time", show: sinceDial },
    { field: "early_media_at", header: "EARLY MEDIA", kind: "time", show: sinceDial },
    { field: "answered_at", header: "ANSWER", kind: "time", show: sinceDial },
    { field: "ended_at", header: "END", kind: "time", show: sinceDial },
    { field: "ended_by", header: "ENDED BY" },
    { field: "sip_status", header: "SIP STATUS", kind: "number" },
    { field: "q850", header: "Q.850", kind: "number", show: q850Text },
  ],
};

const campaign: View = {
  id: "id",
  columns: [
    { field: "id", header: "ID", kind: "id" },
    { field: "name", header: "NAME" },
    { field: "status", header: "STATUS" },
    { field: "total", header: "CALLS", kind: "number" },
    { field: "launch_at", header: "LAUNCH", kind: "time" },
    { field: "created_at", header: "CREATED", kind: "time", wide: true },
    { field: "playbook_id", header: "PLAYBOOK", wide: true, kind: "id" },
    { field: "counts", header: "CALLS BY STATE", cut: true, show: countsText },
  ],
  fields: ["recall", "max_concurrent", "version_id", "trunk_id", "campaign_id"],
  open: [{ prefix: "counts", path: "counts" }],
};

const playbook: View = {
  id: "id",
  columns: [
    { field: "id", header: "ID", kind: "id" },
    { field: "name", header: "NAME" },
    { field: "language", header: "LANGUAGE" },
    { field: "production_version_id", header: "PRODUCTION", kind: "id" },
    { field: "updated_at", header: "UPDATED", kind: "time" },
    { field: "created_at", header: "CREATED", kind: "time", wide: true },
  ],
  fields: ["settings", "source"],
  open: [{ prefix: "settings", path: "settings" }],
};

const version: View = {
  id: "id",
  columns: [
    { field: "id", header: "ID", kind: "id" },
    { field: "production", header: "PRODUCTION" },
    { field: "created_at", header: "CREATED", kind: "time" },
    { field: "message", header: "MESSAGE", cut: true },
  ],
  fields: ["playbook_id", "source"],
  open: [],
};

const trunk: View = {
  id: "id",
  columns: [
    { field: "name", header: "NAME" },
    { field: "kind", header: "KIND" },
    { field: "host", header: "HOST" },
    { field: "port", header: "PORT", kind: "number", show: portText },
    { field: "transport", header: "OVER" },
    { field: "default", header: "DEFAULT" },
    { field: "caller_id", header: "CALLER ID" },
    { field: "max_calls", header: "MAX CALLS", kind: "number" },
    { field: "registration", header: "REGISTRATION" },
    { field: "health", header: "HEALTH" },
    { field: "health_reason", header: "WHY", cut: true },
    { field: "retry_at", header: "AGAIN", wide: true, kind: "time" },
    { field: "id", header: "ID", wide: true, kind: "id" },
    { field: "username", header: "USER", wide: true },
    { field: "codecs", header: "CODECS", wide: true, show: listText },
    { field: "calls_per_second", header: "CALLS/S", kind: "number", wide: true },
    { field: "priority", header: "PRIORITY", kind: "number", wide: true },
    { field: "srtp", header: "SRTP", wide: true },
    { field: "domain", header: "DOMAIN", wide: true },
    { field: "outbound_proxy", header: "PROXY", wide: true },
    { field: "number_format", header: "DIALS", wide: true },
    { field: "caller_id_header", header: "CALLER ID IN", wide: true },
    { field: "created_at", header: "CREATED", kind: "time", wide: true },
  ],
  fields: [
    "from_user",
    "display_name",
    "privacy",
    "headers",
    "register_expires_s",
    "allow_transfer",
    "ca_certificate",
  ],
  open: [{ prefix: "headers", path: "headers" }],
};

const trunkCheck: View = {
  id: "check",
  columns: [
    { field: "check", header: "CHECK" },
    { field: "result", header: "RESULT" },
    { field: "detail", header: "FOUND", cut: true },
  ],
  fields: ["advice"],
  open: [],
};

const check: View = {
  id: "check",
  columns: [
    { field: "state", header: "STATE" },
    { field: "check", header: "CHECK" },
    { field: "finding", header: "FINDING", cut: true },
    { field: "fix", header: "FIX", cut: true },
  ],
  fields: [],
  open: [],
};

const finding: View = {
  id: "where",
  columns: [
    { field: "severity", header: "SEVERITY" },
    { field: "line", header: "LINE", kind: "number" },
    { field: "column", header: "COLUMN", kind: "number" },
    { field: "where", header: "WHERE" },
    { field: "message", header: "MESSAGE", cut: true },
    { field: "file", header: "FILE", wide: true },
  ],
  fields: [],
  open: [],
};

const provider: View = {
  id: "name",
  columns: [
    { field: "name", header: "NAME" },
    { field: "kind", header: "KIND" },
    { field: "address", header: "ADDRESS" },
    { field: "roles", header: "DOES", show: listText },
    { field: "key", header: "KEY", cut: true },
  ],
  fields: [],
  open: [],
};

const providerCheck: View = {
  id: "role",
  columns: [
    { field: "role", header: "ROLE" },
    { field: "model", header: "MODEL" },
    { field: "ok", header: "OK" },
    { field: "first_ms", header: "FIRST MS" },
    { field: "total_ms", header: "TOTAL MS" },
    { field: "problem", header: "PROBLEM", cut: true },
  ],
  fields: [],
  open: [],
};

const account: View = {
  id: "id",
  columns: [
    { field: "name", header: "NAME" },
    { field: "timezone", header: "TIME ZONE" },
    { field: "id", header: "ID", kind: "id" },
    { field: "created_at", header: "CREATED", kind: "time" },
  ],
  fields: [],
  open: [],
};

const token: View = {
  id: "name",
  columns: [
    { field: "name", header: "NAME" },
    { field: "token", header: "TOKEN" },
    { field: "status", header: "STATUS" },
    { field: "expires_at", header: "EXPIRES", kind: "time" },
    { field: "created_at", header: "CREATED", kind: "time", wide: true },
  ],
  fields: [],
  open: [],
};

const sandboxNumber: View = {
  id: "number",
  columns: [
    { field: "number", header: "NUMBER" },
    { field: "behaviour", header: "WHAT HAPPENS", cut: true },
  ],
  fields: [],
  open: [],
};

const profile: View = {
  id: "profile",
  columns: [
    { field: "profile", header: "PROFILE" },
    { field: "host", header: "HOST" },
    { field: "token", header: "TOKEN" },
    { field: "kept_in", header: "KEPT IN", cut: true },
  ],
  fields: [],
  open: [],
};

const status: View = {
  id: "state",
  columns: [{ field: "state", header: "STATE" }],
  fields: [],
  open: [],
};

/** Every kind of record the CLI prints. */
export const views = {
  call,
  callDetail,
  check,
  finding,
  campaign,
  playbook,
  version,
  trunk,
  trunkCheck,
  provider,
  providerCheck,
  account,
  token,
  sandboxNumber,
  profile,
  status,
} as const satisfies Readonly<Record<string, View>>;

export type ViewName = keyof typeof views;

function attemptCount(value: unknown): string {
  return Array.isArray(value) ? String(value.length) : plainValue(value);
}

function portText(value: unknown): string {
  return value === 0 ? "by DNS" : plainValue(value);
}

function listText(value: unknown): string {
  return Array.isArray(value) ? value.join(", ") : plainValue(value);
}

function countsText(value: unknown): string {
  if (typeof value !== "object" || value === null) return "";
  return Object.entries(value)
    .map(([state, count]) => `${String(count)} ${state}`)
    .join(", ");
}
