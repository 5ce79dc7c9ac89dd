import { formatNumber } from "#domain";
import type { CallIdentity, CallRow, DialOrder, SipTarget, TrunkRow } from "./ports.ts";

/** Who a call on this trunk is shown to be, and the number as the trunk wants it dialled. */
export function dialledAs(
  trunk: TrunkRow,
  call: Pick<CallRow, "to" | "from" | "trunkId">,
): Pick<DialOrder, "number" | "callerId" | "identity"> {
  const { numberFormat } = trunk.sip;
  return {
    number: numberFormat === null ? call.to : formatNumber(numberFormat, call.to),
    // A call that any trunk may take shows the number of the one that takes it.
    callerId: call.trunkId === null ? trunk.callerId : call.from,
    ...identityOf(trunk, call.trunkId === null ? trunk.callerId : call.from),
  };
}

function identityOf(trunk: TrunkRow, callerId: string): Pick<DialOrder, "identity"> {
  const { displayName, privacy, headers, callerIdHeader } = trunk.sip;
  const identity: CallIdentity = {
    ...(displayName === null ? {} : { displayName }),
    ...(callerId === "" ? {} : assertions[callerIdHeader](uriOf(trunk, callerId))),
    ...(privacy ? { ...hiddenFrom(trunk), privacy: true } : {}),
    ...(Object.keys(headers).length === 0 ? {} : { headers }),
  };
  return Object.keys(identity).length === 0 ? {} : { identity };
}

const assertions: Readonly<Record<TrunkRow["sip"]["callerIdHeader"], (uri: string) => CallIdentity>> = {
  from: () => ({}),
  "p-asserted-identity": (uri) => ({ assertedIdentity: uri }),
  "p-preferred-identity": (uri) => ({ preferredIdentity: uri }),
  "remote-party-id": (uri) => ({ remotePartyId: uri }),
};

/** Where another header says who calls, From need not: it is what reaches the called person (RFC 3323 4.1.1.3). */
function hiddenFrom({ sip }: TrunkRow): CallIdentity {
  if (sip.callerIdHeader === "from" || sip.fromUser !== null) return {};
  return { displayName: "Anonymous", fromUser: "anonymous", fromHost: "anonymous.invalid" };
}

function uriOf({ host, sip }: TrunkRow, user: string): string {
  const name = sip.domain ?? host;
  return `sip:${user}@${name.includes(":") ? `[${name}]` : name}`;
}

/** Where calls on a trunk go. */
export function targetOf(trunk: TrunkRow, password: string | undefined): SipTarget {
  const { transport, domain, outboundProxy, fromUser } = trunk.sip;
  return {
    host: trunk.host,
    port: trunk.port,
    ...(trunk.username === null ? {} : { username: trunk.username }),
    ...(password === undefined ? {} : { password }),
    transport,
    ...(domain === null ? {} : { domain }),
    ...(outboundProxy === null ? {} : { outboundProxy }),
    ...(fromUser === null ? {} : { fromUser }),
  };
}

/** The host that packets to a trunk go to first. */
export function nextHopOf({ host, sip }: TrunkRow): string {
  const proxy = /^(?:sips?:)?(?:\[([^\]]+)\]|([^:;]+))/.exec(sip.outboundProxy ?? "");
  return proxy?.[1] ?? proxy?.[2] ?? host;
}
