import type { Machine, Step, Tick } from "#base";
import { GIVE_UP_MS, T1_MS } from "./timers.ts";

/** RFC 3261 17.1.1, with the accepted state of RFC 6026 7.2. Deadlines live in the states that need them. */
export type InviteClientState =
  | {
      readonly type: "calling";
      readonly resendAt: number;
      readonly intervalMs: number;
      readonly giveUpAt: number;
      readonly reliable: boolean;
    }
  /** `giveUpAt` is Infinity until a CANCEL went out (RFC 3261 9.1). */
  | { readonly type: "proceeding"; readonly giveUpAt: number; readonly reliable: boolean }
  | { readonly type: "completed"; readonly forgetAt: number }
  | { readonly type: "accepted"; readonly forgetAt: number }
  | { readonly type: "terminated" };

export type InviteClientInput =
  | { readonly type: "response"; readonly status: number }
  /** A CANCEL was sent: the final response must come within 64*T1. */
  | { readonly type: "cancelled" }
  | { readonly type: "transport-failed" };

export type InviteClientEffect =
  | { readonly type: "send-invite" }
  | { readonly type: "send-ack" }
  | { readonly type: "pass-up" }
  | { readonly type: "fail"; readonly reason: "timeout" | "transport" };

type InviteClientStep = Step<InviteClientState, InviteClientEffect>;

/** The INVITE client transaction: timers A, B, D and M; over a reliable transport without A and with D of zero. */
export const inviteClient = {
  step,
  deadline,
  isOver: (state) => state.type === "terminated",
} satisfies Machine<InviteClientState, InviteClientInput, InviteClientEffect>;

/** Sends the INVITE for the first time. */
export function startInviteClient(now: number, reliable = false): InviteClientStep {
  const resendAt = reliable ? Infinity : now + T1_MS;
  return to(
    { type: "calling", resendAt, intervalMs: T1_MS, giveUpAt: now + GIVE_UP_MS, reliable },
    { type: "send-invite" },
  );
}

/** Takes up an INVITE that an earlier process sent and that is being cancelled: nothing is sent, answers are awaited. */
export function resumeInviteClient(now: number, reliable = false): InviteClientStep {
  return to({ type: "proceeding", giveUpAt: now + GIVE_UP_MS, reliable });
}

function step(state: InviteClientState, input: InviteClientInput | Tick, now: number): InviteClientStep {
  switch (input.type) {
    case "tick":
      return tick(state, now);
    case "response":
      return respond(state, input.status, now);
    case "cancelled":
      return state.type === "proceeding"
        ? to({ ...state, giveUpAt: Math.min(state.giveUpAt, now + GIVE_UP_MS) })
        : to(state);
    case "transport-failed":
      return fail(state);
  }
}

function respond(state: InviteClientState, status: number, now: number): InviteClientStep {
  switch (state.type) {
    case "calling":
    case "proceeding":
      if (status < 200) {
        const giveUpAt = state.type === "proceeding" ? state.giveUpAt : Infinity;
        return to({ type: "proceeding", giveUpAt, reliable: state.reliable }, { type: "pass-up" });
      }
      if (status < 300) return to({ type: "accepted", forgetAt: now + GIVE_UP_MS }, { type: "pass-up" });
      return to(
        { type: "completed", forgetAt: state.reliable ? now : now + GIVE_UP_MS },
        { type: "send-ack" },
        { type: "pass-up" },
      );
    case "completed":
      return status >= 300 ? to(state, { type: "send-ack" }) : to(state);
    case "accepted": // A 2xx comes again, or from another fork: the call answers with its ACK, not this transaction.
      return status >= 200 && status < 300 ? to(state, { type: "pass-up" }) : to(state);
    case "terminated":
      return to(state);
  }
}

function tick(state: InviteClientState, now: number): InviteClientStep {
  if (now < deadline(state)) return to(state);
  switch (state.type) {
    case "calling": {
      if (now >= state.giveUpAt) return to({ type: "terminated" }, { type: "fail", reason: "timeout" });
      const intervalMs = state.intervalMs * 2;
      return to({ ...state, intervalMs, resendAt: now + intervalMs }, { type: "send-invite" });
    }
    case "proceeding":
      return to({ type: "terminated" }, { type: "fail", reason: "timeout" });
    case "completed":
    case "accepted":
    case "terminated":
      return to({ type: "terminated" });
  }
}

/** Only an INVITE still unanswered can fail so: a peer that has answered is there, whatever became of a copy. */
function fail(state: InviteClientState): InviteClientStep {
  switch (state.type) {
    case "calling":
      return to({ type: "terminated" }, { type: "fail", reason: "transport" });
    case "proceeding":
    case "completed":
    case "accepted":
    case "terminated":
      return to(state);
  }
}

function deadline(state: InviteClientState): number {
  switch (state.type) {
    case "calling":
      return Math.min(state.resendAt, state.giveUpAt);
    case "proceeding":
      return state.giveUpAt;
    case "completed":
    case "accepted":
      return state.forgetAt;
    case "terminated":
      return Infinity;
  }
}

function to(state: InviteClientState, ...effects: InviteClientEffect[]): InviteClientStep {
  return { state, effects };
}
