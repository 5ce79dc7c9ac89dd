import type { ConversationState, EndedBy } from "./conversation-state.ts";
import { phrasesFor } from "./conversation-state.ts";
import type { ConversationReport, DialogResult } from "./plan.ts";
import { finalVerdict } from "./screening.ts";

/** What the conversation came to; may be asked at any time, and is final when the machine is over. */
export function reportOf(state: ConversationState): ConversationReport {
  const endedBy = endOf(state);
  const atMs = state.phase.type === "over" ? state.phase.atMs : (state.turns.at(-1)?.endMs ?? 0);
  const verdict = finalVerdict(state.screening, atMs);
  return {
    verdict,
    turns: state.turns.toSorted((a, b) => a.startMs - b.startMs),
    result: resultOf(state, endedBy, atMs),
    endedBy,
    voicemailMessageLeft: state.voicemailMessageLeft,
    firstWordMs: state.firstWordMs ?? null,
    ...(state.timings.length > 0 && { timings: state.timings }),
  };
}

/** The dialog's own result when it came to its end; a dialog that was left midway achieved nothing. */
function resultOf(state: ConversationState, endedBy: EndedBy, atMs: number): DialogResult {
  const { status } = state.dialog;
  const finished = status.type === "ended" && state.told ? status.result : undefined;
  const verdict = finalVerdict(state.screening, atMs);
  const machine = verdict.kind === "voicemail" || verdict.kind === "fax";
  const { notes } = state.dialog;
  const { callbackAt, transferTo } = { ...notes, ...finished };
  return {
    success: (finished?.success ?? notes.success ?? false) && !machine,
    output: finished?.output ?? notes.output ?? {},
    summary: finished?.summary || factualSummary(state, endedBy, atMs, finished !== undefined),
    followUp: (finished?.followUp ?? false) || (notes.followUp ?? false),
    doNotCall: state.optedOut,
    ...(callbackAt !== undefined && { callbackAt }),
    ...(transferTo !== undefined && { transferTo }),
  };
}

/** One line made of what is certain: who answered, what was pressed, how it ended, how long it took. */
function factualSummary(state: ConversationState, endedBy: EndedBy, atMs: number, finished: boolean): string {
  const { summary } = phrasesFor(state);
  const verdict = finalVerdict(state.screening, atMs);
  const parts = [summary[verdict.kind]];
  const pressed = state.turns.filter((turn) => turn.via === "dtmf").map((turn) => turn.text);
  if (pressed.length > 0) parts.push(summary.pressed(pressed.join(", ")));
  if (verdict.kind === "voicemail")
    parts.push(state.voicemailMessageLeft ? summary.messageLeft : summary.messageNotLeft);
  if (state.optedOut) parts.push(summary.optedOut);
  const { step } = state.dialog;
  if (state.trouble !== undefined) parts.push(`${summary.trouble} (${state.trouble})`);
  else if (endedBy === "callee" && !finished) parts.push(summary.hungUp(step));
  else if (endedBy === "operator") parts.push(summary.operator(step));
  else if (endedBy === "limit") parts.push(summary.limit(step));
  else if (endedBy === "silence") parts.push(summary.noReply(step));
  parts.push(`${Math.round(atMs / 1000)} s`);
  return `${parts.join("; ")}.`;
}

function endOf(state: ConversationState): EndedBy {
  const { phase } = state;
  return phase.type === "over" || phase.type === "closing" ? phase.endedBy : "callee";
}
