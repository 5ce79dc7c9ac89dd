import type { PhraseName } from "./phrases.ts";

/** One thing the callee does. Acts of a list follow each other; saying takes as long as it takes. */
export type Act =
  | { readonly type: "say"; readonly phrase: PhraseName }
  /** Real-time text, when it was agreed; else nothing. */
  | { readonly type: "type"; readonly phrase: PhraseName }
  | { readonly type: "wait"; readonly ms: number }
  | { readonly type: "beep" }
  | { readonly type: "press"; readonly digits: string }
  /** Presses the digit the agent asked for in its text; types a yes when it asked for none; presses 1 when there is no text. */
  | { readonly type: "agree" }
  | { readonly type: "hang-up" };

/** How a callee takes part: what it does at which moment. All moments may come again, as often as `atMost` says. */
export interface CalleeRole {
  /** False: answers, yet never sends a packet of audio. */
  readonly hasAudio: boolean;
  readonly onAnswer: readonly Act[];
  /** The agent has been speaking for `afterMs`. */
  readonly onAgentSpeaking?: {
    readonly afterMs: number;
    readonly atMost: number;
    readonly acts: readonly Act[];
  };
  /** The agent has finished speaking, turn by turn; the last entry serves for all later turns. */
  readonly onAgentDone?: readonly (readonly Act[])[];
  /** The agent pressed a digit: from then on this role is played. */
  readonly onDigit?: CalleeRole;
  /** Nothing happened for so long. */
  readonly onIdle?: { readonly afterMs: number; readonly acts: readonly Act[] };
}

const hello: readonly Act[] = [
  { type: "wait", ms: 150 },
  { type: "say", phrase: "hello" },
];
const yes: readonly Act[] = [{ type: "wait", ms: 200 }, { type: "say", phrase: "yes" }, { type: "agree" }];
const menuText: readonly Act[] = [{ type: "say", phrase: "menu" }];

const agreeable: CalleeRole = { hasAudio: true, onAnswer: hello, onAgentDone: [yes] };

/** Everyone who lives behind the sandbox numbers. */
export const roles = {
  agreeable,
  voicemail: {
    hasAudio: true,
    onAnswer: [{ type: "say", phrase: "mailbox" }, { type: "wait", ms: 300 }, { type: "beep" }],
  },
  hangsUp: {
    hasAudio: true,
    onAnswer: hello,
    onAgentSpeaking: { afterMs: 1_500, atMost: 1, acts: [{ type: "hang-up" }] },
  },
  optsOut: {
    hasAudio: true,
    onAnswer: hello,
    onAgentDone: [
      [
        { type: "wait", ms: 200 },
        { type: "say", phrase: "neverAgain" },
        { type: "type", phrase: "neverAgain" },
      ],
      [
        { type: "say", phrase: "neverAgain" },
        { type: "press", digits: "9" },
      ],
    ],
  },
  silent: { hasAudio: true, onAnswer: [] },
  interrupts: {
    hasAudio: true,
    onAnswer: hello,
    onAgentSpeaking: { afterMs: 700, atMost: 6, acts: [{ type: "say", phrase: "interruption" }] },
    onAgentDone: [[{ type: "say", phrase: "interruption" }], yes],
  },
  menu: {
    hasAudio: true,
    onAnswer: menuText,
    onIdle: { afterMs: 4_000, acts: menuText },
    onDigit: agreeable,
  },
  noAudio: { hasAudio: false, onAnswer: [] },
} as const satisfies Record<string, CalleeRole>;
