import { isUuid, type Clock } from "#base";
import { formatLaunchTime, launchMessage } from "#domain";
import type { Log } from "#host";
import {
  openApi,
  type CallBody,
  type LaunchedCampaignBody,
  type PublicOperation,
  type StartedCallBody,
} from "#wire";
import { answerCallList, readCallQuery } from "./call-list.ts";
import { badRequest, notFound, Refusal } from "./failure.ts";
import type { Answer, ApiRequest, Handler } from "./http.ts";
import type { Once } from "./idempotency.ts";
import { readCampaignTiming, readContacts, type CampaignShape } from "./launch-campaign.ts";
import { answerRecording, readSigned, signRecording } from "./recording.ts";
import { callRecord, isoTime, type RecordingUrl } from "./records.ts";
import type { Account, LaunchedCampaign, Service, StartedCall } from "./service.ts";
import { readCallBody } from "./start-call.ts";

/** Who asks: an account, or nobody in particular on an open operation. */
export type PublicCaller = { readonly account: Account } | { readonly account: undefined };
type Request = ApiRequest<PublicCaller>;

export interface PublicPlace {
  readonly service: Service;
  readonly once: Once;
  readonly clock: Clock;
  readonly signingKey: Uint8Array;
  readonly version: string;
  /** How clients reach the server from outside; absent: as they did. */
  readonly publicUrl: string | undefined;
  readonly log: Log;
}

/** What each published operation does. */
export function publicHandlers(place: PublicPlace): Readonly<Record<PublicOperation, Handler<PublicCaller>>> {
  return {
    startCall: async (request) => startCall(place, request),
    launchCampaign: async (request) => launchCampaign(place, request),
    listCalls: async (request) => listCalls(place, request),
    getCall: async (request) => getCall(place, request),
    getRecording: async (request) => getRecording(place, request),
    openApi: async (request) => ({ type: "json", body: openApi(place.version, baseUrl(place, request)) }),
    health: async () => ({ type: "json", body: { status: "ok" } }),
  };
}

async function startCall({ service, once }: PublicPlace, request: Request): Promise<Answer> {
  const account = accountOf(request);
  return once.run(request, account.id, async (stamp) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the shape was checked against the table
    const order = readCallBody(request.body as CallBody, account);
    if (!isUuid(order.playbook))
      throw badRequest("playbook_id is no playbook of this account", "playbook_id");
    const answer = (started: StartedCall): { status: number; answer: string } => {
      const body: StartedCallBody = { id: started.id, success: true, message: started.message };
      return { status: request.route.success.status, answer: JSON.stringify(body) };
    };
    const started = await service.startCall({
      ...order,
      ...(stamp && { idempotency: { ...stamp, answer } }),
    });
    return asText(answer(started));
  });
}

async function launchCampaign({ service, once, clock }: PublicPlace, request: Request): Promise<Answer> {
  const account = accountOf(request);
  return once.run(request, account.id, async (stamp) => {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the shape was checked against the table
    const body = request.body as CampaignShape;
    const timing = readCampaignTiming(body, account, clock.now());
    const playbook = body.playbook_id.toLowerCase();
    if (!(await service.ownsPlaybook(account.id, playbook))) throw notYours();
    const contacts = await readContacts(body.contacts);
    const answer = (launched: LaunchedCampaign): { status: number; answer: string } => ({
      status: request.route.success.status,
      answer: JSON.stringify(launchedBody(launched, account)),
    });
    const order = { accountId: account.id, playbook, contacts, ...timing };
    const launched = await service.launchCampaign({
      ...order,
      ...(stamp && { idempotency: { ...stamp, answer } }),
    });
    return asText(answer(launched));
  });
}

function launchedBody(launched: LaunchedCampaign, account: Account): LaunchedCampaignBody {
  const common = { success: true, campaign_id: launched.id, total_contacts: launched.total };
  if (!launched.scheduled)
    return { ...common, message: launchMessage(launched, undefined), scheduled: false };
  return {
    ...common,
    message: launchMessage(launched, formatLaunchTime(launched.launchAt, account.timezone)),
    scheduled: true,
    launch_at: isoTime(launched.launchAt),
    scheduled_calls: launched.scheduledCalls,
    error_calls: launched.errorCalls,
  };
}

async function listCalls(place: PublicPlace, request: Request): Promise<Answer> {
  const { service, clock, log } = place;
  const account = accountOf(request);
  const query = readCallQuery(request.query, account, clock.now());
  if (query.playbookId !== undefined && !(await service.ownsPlaybook(account.id, query.playbookId)))
    throw notYours();
  return answerCallList(query, {
    service,
    recordingUrl: recordingUrl(place, request),
    url: request.url,
    log,
  });
}

async function getCall(place: PublicPlace, request: Request): Promise<Answer> {
  const account = accountOf(request);
  const callId = request.params["callId"] ?? "";
  const detail = isUuid(callId) ? await place.service.findCall(account.id, callId.toLowerCase()) : undefined;
  if (!detail) throw notFound("call", callId);
  return { type: "json", body: callRecord(detail, recordingUrl(place, request)) };
}

async function getRecording(place: PublicPlace, request: Request): Promise<Answer> {
  const signed = readSigned(request.params["signed"] ?? "", place.signingKey, place.clock.now());
  const recording = signed && (await place.service.openRecording(signed.accountId, signed.callId));
  // Forged, expired and removed look the same.
  if (!recording)
    throw new Refusal({ status: 404, code: "not-found", message: "There is no recording at this address" });
  return answerRecording(recording, request.headers.range);
}

function recordingUrl(place: PublicPlace, request: Request): RecordingUrl {
  const base = baseUrl(place, request);
  const now = place.clock.now();
  return (call) => `${base}/recordings/${signRecording(call, place.signingKey, now)}`;
}

/** The Host header was checked against the names this server answers for. */
function baseUrl(place: PublicPlace, request: Request): string {
  return place.publicUrl?.replace(/\/+$/, "") ?? `http://${request.headers.host ?? "localhost"}`;
}

function notYours(): Refusal {
  return new Refusal({
    status: 403,
    code: "forbidden",
    message: "Playbook not found or not owned by this account",
  });
}

function accountOf(request: Request): Account {
  if (!request.caller.account) throw new Error("An operation that needs a token was served without one");
  return request.caller.account;
}

function asText({ status, answer }: { readonly status: number; readonly answer: string }): Answer {
  return { type: "text", text: answer, status };
}
