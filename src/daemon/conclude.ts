import { outcomeOf, outcomeOfLegEnd, type Outcome } from "#domain";
import type { AttemptFacts } from "./attempt.ts";
import type { LineReport } from "./ports.ts";

/** How the attempt ended, decided once from what the leg, the line and the conversation saw. */
export function concludeAttempt(facts: AttemptFacts, report: LineReport): Outcome {
  return (
    brokenOff(facts) ?? (facts.answeredAt === undefined ? outcomeOfLegEnd(facts.end) : held(facts, report))
  );
}

/** Whole seconds from the answer to the hang-up, 0 when nobody answered. */
export function durationOf(facts: AttemptFacts): number {
  return Math.round(talkedMs(facts) / 1000);
}

/** We ended it for a reason of our own, not the conversation's. */
function brokenOff({ why, answeredAt }: AttemptFacts): Outcome | undefined {
  switch (why) {
    case "operator":
      return outcomeOf(answeredAt === undefined ? "cancelled" : "operator-ended", { hungUpBy: "operator" });
    case "shutdown":
      return answeredAt === undefined
        ? outcomeOf("interrupted", { hungUpBy: "operator" })
        : outcomeOf("operator-ended", { hungUpBy: "operator" });
    case "no-media":
      return outcomeOf("no-media", { hungUpBy: "agent" });
    case "media-lost":
      return outcomeOf("dropped", { hungUpBy: "trunk" });
    case "line-lost":
      return outcomeOf("line-lost", { hungUpBy: "trunk" });
    case "finished":
    case undefined:
      return undefined;
  }
}

function held(facts: AttemptFacts, { conversation }: LineReport): Outcome {
  const ended = outcomeOfLegEnd(facts.end, talkedMs(facts));
  const { state: _state, cause: _cause, detail: _detail, ...evidence } = ended;
  const { verdict, result, voicemailMessageLeft } = conversation;
  if (result.doNotCall) return { ...evidence, ...outcomeOf("opted-out") };
  if (result.followUp) return { ...evidence, ...outcomeOf("follow-up") };
  switch (verdict.kind) {
    case "voicemail":
      return {
        ...evidence,
        ...outcomeOf("voicemail"),
        detail: voicemailMessageLeft ? "A mailbox answered; the message was left." : "A mailbox answered.",
      };
    case "fax":
      return { ...evidence, ...outcomeOf("fax") };
    case "silence":
      return { ...ended, detail: "The call was answered, but nobody made a sound." };
    case "menu":
      return { ...ended, detail: "A telephone menu answered." };
    case "person":
    case "unknown":
      return ended;
  }
}

function talkedMs({ answeredAt, endedAt }: AttemptFacts): number {
  return answeredAt === undefined ? 0 : Math.max(0, endedAt - answeredAt);
}
