import { tokenExpiries } from "#domain";
import { Type, type Static } from "typebox";
import { trunkHealth } from "./admin-trunks.ts";

const time = Type.String({ description: "ISO 8601, UTC" });
const nullableText = Type.Union([Type.String(), Type.Null()]);
const strict = { additionalProperties: false } as const;

// ── Daemon ───────────────────────────────────────────────────────────────────────────────────────

export const statusView = Type.Object({
  version: Type.String(),
  pid: Type.Integer(),
  started_at: time,
  state: Type.Enum(["running", "draining"]),
  api: Type.Object({ address: Type.String(), port: Type.Integer(), url: Type.String() }),
  data_dir: Type.String(),
  accounts: Type.Integer(),
  calls: Type.Object({
    live: Type.Integer(),
    open: Type.Integer(),
    due_now: Type.Integer(),
    total: Type.Integer(),
  }),
  room: Type.Integer({ description: "Calls the workers could still carry" }),
  next_due_at: Type.Union([time, Type.Null()]),
  trunks: Type.Array(
    Type.Object({
      account: Type.String(),
      name: Type.String(),
      kind: Type.String(),
      default: Type.Boolean(),
      live: Type.Integer(),
      max_calls: Type.Integer(),
      ...trunkHealth,
    }),
  ),
});
export type StatusView = Static<typeof statusView>;

export const stopBody = Type.Object({ drain_ms: Type.Optional(Type.Integer({ minimum: 0 })) }, strict);
export type StopBody = Static<typeof stopBody>;
export const stopView = Type.Object({ stopping: Type.Boolean(), drain_ms: Type.Integer() });
export type StopView = Static<typeof stopView>;

// ── Accounts and tokens ──────────────────────────────────────────────────────────────────────────

export const accountView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  timezone: Type.String(),
  created_at: time,
});
export type AccountView = Static<typeof accountView>;

const name = Type.String({ minLength: 1, maxLength: 100 });

export const accountBody = Type.Object(
  { name, timezone: Type.Optional(Type.String({ minLength: 1 })) },
  strict,
);
export type AccountBody = Static<typeof accountBody>;

export const tokenView = Type.Object({
  name: Type.String(),
  token: Type.String({ description: "First 24 characters and a mask" }),
  created_at: time,
  expires_at: time,
  status: Type.Enum(["Active", "Expired"]),
});
export type TokenView = Static<typeof tokenView>;

export const tokenBody = Type.Object({ name, expires: Type.Enum([...tokenExpiries]) }, strict);
export type TokenBody = Static<typeof tokenBody>;

export const mintedToken = Type.Object({
  name: Type.String(),
  token: Type.String({ description: "The whole token; it is shown this once" }),
  created_at: time,
  expires_at: time,
});
export type MintedTokenView = Static<typeof mintedToken>;

// ── Playbooks ────────────────────────────────────────────────────────────────────────────────────

const playbookFields = {
  id: Type.String(),
  name: Type.String(),
  language: Type.String(),
  production_version_id: nullableText,
  created_at: time,
  updated_at: time,
} as const;

export const playbookView = Type.Object(playbookFields);
export type PlaybookView = Static<typeof playbookView>;

export const playbookDetail = Type.Object({
  ...playbookFields,
  source: Type.String(),
  settings: Type.Record(Type.String(), Type.Unknown()),
});
export type PlaybookDetail = Static<typeof playbookDetail>;

export const applyBody = Type.Object(
  {
    source: Type.String({ minLength: 1 }),
    file: Type.Optional(Type.String()),
    message: Type.Optional(Type.String({ minLength: 1, description: "Commit message: makes a version" })),
  },
  strict,
);
export type ApplyBody = Static<typeof applyBody>;

export const versionView = Type.Object({
  id: Type.String(),
  message: Type.String(),
  created_at: time,
  production: Type.Boolean(),
  source: Type.String(),
});
export type VersionView = Static<typeof versionView>;

export const appliedView = Type.Object({
  created: Type.Boolean(),
  playbook: playbookView,
  version: Type.Union([versionView, Type.Null()]),
});
export type AppliedView = Static<typeof appliedView>;

export const lintBody = Type.Object(
  {
    source: Type.String(),
    params: Type.Optional(
      Type.Array(Type.String(), {
        description: "Names of values that calls will bring: no warning about these",
      }),
    ),
  },
  strict,
);
export type LintBody = Static<typeof lintBody>;

export const findingView = Type.Object({
  severity: Type.Enum(["error", "warning"]),
  where: Type.String({ description: "Path of the field, or empty" }),
  message: Type.String(),
  line: Type.Optional(Type.Integer()),
  column: Type.Optional(Type.Integer()),
});
export type FindingView = Static<typeof findingView>;

export const promoteBody = Type.Object({ version: Type.String({ minLength: 4 }) }, strict);
export type PromoteBody = Static<typeof promoteBody>;
