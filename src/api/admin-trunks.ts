import type { TrunkSip } from "#domain";
import type { TrunkBody, TrunkChange as TrunkChangeBody, TrunkTest } from "#wire";
import { bodyOf, json, type AdminHandlers } from "./admin-setup.ts";
import { trunkView } from "./admin-views.ts";
import { badRequest, notFound } from "./failure.ts";
import type { Service, TrunkChange } from "./service.ts";

type TrunkOperation =
  | "listTrunks"
  | "createTrunk"
  | "getTrunk"
  | "editTrunk"
  | "testTrunk"
  | "removeTrunk"
  | "setDefaultTrunk";

/** Trunks: how they are set up, and how they are. */
export function trunkHandlers(service: Service): AdminHandlers<TrunkOperation> {
  return {
    listTrunks: async ({ caller }) =>
      json((await service.listTrunks((await caller.account()).id)).map(trunkView)),
    createTrunk: async (request) => {
      const { name, kind, default: makeDefault, ...settings } = bodyOf<TrunkBody>(request);
      if (kind !== "sandbox" && settings.host === undefined) {
        throw badRequest(`A trunk of kind ${kind} needs host`, "host");
      }
      const order = {
        accountId: (await request.caller.account()).id,
        ...changeOf(settings),
        name,
        kind,
        ...(makeDefault !== undefined && { makeDefault }),
      };
      return json(trunkView(await service.createTrunk(order)));
    },
    getTrunk: async ({ caller, params }) => {
      const name = params["name"] ?? "";
      const trunk = await service.findTrunk((await caller.account()).id, name);
      if (!trunk) throw notFound("trunk", name);
      return json(trunkView(trunk));
    },
    editTrunk: async (request) => {
      const change = changeOf(bodyOf<TrunkChangeBody>(request));
      const account = await request.caller.account();
      return json(trunkView(await service.editTrunk(account.id, request.params["name"] ?? "", change)));
    },
    testTrunk: async ({ caller, params }) => {
      const checks = await service.checkTrunk((await caller.account()).id, params["name"] ?? "");
      const ok = checks.every(({ result }) => result !== "failed");
      const body: TrunkTest = { ok, checks: checks.map((check) => ({ ...check })) };
      return json(body);
    },
    removeTrunk: async ({ caller, params }) => {
      const name = params["name"] ?? "";
      if (!(await service.removeTrunk((await caller.account()).id, name))) throw notFound("trunk", name);
      return { type: "empty", status: 204 };
    },
    setDefaultTrunk: async ({ caller, params }) =>
      json(trunkView(await service.setDefaultTrunk((await caller.account()).id, params["name"] ?? ""))),
  };
}

function changeOf(body: TrunkChangeBody): TrunkChange {
  const { name, kind, host, port, username, password, password_ref, caller_id, codecs } = body;
  const { max_calls, calls_per_second } = body;
  const sip = sipOf(body);
  return {
    ...(name !== undefined && { name }),
    ...(kind !== undefined && { kind }),
    ...(host !== undefined && { host }),
    ...(port !== undefined && { port }),
    ...(username !== undefined && { username: username ?? "" }),
    ...(password !== undefined && { password }),
    ...(password_ref !== undefined && { passwordRef: password_ref }),
    ...(caller_id !== undefined && { callerId: caller_id ?? "" }),
    ...(codecs !== undefined && { codecs }),
    ...(max_calls !== undefined && { maxCalls: max_calls }),
    ...(calls_per_second !== undefined && { callsPerSecond: calls_per_second }),
    ...(Object.keys(sip).length > 0 && { sip }),
  };
}

function sipOf(body: TrunkChangeBody): Partial<TrunkSip> {
  const { transport, domain, outbound_proxy, register_expires_s, srtp, from_user, number_format } = body;
  const { caller_id_header, display_name, privacy, headers, priority, allow_transfer, ca_certificate } = body;
  return {
    ...(transport !== undefined && { transport }),
    ...(domain !== undefined && { domain }),
    ...(outbound_proxy !== undefined && { outboundProxy: outbound_proxy }),
    ...(register_expires_s !== undefined && { registerExpiresS: register_expires_s }),
    ...(srtp !== undefined && { srtp }),
    ...(from_user !== undefined && { fromUser: from_user }),
    ...(number_format !== undefined && { numberFormat: number_format }),
    ...(caller_id_header !== undefined && { callerIdHeader: caller_id_header }),
    ...(display_name !== undefined && { displayName: display_name }),
    ...(privacy !== undefined && { privacy }),
    ...(headers !== undefined && { headers }),
    ...(priority !== undefined && { priority }),
    ...(allow_transfer !== undefined && { allowTransfer: allow_transfer }),
    ...(ca_certificate !== undefined && { caCertificate: ca_certificate }),
  };
}
