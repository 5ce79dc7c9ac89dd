/**
 * SIP (RFC 3261) as functions of bytes and time: messages, the four transactions, dialogs, and a user agent
 * without sockets: datagrams and orders go in; datagrams, call events and the next deadline come out.
 */
export type { SipAddress } from "./compose.ts";
export type { DigestHashes } from "./digest.ts";
export type { ReceivedCall } from "./incoming-call.ts";
export type { IncomingCallEvent, LegEnd, LegEvent, SavedDialog } from "./leg.ts";
export type { OutgoingCall } from "./outgoing-call.ts";
export type { ReceivedInvite } from "./request-router.ts";
export type { LineMedia, LocalMedia } from "./sdp.ts";
export { createUserAgent, type ProbeOutcome, type UserAgent, type UserAgentOutput } from "./user-agent.ts";
