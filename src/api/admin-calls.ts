import { isUuid, type Clock } from "#base";
import { formatLaunchTime, launchMessage } from "#domain";
import type { Log } from "#host";
import type {
  AdminCallBody,
  AdminLaunchedCampaign,
  AdminOperation,
  AdminStartedCall,
  ResolveBody,
} from "#wire";
import { Readable } from "node:stream";
import { bodyOf, json, type AdminHandlers, type AdminRequest } from "./admin-setup.ts";
import { campaignView } from "./admin-views.ts";
import { answerCallList, readCallQuery } from "./call-list.ts";
import { eventLines } from "./event-stream.ts";
import { badRequest, notFound } from "./failure.ts";
import type { Answer } from "./http.ts";
import type { Once } from "./idempotency.ts";
import { readCampaignTiming, readContacts, rejectedContacts, type CampaignShape } from "./launch-campaign.ts";
import { answerRecording } from "./recording.ts";
import { callRecord, isoTime, isoTimeOrNull, listRecord, sipMessageView } from "./records.ts";
import type {
  Account,
  Call,
  CallDetail,
  CallOrder,
  Campaign,
  CampaignOrder,
  EventFilter,
  LaunchedCampaign,
  Service,
  StartedCall,
} from "./service.ts";
import { readAdminCallBody } from "./start-call.ts";

type CallOperation = Extract<
  AdminOperation,
  | "listCampaigns"
  | "launchCampaign"
  | "getCampaign"
  | "pauseCampaign"
  | "resumeCampaign"
  | "stopCampaign"
  | "listCalls"
  | "startCall"
  | "getCall"
  | "getCallSip"
  | "listLiveCalls"
  | "hangUpCall"
  | "resolveCall"
  | "getRecording"
  | "events"
>;

export interface AdminPlace {
  readonly service: Service;
  readonly once: Once;
  readonly clock: Clock;
  /** Fires when the server closes: ends event streams. */
  readonly closing: AbortSignal;
  readonly log: Log;
}

/** Calls, campaigns and what happens in them. */
export function callHandlers(place: AdminPlace): AdminHandlers<CallOperation> {
  const { service } = place;
  return {
    listCampaigns: async ({ caller }) =>
      json((await service.listCampaigns((await caller.account()).id)).map(campaignView)),
    launchCampaign: async (request) => launchCampaign(place, request),
    getCampaign: async (request) =>
      json(campaignView(await getCampaign(service, await accountOf(request), idOf(request)))),
    pauseCampaign: async (request) => steer(service, request, "pause"),
    resumeCampaign: async (request) => steer(service, request, "resume"),
    stopCampaign: async (request) => steer(service, request, "stop"),
    listCalls: async (request) => listCalls(place, request),
    startCall: async (request) => startCall(place, request),
    getCall: async (request) => record(await getCall(service, await accountOf(request), idOf(request))),
    getCallSip: async (request) => {
      const account = await accountOf(request);
      const { call } = await getCall(service, account, idOf(request));
      return json(((await service.listSipMessages(account.id, call.id)) ?? []).map(sipMessageView));
    },
    listLiveCalls: async (request) =>
      json(
        (await service.listLiveCalls((await accountOf(request)).id)).map((call) =>
          listRecord(call, socketUrl),
        ),
      ),
    hangUpCall: async (request) =>
      record(await service.hangUpCall((await accountOf(request)).id, idOf(request))),
    resolveCall: async (request) => {
      const { as, note = "" } = bodyOf<ResolveBody>(request);
      return record(await service.resolveCall((await accountOf(request)).id, idOf(request), { as, note }));
    },
    getRecording: async (request) => getRecording(service, request),
    events: async (request) => events(place, request),
  };
}

/** Over the socket a recording is fetched by the call's id, without any signature. */
function socketUrl(call: Call): string {
  return `/admin/calls/${call.id}/recording`;
}

function record(detail: CallDetail): Answer {
  return json(callRecord(detail, socketUrl));
}

async function listCalls({ service, clock, log }: AdminPlace, request: AdminRequest): Promise<Answer> {
  const account = await accountOf(request);
  const {
    playbookId: playbookRef,
    campaignId: campaignRef,
    ...query
  } = readCallQuery(request.query, account, clock.now(), true);
  const playbook =
    playbookRef === undefined ? undefined : await service.findPlaybook(account.id, playbookRef);
  if (playbookRef !== undefined && !playbook) throw notFound("playbook", playbookRef);
  const campaign = campaignRef === undefined ? undefined : await getCampaign(service, account, campaignRef);
  const bound = {
    ...(playbook && { playbookId: playbook.id }),
    ...(campaign && { campaignId: campaign.id }),
  };
  return answerCallList({ ...query, ...bound }, { service, recordingUrl: socketUrl, url: request.url, log });
}

async function startCall(place: AdminPlace, request: AdminRequest): Promise<Answer> {
  const { service, once, clock } = place;
  const account = await accountOf(request);
  const body = bodyOf<AdminCallBody>(request);
  const readOrder = (): CallOrder => readAdminCallBody(body, account, clock.now());
  if (body.dry_run) {
    const { message } = await service.checkCall(readOrder());
    return json(startedView(null, message));
  }
  return once.run(request, account.id, async (stamp) => {
    const answer = ({ id, message }: StartedCall): { status: number; answer: string } => ({
      status: request.route.success.status,
      answer: JSON.stringify(startedView(id, message)),
    });
    const started = await service.startCall({
      ...readOrder(),
      ...(stamp && { idempotency: { ...stamp, answer } }),
    });
    const { status, answer: text } = answer(started);
    return { type: "text", text, status };
  });
}

function startedView(id: string | null, message: string): AdminStartedCall {
  return { id, success: true, message, dry_run: id === null };
}

type AdminCampaignShape = CampaignShape & {
  readonly name?: string;
  readonly trunk?: string;
  readonly max_concurrent?: number;
  readonly dry_run?: boolean;
};

async function launchCampaign({ service, once, clock }: AdminPlace, request: AdminRequest): Promise<Answer> {
  const account = await accountOf(request);
  return once.run(request, account.id, async (stamp) => {
    const body = bodyOf<AdminCampaignShape>(request);
    const timing = readCampaignTiming(body, account, clock.now());
    const playbook = await service.findPlaybook(account.id, body.playbook_id);
    if (!playbook) throw notFound("playbook", body.playbook_id);
    const contacts = await readContacts(body.contacts);
    const order: CampaignOrder = {
      accountId: account.id,
      playbook: playbook.id,
      contacts,
      ...timing,
      ...(body.name !== undefined && { name: body.name }),
      ...(body.trunk !== undefined && { trunk: body.trunk }),
      ...(body.max_concurrent !== undefined && { maxConcurrent: body.max_concurrent }),
      ...(body.dry_run !== undefined && { dryRun: body.dry_run }),
    };
    const answer = (launched: LaunchedCampaign): { status: number; answer: string } => ({
      status: request.route.success.status,
      answer: JSON.stringify(launchedView(launched, order, account)),
    });
    const stamped = stamp && !order.dryRun ? { idempotency: { ...stamp, answer } } : {};
    const { status, answer: text } = answer(await service.launchCampaign({ ...order, ...stamped }));
    return { type: "text", text, status };
  });
}

function launchedView(
  launched: LaunchedCampaign,
  order: CampaignOrder,
  account: Account,
): AdminLaunchedCampaign {
  const dryRun = order.dryRun ?? false;
  const when = launched.scheduled ? formatLaunchTime(launched.launchAt, account.timezone) : undefined;
  return {
    success: true,
    message: launchMessage(launched, when),
    campaign_id: dryRun ? null : launched.id,
    dry_run: dryRun,
    scheduled: launched.scheduled,
    launch_at: isoTime(launched.launchAt),
    total_contacts: launched.total,
    scheduled_calls: launched.scheduledCalls,
    error_calls: launched.errorCalls,
    first_call_at: isoTimeOrNull(launched.firstCallAt),
    last_call_at: isoTimeOrNull(launched.lastCallAt),
    rejected: rejectedContacts(order.contacts),
  };
}

async function steer(
  service: Service,
  request: AdminRequest,
  act: "pause" | "resume" | "stop",
): Promise<Answer> {
  return json(campaignView(await service.steerCampaign((await accountOf(request)).id, idOf(request), act)));
}

async function getRecording(service: Service, request: AdminRequest): Promise<Answer> {
  const account = await accountOf(request);
  const { call } = await getCall(service, account, idOf(request));
  const recording = await service.openRecording(account.id, call.id);
  if (!recording) throw notFound("recording", call.id);
  return answerRecording(recording, request.headers.range);
}

async function events({ service, clock, closing }: AdminPlace, request: AdminRequest): Promise<Answer> {
  const account = await accountOf(request);
  const { call, campaign, since, types, follow } = request.query;
  const position = service.feedPosition();
  const asked = since === undefined ? position.seq : readSince(since);
  const from = asked > position.seq ? 0 : asked; // Of a daemon before this one: all that has happened since is new.
  const filter: EventFilter = {
    accountId: account.id,
    ...(typeof call === "string" && { call: (await getCall(service, account, prefixOf(call))).call.id }),
    ...(typeof campaign === "string" && { campaign: (await getCampaign(service, account, campaign)).id }),
    ...(typeof types === "string" && { types: types.split(",").filter((type) => type !== "") }),
    ...(follow === "false" && { follow: false }),
    since: from,
  };
  const source = service.events(filter, AbortSignal.any([closing, request.gone]));
  const stream = Readable.from(
    eventLines(source, clock, { since: from, position: () => service.feedPosition() }),
    {
      highWaterMark: 1,
    },
  );
  return { type: "stream", stream, contentType: "application/x-ndjson" };
}

function readSince(since: unknown): number {
  if (typeof since === "string" && /^\d{1,15}$/.test(since)) return Number(since);
  throw badRequest("since must be the seq of an event", "since");
}

async function getCall(service: Service, account: Account, ref: string): Promise<CallDetail> {
  const detail = await service.findCall(account.id, ref);
  if (!detail) throw notFound("call", ref);
  return detail;
}

async function getCampaign(service: Service, account: Account, ref: string): Promise<Campaign> {
  const campaign = await service.findCampaign(account.id, prefixOf(ref));
  if (!campaign) throw notFound("campaign", ref);
  return campaign;
}

async function accountOf(request: AdminRequest): Promise<Account> {
  return request.caller.account();
}

function idOf(request: AdminRequest): string {
  return prefixOf(request.params["id"] ?? "");
}

/** An id, or at least its first four characters. */
function prefixOf(ref: string): string {
  const id = ref.toLowerCase();
  if (isUuid(id) || /^[0-9a-f-]{4,36}$/.test(id)) return id;
  throw badRequest("An id is a UUID or at least its first four characters", "id");
}
