import { contactFieldNames } from "#domain";
import { Type, type Static } from "typebox";

const contactTexts = Object.fromEntries(
  contactFieldNames.map((name) => [name, Type.Optional(Type.Union([Type.String(), Type.Null()]))]),
);

const contactBody = Type.Object({
  phone: Type.String({ minLength: 1 }),
  ...contactTexts,
  custom_fields: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
});
/** One contact of a campaign. Further text fields: `contactFieldNames` of the domain. */
export type ContactBody = Readonly<Record<string, unknown>> & { readonly phone: string };

export const recallBody = Type.Union([
  Type.Array(Type.Integer({ minimum: 0, maximum: 43_200 }), { maxItems: 20 }),
  Type.String({ description: "[30,120]" }),
]);

/** Largest list of contacts in one request. */
export const maxContacts = 100_000;

export const campaignBodyFields = {
  playbook_id: Type.String({ format: "uuid" }),
  contacts: Type.Array(contactBody, { minItems: 1, maxItems: maxContacts }),
  launch_at: Type.Optional(
    Type.String({ description: "YYYY-MM-DDTHH:mm:ss in the account's zone, or with an offset. Absent: now" }),
  ),
  recall: Type.Optional(recallBody),
} as const;

/** The parts that are checked first: contacts one by one come after the playbook's ownership. */
export const campaignShape = Type.Object({
  playbook_id: Type.String({ format: "uuid" }),
  contacts: Type.Array(Type.Unknown(), { minItems: 1 }),
  launch_at: Type.Optional(Type.String()),
});

export const campaignBody = Type.Object(campaignBodyFields);
export type CampaignBody = Omit<Static<typeof campaignBody>, "contacts"> & {
  readonly contacts: readonly ContactBody[];
};

const accepted = {
  success: Type.Boolean(),
  message: Type.String(),
  campaign_id: Type.String({ format: "uuid" }),
  total_contacts: Type.Integer(),
} as const;

const scheduled = {
  ...accepted,
  scheduled: Type.Literal(true),
  launch_at: Type.String({ description: "UTC with milliseconds" }),
  scheduled_calls: Type.Integer(),
  error_calls: Type.Integer(),
} as const;

export const launchedCampaign = Type.Union([
  Type.Object({ ...accepted, scheduled: Type.Literal(false) }),
  Type.Object(scheduled),
]);
export type LaunchedCampaignBody = Static<typeof launchedCampaign>;
