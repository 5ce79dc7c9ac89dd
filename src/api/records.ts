import { callStatus, formatCreatedTime, isE164, listStatus, transcriptHtml, type Outcome } from "#domain";
import type { AttemptView, CallRecord, ListedCall, OutcomeView, SipMessageView } from "#wire";
import type { Attempt, Call, CallDetail, SipMessage } from "./service.ts";

/** The URL under which a call's recording can be fetched. */
export type RecordingUrl = (call: Call) => string;

/** A call as lists show it. */
export function listRecord(call: Call, recordingUrl: RecordingUrl): ListedCall {
  return {
    ...sharedFields(call),
    status: listStatus(call.state),
    recording: urlOf(call, recordingUrl),
    data: { params: publicParams(call) },
    attempts: call.attempts,
  };
}

/** A call as it shows by itself: the union of both published descriptions. */
export function callRecord(detail: CallDetail, recordingUrl: RecordingUrl): CallRecord {
  const { call } = detail;
  return {
    ...sharedFields(call),
    status: callStatus(call.state),
    playbook_name: call.playbookName,
    playbook_id: call.playbookId,
    version_id: call.versionId,
    data: JSON.stringify(publicParams(call)),
    recording: call.recording !== null,
    recording_url: urlOf(call, recordingUrl),
    attempts: detail.attempts.map((attempt) => attemptView(attempt)),
  };
}

function sharedFields(
  call: Call,
): Omit<
  CallRecord,
  | "status"
  | "playbook_name"
  | "playbook_id"
  | "version_id"
  | "data"
  | "recording"
  | "recording_url"
  | "attempts"
> {
  return {
    id: call.id,
    created_time: formatCreatedTime(call.createdAt),
    timestamp: Math.trunc(call.createdAt),
    assistant_id: call.playbookId,
    from: isE164(call.from) ? call.from : "",
    to: call.to,
    duration: Math.max(0, Math.round(call.durationS)),
    transcript: transcriptHtml(call.turns, call.speakers),
    success: call.success,
    summary: call.summary,
    output: call.output,
    outcome: outcomeView(call.state, call.outcome),
    campaign_id: call.campaignId,
  };
}

function urlOf(call: Call, recordingUrl: RecordingUrl): string {
  return call.recording === null ? "" : recordingUrl(call);
}

/** Names that older clients send among the parameters and that records never show. */
const internalParams = new Set(["voice_id", "voice_model", "text_model", "assistant_id"]);

function publicParams(call: Call): Record<string, string> {
  return Object.fromEntries(Object.entries(call.params).filter(([name]) => !internalParams.has(name)));
}

function outcomeView(state: string, outcome: Outcome | null): OutcomeView {
  return {
    state,
    cause: outcome?.cause ?? null,
    ...(outcome?.sipStatus === undefined ? {} : { sip_status: outcome.sipStatus }),
    ...(outcome?.sipReason === undefined ? {} : { sip_reason: outcome.sipReason }),
    ...(outcome?.q850 === undefined ? {} : { q850: outcome.q850 }),
    ...(outcome?.hungUpBy === undefined ? {} : { hung_up_by: outcome.hungUpBy }),
    ...(outcome?.detail === undefined ? {} : { detail: outcome.detail }),
  };
}

function attemptView(attempt: Attempt): AttemptView {
  return {
    n: attempt.n,
    state: attempt.state,
    sip_call_id: attempt.sipCallId,
    started_at: isoTime(attempt.startedAt),
    ringing_at: isoTimeOrNull(attempt.ringingAt),
    answered_at: isoTimeOrNull(attempt.answeredAt),
    ended_at: isoTimeOrNull(attempt.endedAt),
    outcome: attempt.outcome && outcomeView(attempt.outcome.state, attempt.outcome),
    evidence: attempt.evidence,
  };
}

/** A SIP message of a call. */
export function sipMessageView(message: SipMessage): SipMessageView {
  const { n, seq, at, direction, transport, local, remote, text } = message;
  const [firstLine = ""] = text.trimStart().split(/\r?\n/, 1);
  return {
    attempt: n,
    seq,
    at: isoTime(at),
    direction,
    transport,
    local,
    remote,
    first_line: firstLine,
    text,
  };
}

/** ISO 8601 in UTC with milliseconds. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** Likewise, null for what has not happened. */
export function isoTimeOrNull(at: number | null): string | null {
  return at === null ? null : isoTime(at);
}
