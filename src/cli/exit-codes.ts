/** What each exit code promises. Published: scripts may rely on it; an unknown code means failure. */
export const exitCodes = [
  { code: 0, name: "success", meaning: "done; an empty list too" },
  { code: 1, name: "unexpected", meaning: "an error nobody planned for" },
  {
    code: 2,
    name: "usage",
    meaning: "wrong flag, argument, field or file; or a question that may not be asked here",
  },
  { code: 3, name: "declined", meaning: "you answered no" },
  { code: 4, name: "auth", meaning: "not authenticated, or not allowed" },
  { code: 5, name: "not-found", meaning: "no such call, campaign, playbook, ..." },
  { code: 6, name: "unreachable", meaning: "the daemon or the host cannot be reached" },
  { code: 7, name: "partial", meaning: "done, but some rows or calls were rejected" },
  { code: 8, name: "pending", meaning: "not over yet when --timeout was reached" },
  { code: 9, name: "check-failed", meaning: "a check found something wrong" },
  { code: 10, name: "conflict", meaning: "same --key with other content, or the wrong state for this step" },
  { code: 11, name: "rate-limited", meaning: "still rate limited after --retry-for" },
  { code: 12, name: "refused", meaning: "refused by policy: do-not-call list or dialling rules" },
  {
    code: 20,
    name: "objectives-not-met",
    meaning: "--wait: the call took place, its objectives were not met",
  },
  { code: 21, name: "voicemail", meaning: "--wait: voicemail" },
  { code: 22, name: "no-answer", meaning: "--wait: no answer" },
  { code: 23, name: "busy", meaning: "--wait: busy or declined" },
  { code: 24, name: "wrong-number", meaning: "--wait: wrong number" },
  {
    code: 25,
    name: "failed",
    meaning: "--wait: the call failed, was cancelled, or needs a person to decide",
  },
  { code: 26, name: "recall-scheduled", meaning: "--wait: not reached, a recall is scheduled" },
  { code: 130, name: "interrupted", meaning: "Ctrl-C; what was started goes on" },
  { code: 143, name: "terminated", meaning: "SIGTERM" },
] as const;

export type ExitName = (typeof exitCodes)[number]["name"];

/** The number behind a name of the table. */
export function exitCode(name: ExitName): number {
  return exitCodes.find((entry) => entry.name === name)?.code ?? 1;
}

/** The exit code of `--wait` for a finished or waiting call, from its status in the get vocabulary. */
export function exitCodeOfCall(status: string, success: boolean, cause?: string): number {
  switch (status) {
    case "closed":
      return exitCode(success ? "success" : "objectives-not-met");
    case "voicemail":
      return exitCode("voicemail");
    case "no-answer":
    case "rong-phone-forno-answer":
      return exitCode(cause === "declined" ? "busy" : "no-answer");
    case "busy":
      return exitCode("busy");
    case "wrong-phone-format":
      return exitCode("wrong-number");
    case "recall-scheduled":
      return exitCode("recall-scheduled");
    default:
      return exitCode("failed");
  }
}
