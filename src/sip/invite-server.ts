import type { Machine, Step, Tick } from "#base";
import { GIVE_UP_MS, T1_MS, T2_MS, T4_MS } from "./timers.ts";

/** RFC 3261 17.2.1, with the accepted state of RFC 6026 7.1. */
export type InviteServerState =
  | { readonly type: "proceeding"; readonly reliable: boolean }
  | {
      readonly type: "completed";
      readonly resendAt: number;
      readonly intervalMs: number;
      readonly giveUpAt: number;
      readonly reliable: boolean;
    }
  | { readonly type: "confirmed"; readonly forgetAt: number }
  | { readonly type: "accepted"; readonly forgetAt: number }
  | { readonly type: "terminated" };

export type InviteServerInput =
  /** The INVITE came again. */
  | { readonly type: "request" }
  | { readonly type: "ack" }
  /** The call answers; its bytes are kept by the caller as the latest response. */
  | { readonly type: "respond"; readonly status: number };

export type InviteServerEffect =
  /** Sends the latest response. */
  | { readonly type: "send-response" }
  /** An ACK of a 2xx that carries the INVITE's branch: the call's business. */
  | { readonly type: "pass-ack" }
  | { readonly type: "fail"; readonly reason: "timeout" };

type InviteServerStep = Step<InviteServerState, InviteServerEffect>;

/** The INVITE server transaction: timers G, H, I and L; over a reliable transport without G and with I of zero. */
export const inviteServer = {
  step,
  deadline,
  isOver: (state) => state.type === "terminated",
} satisfies Machine<InviteServerState, InviteServerInput, InviteServerEffect>;

/** Answers 100 Trying, which must be the latest response by then. */
export function startInviteServer(reliable = false): InviteServerStep {
  return to({ type: "proceeding", reliable }, { type: "send-response" });
}

function step(state: InviteServerState, input: InviteServerInput | Tick, now: number): InviteServerStep {
  switch (input.type) {
    case "tick":
      return tick(state, now);
    case "request":
      return state.type === "proceeding" || state.type === "completed"
        ? to(state, { type: "send-response" })
        : to(state);
    case "ack":
      return acknowledge(state, now);
    case "respond":
      return respond(state, input.status, now);
  }
}

function respond(state: InviteServerState, status: number, now: number): InviteServerStep {
  switch (state.type) {
    case "proceeding":
      if (status < 200) return to(state, { type: "send-response" });
      if (status < 300)
        return to({ type: "accepted", forgetAt: now + GIVE_UP_MS }, { type: "send-response" });
      return to(
        {
          type: "completed",
          resendAt: state.reliable ? Infinity : now + T1_MS,
          intervalMs: T1_MS,
          giveUpAt: now + GIVE_UP_MS,
          reliable: state.reliable,
        },
        { type: "send-response" },
      );
    case "accepted": // The call repeats its 2xx itself until the ACK (RFC 3261 13.3.1.4).
      return status >= 200 && status < 300 ? to(state, { type: "send-response" }) : to(state);
    case "completed":
    case "confirmed":
    case "terminated":
      return to(state);
  }
}

function acknowledge(state: InviteServerState, now: number): InviteServerStep {
  switch (state.type) {
    case "completed":
      return to({ type: "confirmed", forgetAt: state.reliable ? now : now + T4_MS });
    case "accepted":
      return to(state, { type: "pass-ack" });
    case "proceeding":
    case "confirmed":
    case "terminated":
      return to(state);
  }
}

function tick(state: InviteServerState, now: number): InviteServerStep {
  if (now < deadline(state)) return to(state);
  switch (state.type) {
    case "completed": {
      if (now >= state.giveUpAt) return to({ type: "terminated" }, { type: "fail", reason: "timeout" });
      const intervalMs = Math.min(2 * state.intervalMs, T2_MS);
      return to({ ...state, intervalMs, resendAt: now + intervalMs }, { type: "send-response" });
    }
    case "confirmed":
    case "accepted":
      return to({ type: "terminated" });
    case "proceeding":
    case "terminated":
      return to(state);
  }
}

function deadline(state: InviteServerState): number {
  switch (state.type) {
    case "completed":
      return Math.min(state.resendAt, state.giveUpAt);
    case "confirmed":
    case "accepted":
      return state.forgetAt;
    case "proceeding":
    case "terminated":
      return Infinity;
  }
}

function to(state: InviteServerState, ...effects: InviteServerEffect[]): InviteServerStep {
  return { state, effects };
}
