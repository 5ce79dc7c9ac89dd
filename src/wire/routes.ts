import { Type } from "typebox";
import { adminRoutes } from "./admin-routes.ts";
import { callBody, callRecord, callsQuery, listedCall, startedCall } from "./call.ts";
import { campaignBody, campaignShape, launchedCampaign } from "./campaign.ts";
import { mebibyte, type Method, type Route } from "./route.ts";

/** The published interface, served over HTTP. */
export const publicRoutes = {
  startCall: {
    method: "POST",
    path: "/call",
    summary: "Start one call",
    access: "token",
    errors: "flag",
    body: callBody,
    bodyLimitBytes: mebibyte,
    idempotent: true,
    success: { status: 200, schema: startedCall },
    failures: [400, 401, 409, 413, 429, 500, 503],
  },
  launchCampaign: {
    method: "POST",
    path: "/campaign",
    summary: "Create a campaign of calls from a contact list, immediate or scheduled",
    access: "token",
    errors: "text",
    body: campaignBody,
    bodyShape: campaignShape,
    bodyLimitBytes: 64 * mebibyte,
    idempotent: true,
    success: { status: 202, schema: launchedCampaign },
    failures: [400, 401, 403, 409, 413, 429, 500, 503],
  },
  listCalls: {
    method: "GET",
    path: "/calls",
    summary: "List calls, newest first",
    access: "token",
    errors: "list",
    query: callsQuery,
    success: { status: 200, schema: Type.Array(listedCall) },
    failures: [400, 401, 403, 429, 500, 503],
  },
  getCall: {
    method: "GET",
    path: "/call/{callId}",
    summary: "Get one call",
    access: "token",
    errors: "flag",
    success: { status: 200, schema: callRecord },
    failures: [401, 404, 429, 500, 503],
  },
  getRecording: {
    method: "GET",
    path: "/recordings/{signed}",
    summary: "Fetch a recording by the signed, expiring URL of a call record",
    access: "open",
    errors: "envelope",
    success: { status: 200, contentType: "audio/wav" },
    failures: [404, 416, 500],
  },
  openApi: {
    method: "GET",
    path: "/openapi.json",
    summary: "This description",
    access: "open",
    errors: "envelope",
    success: { status: 200, schema: Type.Record(Type.String(), Type.Unknown()) },
    failures: [500],
  },
  health: {
    method: "GET",
    path: "/health",
    summary: "Whether the server answers",
    access: "open",
    errors: "envelope",
    success: { status: 200, schema: Type.Object({ status: Type.Literal("ok") }) },
    failures: [500],
  },
} as const satisfies Readonly<Record<string, Route>>;

export type PublicOperation = keyof typeof publicRoutes;

/** What the table says about a request: the operation, or that its path is unknown, or wants another method. */
export type RouteMatch =
  | { readonly type: "matched"; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  | { readonly type: "wrong-method"; readonly allow: readonly Method[] }
  | { readonly type: "unknown" };

/** Finds a request's route; `path` is without query. Undecodable percent-encoding matches nothing. */
export function matchRoute(
  routes: Readonly<Record<string, Route>>,
  method: string,
  path: string,
): RouteMatch {
  const allow: Method[] = [];
  for (const route of Object.values(routes)) {
    const params = matchPath(route.path, path);
    if (!params) continue;
    if (route.method === method) return { type: "matched", route, params };
    allow.push(route.method);
  }
  return allow.length > 0 ? { type: "wrong-method", allow } : { type: "unknown" };
}

function matchPath(pattern: string, path: string): Readonly<Record<string, string>> | undefined {
  const wanted = pattern.split("/");
  const given = path.split("/");
  if (wanted.length !== given.length) return undefined;
  const params: [string, string][] = [];
  for (const [i, part] of wanted.entries()) {
    const text = given[i] ?? "";
    if (!part.startsWith("{")) {
      if (part !== text) return undefined;
      continue;
    }
    if (text === "") return undefined;
    params.push([part.slice(1, -1), text]);
  }
  return Object.fromEntries(params);
}

export { adminRoutes };
export type AdminOperation = keyof typeof adminRoutes;
