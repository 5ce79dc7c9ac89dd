/**
 * SIP on real sockets: one UDP endpoint that dials legs, hangs up those of a process that died, probes a
 * target and takes calls in. Promises: no byte from the network throws, strangers get no answer, and every
 * leg ends with exactly one `leg-ended`.
 */
export type { DialOrder, Leg, PreparedLeg, ProbeResult, SipTarget } from "./dialling.ts";
export type { IncomingCall } from "./incoming-call.ts";
export { openSipEndpoint, type SipEndpoint, type SipEndpointOptions } from "./endpoint.ts";
