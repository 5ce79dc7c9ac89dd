import { Type, type TSchema } from "typebox";
import * as calls from "./admin-calls.ts";
import * as providers from "./admin-providers.ts";
import * as setup from "./admin-setup.ts";
import * as trunks from "./admin-trunks.ts";
import { callRecord, callsQuery, listedCall } from "./call.ts";
import { mebibyte, type Route } from "./route.ts";

const reads = [400, 404, 409, 500, 503] as const;
const writes = [400, 404, 409, 413, 422, 500, 503] as const;

/** The owner's interface, served over the Unix socket only. The header `outdial-account` names the account. */
export const adminRoutes = {
  status: read("/admin/status", "What the daemon is doing", setup.statusView),
  stop: {
    ...write("/admin/stop", "Stop dialling, let calls end, stop", setup.stopBody, setup.stopView),
    success: { status: 202, schema: setup.stopView },
  },
  listAccounts: read("/admin/accounts", "List accounts", Type.Array(setup.accountView)),
  createAccount: write("/admin/accounts", "Create an account", setup.accountBody, setup.accountView),
  listTokens: read("/admin/tokens", "List API tokens, masked", Type.Array(setup.tokenView)),
  createToken: write(
    "/admin/tokens",
    "Create an API token; the only time it is shown",
    setup.tokenBody,
    setup.mintedToken,
  ),
  revokeToken: remove("/admin/tokens/{name}", "Revoke an API token at once"),
  listPlaybooks: read("/admin/playbooks", "List playbooks", Type.Array(setup.playbookView)),
  applyPlaybook: write(
    "/admin/playbooks/apply",
    "Create or update a playbook from its file",
    setup.applyBody,
    setup.appliedView,
  ),
  lintPlaybook: act(
    "/admin/playbooks/lint",
    "What is wrong with a playbook's file, or may not be meant; changes nothing",
    setup.lintBody,
    Type.Array(setup.findingView),
  ),
  getPlaybook: read("/admin/playbooks/{ref}", "One playbook with its file", setup.playbookDetail),
  listVersions: read(
    "/admin/playbooks/{ref}/versions",
    "Versions, newest first",
    Type.Array(setup.versionView),
  ),
  promoteVersion: act(
    "/admin/playbooks/{ref}/promote",
    "Make a version production",
    setup.promoteBody,
    setup.playbookView,
  ),
  listTrunks: read("/admin/trunks", "List trunks", Type.Array(trunks.trunkView)),
  createTrunk: write("/admin/trunks", "Add a trunk", trunks.trunkBody, trunks.trunkView),
  getTrunk: read("/admin/trunks/{name}", "One trunk", trunks.trunkView),
  removeTrunk: remove("/admin/trunks/{name}", "Remove a trunk"),
  setDefaultTrunk: act(
    "/admin/trunks/{name}/default",
    "Make a trunk the account's default",
    undefined,
    trunks.trunkView,
  ),
  editTrunk: act(
    "/admin/trunks/{name}/edit",
    "Change a trunk; what is not said stays",
    trunks.trunkChange,
    trunks.trunkView,
  ),
  testTrunk: act(
    "/admin/trunks/{name}/test",
    "Whether the provider can be reached and takes us",
    undefined,
    trunks.trunkTest,
  ),
  listProviders: read("/admin/providers", "List configured AI providers", Type.Array(providers.providerView)),
  testProvider: act(
    "/admin/providers/{name}/test",
    "Try a provider in every role it has; costs one sentence each",
    undefined,
    Type.Array(providers.providerCheck),
  ),
  listCampaigns: read("/admin/campaigns", "List campaigns, newest first", Type.Array(calls.campaignView)),
  launchCampaign: {
    ...write("/admin/campaigns", "Create a campaign", calls.adminCampaignBody, calls.adminLaunchedCampaign),
    bodyShape: calls.adminCampaignShape,
    bodyLimitBytes: 64 * mebibyte,
    idempotent: true,
    success: { status: 202, schema: calls.adminLaunchedCampaign },
  },
  getCampaign: read("/admin/campaigns/{id}", "One campaign with its counts", calls.campaignView),
  pauseCampaign: act(
    "/admin/campaigns/{id}/pause",
    "Dial nobody more for now",
    undefined,
    calls.campaignView,
  ),
  resumeCampaign: act("/admin/campaigns/{id}/resume", "Go on dialling", undefined, calls.campaignView),
  stopCampaign: act(
    "/admin/campaigns/{id}/stop",
    "End a campaign; calls not yet under way are cancelled",
    undefined,
    calls.campaignView,
  ),
  listCalls: {
    ...read("/admin/calls", "List calls, newest first", Type.Array(listedCall)),
    query: callsQuery,
  },
  startCall: {
    ...write("/admin/calls", "Start one call", calls.adminCallBody, calls.adminStartedCall),
    idempotent: true,
    success: { status: 200, schema: calls.adminStartedCall },
  },
  getCall: read("/admin/calls/{id}", "One call", callRecord),
  getCallSip: read(
    "/admin/calls/{id}/sip",
    "What was on the wire in a call: its SIP messages, by attempt",
    Type.Array(calls.sipMessage),
  ),
  listLiveCalls: read(
    "/admin/live-calls",
    "Calls under way: dialing, ringing, talking",
    Type.Array(listedCall),
  ),
  hangUpCall: act(
    "/admin/calls/{id}/hangup",
    "End a live call or cancel a waiting one",
    undefined,
    callRecord,
  ),
  resolveCall: act(
    "/admin/calls/{id}/resolve",
    "Decide a call that waits for a person",
    calls.resolveBody,
    callRecord,
  ),
  getRecording: {
    ...read("/admin/calls/{id}/recording", "The recording"),
    success: { status: 200, contentType: "audio/wav" },
  },
  events: {
    ...read("/admin/events", "What happens, as it happens; one JSON object a line", calls.eventLine),
    query: calls.eventsQuery,
    success: { status: 200, contentType: "application/x-ndjson", schema: calls.eventLine },
  },
} satisfies Readonly<Record<string, Route>>;

function read(path: string, summary: string, schema?: TSchema): Route {
  return {
    ...common(path, summary),
    method: "GET",
    success: { status: 200, ...(schema && { schema }) },
    failures: reads,
  };
}

function write(path: string, summary: string, body: TSchema, schema: TSchema): Route {
  return {
    ...common(path, summary),
    method: "POST",
    body,
    bodyLimitBytes: mebibyte,
    success: { status: 201, schema },
    failures: writes,
  };
}

/** A step on something that is there already. */
function act(path: string, summary: string, body: TSchema | undefined, schema: TSchema): Route {
  return {
    ...common(path, summary),
    method: "POST",
    ...(body && { body }),
    bodyLimitBytes: mebibyte,
    success: { status: 200, schema },
    failures: writes,
  };
}

function remove(path: string, summary: string): Route {
  return { ...common(path, summary), method: "DELETE", success: { status: 204 }, failures: reads };
}

function common(path: string, summary: string): Pick<Route, "path" | "summary" | "access" | "errors"> {
  return { path, summary, access: "socket", errors: "admin" };
}
