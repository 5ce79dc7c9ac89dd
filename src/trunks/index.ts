/**
 * SIP on real sockets: an endpoint that dials legs, hangs up those of a process that died, registers accounts,
 * probes a target and takes calls in, over UDP, TCP and TLS. Promises: no byte from the network throws, strangers
 * get no answer, a call goes to another server only before it can have rung, and every leg ends with exactly one
 * `leg-ended`.
 */
export type { DialOrder, Leg, PreparedLeg, ProbeResult, SipTarget } from "./dialling.ts";
export type { IncomingCall } from "./incoming-call.ts";
export { openSipEndpoint, type SipEndpoint, type SipEndpointOptions } from "./endpoint.ts";
export type { RegisterOrder, RegistrationHandle } from "./registrations.ts";
export type { TraceEntry } from "./trace.ts";
