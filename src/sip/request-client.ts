import type { Machine, Step, Tick } from "#base";
import { GIVE_UP_MS, T1_MS, T2_MS, T4_MS } from "./timers.ts";

/** RFC 3261 17.1.2: any request but INVITE and ACK. */
export type RequestClientState =
  | {
      /** `proceeding`: a provisional response came, so it is repeated every T2 only. */
      readonly type: "trying" | "proceeding";
      readonly resendAt: number;
      readonly intervalMs: number;
      readonly giveUpAt: number;
      readonly reliable: boolean;
    }
  | { readonly type: "completed"; readonly forgetAt: number }
  | { readonly type: "terminated" };

export type RequestClientInput =
  | { readonly type: "response"; readonly status: number }
  | { readonly type: "transport-failed" };

export type RequestClientEffect =
  | { readonly type: "send-request" }
  | { readonly type: "pass-up" }
  | { readonly type: "fail"; readonly reason: "timeout" | "transport" };

type RequestClientStep = Step<RequestClientState, RequestClientEffect>;

/** The non-INVITE client transaction: timers E, F and K; over a reliable transport without E and with K of zero. */
export const requestClient = {
  step,
  deadline,
  isOver: (state) => state.type === "terminated",
} satisfies Machine<RequestClientState, RequestClientInput, RequestClientEffect>;

/** Sends the request for the first time. */
export function startRequestClient(now: number, reliable = false): RequestClientStep {
  const resendAt = reliable ? Infinity : now + T1_MS;
  return to(
    { type: "trying", resendAt, intervalMs: T1_MS, giveUpAt: now + GIVE_UP_MS, reliable },
    { type: "send-request" },
  );
}

function step(state: RequestClientState, input: RequestClientInput | Tick, now: number): RequestClientStep {
  switch (input.type) {
    case "tick":
      return tick(state, now);
    case "response":
      return respond(state, input.status, now);
    case "transport-failed": // A peer that has answered is there, whatever became of a copy.
      return state.type === "trying"
        ? to({ type: "terminated" }, { type: "fail", reason: "transport" })
        : to(state);
  }
}

function respond(state: RequestClientState, status: number, now: number): RequestClientStep {
  switch (state.type) {
    case "trying":
    case "proceeding":
      if (status < 200) return to({ ...state, type: "proceeding" }, { type: "pass-up" });
      return to({ type: "completed", forgetAt: state.reliable ? now : now + T4_MS }, { type: "pass-up" });
    case "completed":
    case "terminated":
      return to(state);
  }
}

function tick(state: RequestClientState, now: number): RequestClientStep {
  if (now < deadline(state)) return to(state);
  switch (state.type) {
    case "trying":
    case "proceeding": {
      if (now >= state.giveUpAt) return to({ type: "terminated" }, { type: "fail", reason: "timeout" });
      const intervalMs = state.type === "proceeding" ? T2_MS : Math.min(2 * state.intervalMs, T2_MS);
      return to({ ...state, intervalMs, resendAt: now + intervalMs }, { type: "send-request" });
    }
    case "completed":
    case "terminated":
      return to({ type: "terminated" });
  }
}

function deadline(state: RequestClientState): number {
  switch (state.type) {
    case "trying":
    case "proceeding":
      return Math.min(state.resendAt, state.giveUpAt);
    case "completed":
      return state.forgetAt;
    case "terminated":
      return Infinity;
  }
}

function to(state: RequestClientState, ...effects: RequestClientEffect[]): RequestClientStep {
  return { state, effects };
}
