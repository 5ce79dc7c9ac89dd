import { isUuid } from "#base";
import { normalizePhone, parseLaunchAt, parseRecall, type VoiceId, type VoiceModel } from "#domain";
import type { AdminCallBody, CallBody } from "#wire";
import { orRefuse } from "./failure.ts";
import type { Account, CallOrder } from "./service.ts";

/** Fields with a meaning of their own; every other field is a custom parameter. */
const callFields = ["phone", "playbook_id", "version_id", "voice_id", "voice_model", "language", "interrupt"];
const adminFields = [...callFields, "params", "trunk", "recall", "at", "dry_run"];

/** The order in a body of `POST /call` whose shape was checked. */
export function readCallBody(body: CallBody, account: Account): CallOrder {
  return { ...readCommon(body, account), params: freeFields(body, callFields) };
}

/** The order in a body of `POST /admin/calls` whose shape was checked. */
export function readAdminCallBody(body: AdminCallBody, account: Account, now: number): CallOrder {
  const { trunk, recall, at } = body;
  return {
    ...readCommon(body, account),
    params: Object.fromEntries([
      ...Object.entries(freeFields(body, adminFields)),
      ...Object.entries(body.params ?? {}),
    ]),
    ...(trunk !== undefined && { trunk }),
    ...(recall !== undefined && { recallMin: orRefuse(parseRecall(recall)) }),
    ...(at !== undefined && { at: orRefuse(parseLaunchAt(at, account.timezone, now)) }),
  };
}

interface CommonFields {
  readonly phone: string;
  readonly playbook_id: string;
  readonly version_id?: string;
  readonly voice_id?: VoiceId;
  readonly voice_model?: VoiceModel;
  readonly language?: string;
  readonly interrupt?: boolean;
}

function readCommon(body: CommonFields, account: Account): Omit<CallOrder, "params"> {
  return {
    accountId: account.id,
    phone: orRefuse(normalizePhone(body.phone)),
    playbook: isUuid(body.playbook_id) ? body.playbook_id.toLowerCase() : body.playbook_id,
    ...(body.version_id !== undefined && { version: body.version_id }),
    ...(body.voice_id !== undefined && { voiceId: body.voice_id }),
    ...(body.voice_model !== undefined && { voiceModel: body.voice_model }),
    ...(body.language !== undefined && { language: body.language.toLowerCase().replaceAll("_", "-") }),
    ...(body.interrupt !== undefined && { interrupt: body.interrupt }),
  };
}

/** Also for names such as `__proto__`: `Object.fromEntries` makes plain own properties of them. */
function freeFields(body: object, known: readonly string[]): Readonly<Record<string, string>> {
  const free = Object.entries(body).filter(([name]) => !known.includes(name));
  return Object.fromEntries(free.map(([name, value]) => [name, String(value)]));
}
