import { roles, type CalleeRole } from "./roles.ts";

/** What happens to a call before anyone speaks. */
export type Reaction =
  | { readonly type: "answer"; readonly afterMs: number; readonly role: CalleeRole }
  | {
      readonly type: "reject";
      readonly afterMs: number;
      readonly status: number;
      readonly q850: number;
      readonly retryAfterS?: number;
    }
  /** Rings until the caller gives up, or the network does. */
  | { readonly type: "ring"; readonly giveUpMs: number };

export interface Behaviour {
  /** `180 Ringing` so long after the INVITE; undefined: never. */
  readonly ringAfterMs: number | undefined;
  readonly reaction: Reaction;
}

const prompt = (role: CalleeRole): Behaviour => ({
  ringAfterMs: 100,
  reaction: { type: "answer", afterMs: 1_000, role },
});

const refusal = (
  status: number,
  q850: number,
  more: { ringing?: boolean; retryAfterS?: number } = {},
): Behaviour => ({
  ringAfterMs: more.ringing === true ? 100 : undefined,
  reaction: {
    type: "reject",
    afterMs: more.ringing === true ? 1_500 : 200,
    status,
    q850,
    ...(more.retryAfterS === undefined ? {} : { retryAfterS: more.retryAfterS }),
  },
});

const behaviours: Readonly<Record<string, Behaviour>> = {
  "001": prompt(roles.agreeable),
  "002": { ringAfterMs: 100, reaction: { type: "answer", afterMs: 1_500, role: roles.voicemail } },
  "003": refusal(486, 17),
  "004": { ringAfterMs: 100, reaction: { type: "ring", giveUpMs: 60_000 } },
  "005": refusal(603, 21, { ringing: true }),
  "006": refusal(404, 1),
  "007": refusal(503, 34, { retryAfterS: 2 }),
  "008": prompt(roles.hangsUp),
  "009": prompt(roles.optsOut),
  "010": prompt(roles.silent),
  "011": prompt(roles.interrupts),
  "012": prompt(roles.menu),
  "013": { ringAfterMs: 100, reaction: { type: "answer", afterMs: 20_000, role: roles.agreeable } },
  "014": prompt(roles.noAudio),
};

/** The behaviour that the number's last three digits choose; undefined when the number is not `+999 000 0nnn` or nobody lives there. */
export function behaviourOf(number: string): Behaviour | undefined {
  const digits = /^\+?9990000(\d{3})$/.exec(number)?.[1];
  if (digits === undefined) return undefined;
  if (digits.startsWith("1")) {
    return {
      ringAfterMs: 100,
      reaction: { type: "answer", afterMs: Number(digits.slice(1)) * 1_000, role: roles.agreeable },
    };
  }
  // Enough different numbers for a load: one number is never in two calls at once.
  if (/^[2-9]/.test(digits)) return prompt(roles.agreeable);
  return Object.hasOwn(behaviours, digits) ? behaviours[digits] : undefined;
}
