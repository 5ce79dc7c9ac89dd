/**
 * SIP (RFC 3261) as functions of bytes and time: messages, the four transactions, dialogs, and a user agent
 * without sockets: datagrams and orders go in; datagrams, call events and the next deadline come out.
 */
export type { CallIdentity } from "./call-identity.ts";
export { defaultPort, isReliable, type SipAddress, type SipTransport } from "./compose.ts";
export type { DigestHashes } from "./digest.ts";
export { createFramer } from "./framer.ts";
export type { ReceivedCall } from "./incoming-call.ts";
export type { IncomingCallEvent, LegControls, LegEnd, LegEvent, SavedDialog } from "./leg.ts";
export type { OutgoingCall } from "./outgoing-call.ts";
export { nextPingMs } from "./keep-alive.ts";
export { peekCallId } from "./peek-call-id.ts";
export { readProxyHop } from "./route.ts";
export type { Registration } from "./registrar.ts";
export type { RegistrationState } from "./registration.ts";
export type { ReceivedInvite } from "./request-router.ts";
export type { LineMedia, LocalMedia } from "./sdp.ts";
export type { SessionTimerPolicy } from "./session-expires.ts";
export { createUserAgent, type ProbeOutcome, type UserAgent, type UserAgentOutput } from "./user-agent.ts";
