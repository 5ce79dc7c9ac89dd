import { callerIdHeaders, trunkKinds, trunkTransports } from "#domain";
import { Type, type Static } from "typebox";

const time = Type.String({ description: "ISO 8601, UTC" });
const nullableText = Type.Union([Type.String(), Type.Null()]);
const strict = { additionalProperties: false } as const;
const name = Type.String({ minLength: 1, maxLength: 100 });
const codecs = Type.Array(Type.Enum(["PCMU", "PCMA", "G722"]), { minItems: 1 });
const headers = Type.Record(Type.String(), Type.String());

/** Whether a trunk takes calls now. */
export const trunkHealth = {
  health: Type.Enum(["ready", "waiting", "held"], {
    description: "waiting: tried again by itself; held: something has to be changed",
  }),
  health_reason: Type.Union([Type.String(), Type.Null()], { description: "Why it takes no calls now" }),
  retry_at: Type.Union([time, Type.Null()]),
  registration: Type.Union([Type.Enum(["registering", "registered", "waiting", "refused"]), Type.Null()]),
} as const;

export const trunkView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  kind: Type.Enum([...trunkKinds]),
  host: Type.String(),
  port: Type.Integer({ description: "0: by DNS" }),
  username: nullableText,
  caller_id: Type.String(),
  codecs,
  max_calls: Type.Integer(),
  calls_per_second: Type.Number(),
  default: Type.Boolean(),
  transport: Type.Enum([...trunkTransports]),
  domain: nullableText,
  outbound_proxy: nullableText,
  register_expires_s: Type.Integer(),
  srtp: Type.Enum(["off", "required"]),
  from_user: nullableText,
  number_format: nullableText,
  caller_id_header: Type.Enum([...callerIdHeaders]),
  display_name: nullableText,
  privacy: Type.Boolean(),
  headers,
  priority: Type.Integer(),
  allow_transfer: Type.Boolean(),
  ca_certificate: nullableText,
  ...trunkHealth,
  created_at: time,
});
export type TrunkView = Static<typeof trunkView>;

/** Null takes a setting back. */
const settings = {
  host: Type.Optional(Type.String({ minLength: 1 })),
  port: Type.Optional(Type.Integer({ minimum: 0, maximum: 65_535, description: "0: by DNS" })),
  username: Type.Optional(nullableText),
  password: Type.Optional(
    Type.String({ minLength: 1, description: "Kept with the credentials, not in the store" }),
  ),
  password_ref: Type.Optional(Type.String({ minLength: 1, description: "Where the password already is" })),
  caller_id: Type.Optional(nullableText),
  codecs: Type.Optional(codecs),
  max_calls: Type.Optional(Type.Integer({ minimum: 1 })),
  calls_per_second: Type.Optional(Type.Number({ exclusiveMinimum: 0 })),
  transport: Type.Optional(Type.Enum([...trunkTransports])),
  domain: Type.Optional(nullableText),
  outbound_proxy: Type.Optional(nullableText),
  register_expires_s: Type.Optional(Type.Integer({ minimum: 60, maximum: 86_400 })),
  srtp: Type.Optional(Type.Enum(["off", "required"])),
  from_user: Type.Optional(nullableText),
  number_format: Type.Optional(nullableText),
  caller_id_header: Type.Optional(Type.Enum([...callerIdHeaders])),
  display_name: Type.Optional(nullableText),
  privacy: Type.Optional(Type.Boolean()),
  headers: Type.Optional(headers),
  priority: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000 })),
  allow_transfer: Type.Optional(Type.Boolean()),
  ca_certificate: Type.Optional(nullableText),
} as const;

export const trunkBody = Type.Object(
  { name, kind: Type.Enum([...trunkKinds]), ...settings, default: Type.Optional(Type.Boolean()) },
  strict,
);
export type TrunkBody = Static<typeof trunkBody>;

export const trunkChange = Type.Object(
  { name: Type.Optional(name), kind: Type.Optional(Type.Enum(["ip", "digest", "register"])), ...settings },
  strict,
);
export type TrunkChange = Static<typeof trunkChange>;

export const trunkTest = Type.Object({
  ok: Type.Boolean(),
  checks: Type.Array(
    Type.Object({
      check: Type.Enum(["name", "options", "tls", "nat", "registration", "calls"]),
      result: Type.Enum(["ok", "failed", "unknown"]),
      detail: Type.String(),
      advice: nullableText,
    }),
  ),
});
export type TrunkTest = Static<typeof trunkTest>;
