import { Type, type Static } from "typebox";
import { callBodyFields } from "./call.ts";
import { campaignBodyFields, recallBody } from "./campaign.ts";

const time = Type.String({ description: "ISO 8601, UTC" });
const nullableTime = Type.Union([time, Type.Null()]);
const nullableText = Type.Union([Type.String(), Type.Null()]);
const strict = { additionalProperties: false } as const;

/** `POST /admin/calls`: the public body without free fields, plus what only the owner may choose. */
export const adminCallBody = Type.Object(
  {
    ...callBodyFields,
    playbook_id: Type.String({ minLength: 1, description: "Name, id or unique prefix" }),
    params: Type.Optional(Type.Record(Type.String(), Type.String())),
    trunk: Type.Optional(Type.String({ minLength: 1 })),
    recall: Type.Optional(recallBody),
    at: Type.Optional(Type.String({ description: "Not before; like launch_at of a campaign" })),
    dry_run: Type.Optional(Type.Boolean()),
  },
  { additionalProperties: Type.String({ description: "Custom parameter, like one in params" }) },
);
export type AdminCallBody = Static<typeof adminCallBody>;

/** `id` is null in a dry run. */
export const adminStartedCall = Type.Object({
  id: nullableText,
  success: Type.Boolean(),
  message: Type.String(),
  dry_run: Type.Boolean(),
});
export type AdminStartedCall = Static<typeof adminStartedCall>;

export const adminCampaignBody = Type.Object(
  {
    ...campaignBodyFields,
    playbook_id: Type.String({ minLength: 1, description: "Name, id or unique prefix" }),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    trunk: Type.Optional(Type.String({ minLength: 1 })),
    max_concurrent: Type.Optional(Type.Integer({ minimum: 1 })),
    dry_run: Type.Optional(Type.Boolean()),
  },
  strict,
);

export const adminCampaignShape = Type.Object(
  {
    playbook_id: Type.String({ minLength: 1 }),
    contacts: Type.Array(Type.Unknown(), { minItems: 1 }),
    launch_at: Type.Optional(Type.String()),
    recall: Type.Optional(Type.Unknown()),
    name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
    trunk: Type.Optional(Type.String({ minLength: 1 })),
    max_concurrent: Type.Optional(Type.Integer({ minimum: 1 })),
    dry_run: Type.Optional(Type.Boolean()),
  },
  strict,
);

const rejectedContact = Type.Object({
  index: Type.Integer({ description: "0-based place in contacts" }),
  phone: Type.String(),
  reason: Type.String(),
});
export type RejectedContact = Static<typeof rejectedContact>;

/** Like the public answer, with all counts in both cases; `campaign_id` is null in a dry run. */
export const adminLaunchedCampaign = Type.Object({
  success: Type.Boolean(),
  message: Type.String(),
  campaign_id: nullableText,
  dry_run: Type.Boolean(),
  scheduled: Type.Boolean(),
  launch_at: time,
  total_contacts: Type.Integer(),
  scheduled_calls: Type.Integer(),
  error_calls: Type.Integer(),
  first_call_at: nullableTime,
  last_call_at: nullableTime,
  rejected: Type.Array(rejectedContact, { description: "The first 1000 contacts whose phone is no number" }),
});
export type AdminLaunchedCampaign = Static<typeof adminLaunchedCampaign>;

export const campaignView = Type.Object({
  id: Type.String(),
  name: Type.String(),
  playbook_id: Type.String(),
  version_id: nullableText,
  status: Type.Enum(["scheduled", "running", "paused", "stopped", "done"]),
  launch_at: time,
  recall: Type.Array(Type.Integer()),
  max_concurrent: Type.Union([Type.Integer(), Type.Null()]),
  total: Type.Integer(),
  counts: Type.Record(Type.String(), Type.Integer(), { description: "Calls by exact state" }),
  waiting: Type.Integer(),
  live: Type.Integer(),
  finished: Type.Integer(),
  created_at: time,
});
export type CampaignView = Static<typeof campaignView>;

export const resolveBody = Type.Object(
  { as: Type.Enum(["closed", "failed"]), note: Type.Optional(Type.String({ maxLength: 2000 })) },
  strict,
);
export type ResolveBody = Static<typeof resolveBody>;

/** One message as it was on the wire; credentials and media keys stand as `[redacted]`. */
export const sipMessage = Type.Object({
  attempt: Type.Integer(),
  seq: Type.Integer({ description: "1, 2, … within the attempt; a gap is messages that were not kept" }),
  at: time,
  direction: Type.Enum(["sent", "received"]),
  transport: Type.Enum(["udp", "tcp", "tls"]),
  local: Type.String({ description: "address:port, [v6]:port" }),
  remote: Type.String(),
  first_line: Type.String(),
  text: Type.String(),
});
export type SipMessageView = Static<typeof sipMessage>;

export const eventsQuery = Type.Object({
  call: Type.Optional(Type.String()),
  campaign: Type.Optional(Type.String()),
  since: Type.Optional(Type.Integer({ minimum: 0 })),
  types: Type.Optional(
    Type.String({
      description:
        "Only these, separated by commas. Without it all that are kept for replay: no passing ones",
    }),
  ),
  follow: Type.Optional(Type.Boolean({ description: "false: only what is still kept. Default true" })),
});

/**
 * One line of `GET /admin/events`. Besides what happens in calls there are `heartbeat` (nothing happened; a reader may
 * resume after its `seq`; another `data.stream` than before: the daemon was started anew and counts anew) and
 * `events-lost` (`data.count` events were missed by a reader that was too slow, or came back too late). Passing events
 * (words in the making, `sip-message`) come only when `types` names them, and are never replayed.
 */
export const eventLine = Type.Object({
  seq: Type.Integer(),
  type: Type.String(),
  call_id: nullableText,
  campaign_id: nullableText,
  at: time,
  data: Type.Record(Type.String(), Type.Unknown()),
});
export type EventLine = Static<typeof eventLine>;
