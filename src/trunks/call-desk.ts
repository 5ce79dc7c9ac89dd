import { describeError, type Log } from "#host";
import type { LegEvent, OutgoingCall, ReceivedCall, ReceivedInvite, UserAgentOutput } from "#sip";
import type { IncomingCall } from "./incoming-call.ts";

/** Who is told what happens to which call. A listener that throws ends its call, and only that. */
export interface CallDesk {
  follow(call: OutgoingCall, onEvent: (event: LegEvent) => void): void;
  deliver(
    output: Extract<UserAgentOutput, { readonly type: "leg-event" | "call-received" | "call-event" }>,
  ): void;
  hangUpAll(): void;
  /** Ends the legs whose peer has not confirmed the goodbye. */
  abandonAll(): void;
  /** Legs not yet ended. */
  readonly legs: number;
}

export function createCallDesk(options: {
  readonly log: Log;
  /** Brings the user agent's time up to date before, and does what comes of it after. */
  readonly act: <T>(order: () => T) => T;
  readonly onInvite?: (call: IncomingCall) => void;
}): CallDesk {
  const { log, act, onInvite } = options;
  const legs = new Map<OutgoingCall, (event: LegEvent) => void>();
  const incoming = new Map<ReceivedCall, IncomingCall>();

  return {
    follow: (call, onEvent) => void legs.set(call, onEvent),
    deliver,
    hangUpAll() {
      for (const call of legs.keys()) call.hangUp();
    },
    abandonAll() {
      for (const call of legs.keys()) call.abandon();
    },
    get legs() {
      return legs.size;
    },
  };

  function deliver(output: Parameters<CallDesk["deliver"]>[0]): void {
    switch (output.type) {
      case "leg-event": {
        const listener = legs.get(output.call);
        if (output.event.type === "leg-ended") legs.delete(output.call);
        return tell(() => listener?.(output.event), output.call);
      }
      case "call-received": {
        const call = incomingCall(output.call, output.invite);
        incoming.set(output.call, call);
        return tell(() => onInvite?.(call), output.call);
      }
      case "call-event": {
        const call = incoming.get(output.call);
        const { type } = output.event;
        if (type === "ended" || type === "cancelled") incoming.delete(output.call);
        return tell(() => call?.onEvent(output.event), output.call);
      }
    }
  }

  function tell(listener: () => void, call: { hangUp(): void }): void {
    try {
      listener();
    } catch (error) {
      log.error("fault while telling of a call; it is hung up", { error: describeError(error) });
      act(() => call.hangUp());
    }
  }

  function incomingCall(call: ReceivedCall, invite: ReceivedInvite): IncomingCall {
    return {
      sipCallId: call.callId,
      ...invite,
      ring: () => act(() => call.ring()),
      earlyMedia: (local) => act(() => call.earlyMedia(local)),
      answer: (local) => act(() => call.answer(local)),
      reject: (status, details) => act(() => call.reject(status, details)),
      hangUp: () => act(() => call.hangUp()),
      hold: () => act(() => call.hold()),
      resume: () => act(() => call.resume()),
      onEvent: () => undefined,
    };
  }
}
