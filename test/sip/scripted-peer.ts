import type {
  IncomingCallEvent,
  LegEvent,
  LocalMedia,
  OutgoingCall,
  SipAddress,
  UserAgentOutput,
} from "#sip";
import type { CallIdentity } from "../../src/sip/call-identity.ts";
import { responseTo } from "../../src/sip/compose.ts";
import { headerValue } from "../../src/sip/header.ts";
import type { SipHeader, SipMessage, SipRequest, SipResponse } from "../../src/sip/message.ts";
import { parseMessage } from "../../src/sip/parse.ts";
import { printMessage } from "../../src/sip/print.ts";
import type { SessionTimerPolicy } from "../../src/sip/session-expires.ts";
import {
  attachAgent,
  perfectNetwork,
  SimulatedNetwork,
  type NetworkedAgent,
} from "../support/simulated-network.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

export const ourMedia: LocalMedia = { address: "10.0.0.1", audioPort: 4000, codecs: ["PCMA", "PCMU"] };
const agentAddress: SipAddress = { address: "10.0.0.1", port: 5060 };
const peerAddress: SipAddress = { address: "10.0.0.2", port: 5060 };

/** An SDP of the peer; `direction` as it sees it. */
export function peerSdp(port = 6000, direction = "sendrecv", address = "10.0.0.2"): string {
  return [
    "v=0",
    `o=- 1 ${port} IN IP4 ${address}`,
    "s=-",
    `c=IN IP4 ${address}`,
    "t=0 0",
    `m=audio ${port} RTP/AVP 8 101`,
    "a=rtpmap:8 PCMA/8000",
    "a=rtpmap:101 telephone-event/8000",
    `a=${direction}`,
    "",
  ].join("\r\n");
}

/** A SIP element that does exactly what the test writes: it keeps what it gets and sends what it is told. */
export class ScriptedPeer {
  readonly #network: SimulatedNetwork;
  readonly address: SipAddress;
  readonly got: SipMessage[] = [];
  /** Answers to a malformed request repeat its malformed headers: a test that sends such reads past them. */
  readsPastMalformed = false;

  constructor(network: SimulatedNetwork, address: SipAddress) {
    this.#network = network;
    this.address = address;
    network.attach(address, (bytes) => {
      const result = parseMessage(bytes);
      if (result.ok) this.got.push(result.message);
      else if (!this.readsPastMalformed) {
        throw new Error(`the agent sent what cannot be read: ${result.reason}`);
      }
    });
  }

  requests(method: string): readonly SipRequest[] {
    return this.got.filter(
      (message): message is SipRequest => message.type === "request" && message.method === method,
    );
  }

  /** The latest request of a method; throws when there is none. */
  last(method: string): SipRequest {
    const request = this.requests(method).at(-1);
    if (request === undefined) throw new Error(`no ${method} came`);
    return request;
  }

  responses(method: string): readonly SipResponse[] {
    return this.got.filter(
      (message): message is SipResponse =>
        message.type === "response" && (headerValue(message, "CSeq") ?? "").endsWith(` ${method}`),
    );
  }

  statuses(method: string): readonly number[] {
    return this.responses(method).map((response) => response.status);
  }

  respond(
    request: SipRequest,
    status: number,
    parts: { readonly tag?: string; readonly sdp?: string; readonly headers?: readonly SipHeader[] } = {},
  ): void {
    const contact: SipHeader[] = parts.headers?.some((header) => header.name === "Contact")
      ? []
      : [{ name: "Contact", value: `<sip:peer@${this.address.address}:${this.address.port}>` }];
    const response = responseTo(request, status, {
      toTag: parts.tag ?? "peer-tag",
      headers: [...contact, ...(parts.headers ?? [])],
      ...(parts.sdp === undefined ? {} : { sdp: parts.sdp }),
    });
    this.send(printMessage(response));
  }

  send(bytes: Uint8Array | string, to: SipAddress = agentAddress): void {
    this.#network.send(this.address, to, typeof bytes === "string" ? new TextEncoder().encode(bytes) : bytes);
  }

  #branches = 0;

  /** Sends a request; what is not given is that of a request outside any call. */
  request(
    method: string,
    parts: {
      readonly uri?: string;
      readonly from?: string;
      readonly to?: string;
      readonly callId?: string;
      readonly cseq?: number;
      readonly branch?: string;
      readonly headers?: readonly SipHeader[];
      readonly sdp?: string;
      readonly body?: string;
    } = {},
  ): void {
    const branch = parts.branch ?? `z9hG4bKpeer${++this.#branches}-${this.address.port}`;
    const headers: SipHeader[] = [
      {
        name: "Via",
        value: `SIP/2.0/UDP ${this.address.address}:${this.address.port};branch=${branch};rport`,
      },
      { name: "Max-Forwards", value: "70" },
      { name: "From", value: parts.from ?? "<sip:peer@10.0.0.2>;tag=peer-tag" },
      { name: "To", value: parts.to ?? "<sip:+34911222333@10.0.0.1>" },
      { name: "Call-ID", value: parts.callId ?? "peer-call" },
      { name: "CSeq", value: `${parts.cseq ?? 1} ${method}` },
      { name: "Contact", value: `<sip:peer@${this.address.address}:${this.address.port}>` },
      ...(parts.headers ?? []),
      ...(parts.sdp === undefined ? [] : [{ name: "Content-Type", value: "application/sdp" }]),
    ];
    const body = new TextEncoder().encode(parts.sdp ?? parts.body ?? "");
    const uri = parts.uri ?? "sip:+34911222333@10.0.0.1";
    this.send(printMessage({ type: "request", method, uri, headers, body }));
  }
}

/** A user agent and a scripted peer on a perfect network in virtual time, 1 ms apart. */
export interface Stage {
  readonly clock: VirtualClock;
  readonly network: SimulatedNetwork;
  readonly us: NetworkedAgent;
  readonly peer: ScriptedPeer;
  readonly outputs: Exclude<UserAgentOutput, { type: "send" }>[];
  legEvents(): readonly LegEvent[];
  callEvents(): readonly IncomingCallEvent[];
}

export function setStage(
  options: {
    readonly takesCalls?: boolean;
    readonly trusts?: (address: string, port: number) => boolean;
    readonly seed?: number;
  } = {},
): Stage {
  const clock = new VirtualClock();
  const network = new SimulatedNetwork(clock, 1, perfectNetwork);
  const outputs: Stage["outputs"] = [];
  const us = attachAgent(network, clock, agentAddress, {
    seed: 1,
    ...options,
    perform: (output) => void outputs.push(output),
  });
  const peer = new ScriptedPeer(network, peerAddress);
  return {
    clock,
    network,
    us,
    peer,
    outputs,
    legEvents: () => outputs.flatMap((output) => (output.type === "leg-event" ? [output.event] : [])),
    callEvents: () => outputs.flatMap((output) => (output.type === "call-event" ? [output.event] : [])),
  };
}

/** Calls the peer; the INVITE has arrived when this returns. */
export function dial(
  stage: Stage,
  options: {
    readonly ringTimeoutMs?: number;
    readonly credentials?: { username: string; password: string };
    readonly identity?: CallIdentity;
    readonly sessionTimer?: SessionTimerPolicy | "off";
  } = {},
): OutgoingCall {
  const { ringTimeoutMs = 60_000, ...others } = options;
  const call = stage.us.order((agent) => {
    const prepared = agent.prepare({
      host: "trunk.test",
      port: 5060,
      number: "+34600111222",
      callerId: "+34911222333",
      callId: "call-1",
      media: ourMedia,
      ringTimeoutMs,
      ...others,
    });
    agent.send(prepared, peerAddress);
    return prepared;
  });
  stage.clock.advance(2);
  return call;
}

/** Calls the peer, which answers, with these headers too; the ACK has arrived when this returns. */
export function connect(
  stage: Stage,
  options: Parameters<typeof dial>[1] & { readonly answer?: readonly SipHeader[] } = {},
): OutgoingCall {
  const { answer = [], ...others } = options;
  const call = dial(stage, others);
  stage.peer.respond(stage.peer.last("INVITE"), 200, { sdp: peerSdp(), headers: answer });
  stage.clock.advance(2);
  return call;
}

/** Headers of a request of the peer inside the call that `dial` began. */
export function inside(stage: Stage, tag = "peer-tag") {
  const from = headerValue(stage.peer.last("INVITE"), "From") ?? "";
  return { to: from, from: `<sip:+34600111222@trunk.test>;tag=${tag}`, callId: "call-1" };
}

export const header = (message: SipMessage, name: string): string | undefined => headerValue(message, name);
