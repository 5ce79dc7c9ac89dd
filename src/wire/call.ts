import { listStatuses } from "#domain";
import { Type, type Static } from "typebox";

const voiceIds = ["1", "2", "3", "4", "5", "6", "7"] as const;

/** Fields of `POST /call` that are not custom parameters. */
export const callBodyFields = {
  phone: Type.String({ minLength: 1, description: "Number to call, with country prefix" }),
  playbook_id: Type.String({ minLength: 1, description: "Playbook to use" }),
  version_id: Type.Optional(
    Type.String({ description: "A version of the playbook; otherwise the production version is used" }),
  ),
  voice_id: Type.Optional(Type.Enum([...voiceIds], { description: "Default 6" })),
  voice_model: Type.Optional(Type.Enum(["fast", "human"], { description: "Default human" })),
  language: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z]{2,3}([-_][A-Za-z0-9]{1,8})*$",
      description: "Language code such as ES, EN, FR or pt-BR. Default ES",
    }),
  ),
  interrupt: Type.Optional(
    Type.Boolean({ description: "Whether the called person can interrupt the agent. Default false" }),
  ),
} as const;

export const callBody = Type.Object(callBodyFields, {
  additionalProperties: Type.String({ description: "Custom parameter, kept in data.params" }),
});
/** Custom parameters are further string fields. */
export type CallBody = Static<typeof callBody>;

export const startedCall = Type.Object({
  id: Type.String({ format: "uuid" }),
  success: Type.Boolean(),
  message: Type.String(),
});
export type StartedCallBody = Static<typeof startedCall>;

const outcomeView = Type.Object({
  state: Type.String({ description: "The exact state, in our own words" }),
  cause: Type.Union([Type.String(), Type.Null()]),
  sip_status: Type.Optional(Type.Integer()),
  sip_reason: Type.Optional(Type.String()),
  q850: Type.Optional(Type.Integer()),
  hung_up_by: Type.Optional(Type.String()),
  detail: Type.Optional(Type.String()),
});
export type OutcomeView = Static<typeof outcomeView>;

const shared = {
  id: Type.String({ format: "uuid" }),
  created_time: Type.String({ description: "YYYY-MM-DD HH:mm:ss, UTC" }),
  timestamp: Type.Integer({ description: "Creation time, Unix milliseconds" }),
  assistant_id: Type.String(),
  from: Type.String(),
  to: Type.String(),
  status: Type.String(),
  duration: Type.Integer({ description: "Seconds of conversation" }),
  transcript: Type.String({ description: "HTML: <b>[Speaker]</b> labels, turns separated by <br><br>" }),
  success: Type.Boolean(),
  summary: Type.String(),
  output: Type.Record(Type.String(), Type.Unknown()),
  outcome: outcomeView,
  campaign_id: Type.Union([Type.String(), Type.Null()]),
} as const;

export const listedCall = Type.Object({
  ...shared,
  recording: Type.String({ description: "URL, or empty" }),
  data: Type.Object({ params: Type.Record(Type.String(), Type.String()) }),
  attempts: Type.Integer(),
});
/** A call as `GET /calls` gives it. */
export type ListedCall = Static<typeof listedCall>;

const attemptView = Type.Object({
  n: Type.Integer(),
  state: Type.Enum(["claimed", "dialing", "answered", "ended", "lost"]),
  sip_call_id: Type.Union([Type.String(), Type.Null()]),
  started_at: Type.String(),
  ringing_at: Type.Union([Type.String(), Type.Null()]),
  answered_at: Type.Union([Type.String(), Type.Null()]),
  ended_at: Type.Union([Type.String(), Type.Null()]),
  outcome: Type.Union([outcomeView, Type.Null()]),
  evidence: Type.Record(Type.String(), Type.Unknown()),
});
export type AttemptView = Static<typeof attemptView>;

export const callRecord = Type.Object({
  ...shared,
  playbook_name: Type.String(),
  playbook_id: Type.String(),
  version_id: Type.Union([Type.String(), Type.Null()]),
  data: Type.String({ description: "JSON text of the parameters" }),
  recording: Type.Boolean(),
  recording_url: Type.String({ description: "Signed, expiring URL, or empty" }),
  attempts: Type.Array(attemptView),
});
/** A call as `GET /call/{callId}` gives it. */
export type CallRecord = Static<typeof callRecord>;

/** Query of `GET /calls`; all values are text on the wire. */
export const callsQuery = Type.Object({
  startDate: Type.Optional(Type.String({ description: "YYYY-MM-DD or YYYY-MM-DD HH:mm:ss, account's zone" })),
  endDate: Type.Optional(Type.String({ description: "Likewise; a day includes all of it. Default now" })),
  daysFromNow: Type.Optional(Type.Integer({ minimum: 1, maximum: 90, default: 15 })),
  status: Type.Optional(Type.Enum([...listStatuses])),
  playbook_id: Type.Optional(Type.String({ format: "uuid" })),
  campaign_id: Type.Optional(Type.String({ format: "uuid" })),
  phone: Type.Optional(Type.String()),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
  cursor: Type.Optional(Type.String({ description: "From the outdial-next-cursor header" })),
});
export type CallsQuery = Static<typeof callsQuery>;
