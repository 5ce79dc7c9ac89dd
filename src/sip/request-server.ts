import type { Machine, Step, Tick } from "#base";
import { GIVE_UP_MS } from "./timers.ts";

/** RFC 3261 17.2.2: any request but INVITE and ACK. */
export type RequestServerState =
  /** Given up when nobody answers it in 64*T1: the other side has done so too. */
  | { readonly type: "trying"; readonly forgetAt: number; readonly reliable: boolean }
  | { readonly type: "proceeding"; readonly forgetAt: number; readonly reliable: boolean }
  | { readonly type: "completed"; readonly forgetAt: number }
  | { readonly type: "terminated" };

export type RequestServerInput =
  /** The request came again. */
  | { readonly type: "request" }
  /** The answer is there; its bytes are kept by the caller as the latest response. */
  | { readonly type: "respond"; readonly status: number };

/** Sends the latest response. */
export interface RequestServerEffect {
  readonly type: "send-response";
}

type RequestServerStep = Step<RequestServerState, RequestServerEffect>;

/** The non-INVITE server transaction: timer J, zero over a reliable transport. */
export const requestServer = {
  step,
  deadline: (state) => (state.type === "terminated" ? Infinity : state.forgetAt),
  isOver: (state) => state.type === "terminated",
} satisfies Machine<RequestServerState, RequestServerInput, RequestServerEffect>;

/** The request came; nothing is sent until it is answered. */
export function startRequestServer(now: number, reliable = false): RequestServerStep {
  return to({ type: "trying", forgetAt: now + GIVE_UP_MS, reliable });
}

function step(state: RequestServerState, input: RequestServerInput | Tick, now: number): RequestServerStep {
  switch (input.type) {
    case "tick":
      return state.type !== "terminated" && now >= state.forgetAt ? to({ type: "terminated" }) : to(state);
    case "request":
      return state.type === "proceeding" || state.type === "completed"
        ? to(state, { type: "send-response" })
        : to(state);
    case "respond":
      return respond(state, input.status, now);
  }
}

function respond(state: RequestServerState, status: number, now: number): RequestServerStep {
  switch (state.type) {
    case "trying":
    case "proceeding":
      if (status < 200) return to({ ...state, type: "proceeding" }, { type: "send-response" });
      return to(
        { type: "completed", forgetAt: state.reliable ? now : now + GIVE_UP_MS },
        { type: "send-response" },
      );
    case "completed":
    case "terminated":
      return to(state);
  }
}

function to(state: RequestServerState, ...effects: RequestServerEffect[]): RequestServerStep {
  return { state, effects };
}
