import type { Clock } from "#base";
import { tagOf } from "./compose.ts";
import { headerValue } from "./header.ts";
import type { SipRequest } from "./message.ts";
import type { ServerTransaction } from "./server-transactions.ts";
import { GIVE_UP_MS } from "./timers.ts";

/** What a user agent needs of a call of either direction. */
interface IndexedCall {
  readonly callId: string;
  readonly localTag: string;
  receive(transaction: ServerTransaction): void;
  acknowledge(ack: SipRequest): void;
  hangUp(): void;
}

/** The calls under way by Call-ID and our tag, and the Call-IDs of other requests that await an answer. */
export interface CallIndex {
  add(call: IndexedCall): void;
  /** Over: kept 64*T1 more for what is still in the network, then forgotten; `gone` is called then. */
  dismiss(call: IndexedCall, gone?: () => void): void;
  /** The call that a request inside a dialog names by Call-ID and To tag. */
  find(request: SipRequest): IndexedCall | undefined;
  /** Awaits answers under a Call-ID for two minutes. */
  expect(callId: string): void;
  /** Awaits answers under a Call-ID until told otherwise. */
  keep(callId: string): Disposable;
  knows(callId: string): boolean;
  readonly all: readonly IndexedCall[];
}

const expectMs = 120_000;

export function createCallIndex(clock: Clock): CallIndex {
  const calls = new Map<string, Map<string, IndexedCall>>();
  const expected = new Set<string>();
  const kept = new Set<string>();

  return {
    add,
    dismiss,
    find,
    expect,
    keep(callId) {
      kept.add(callId);
      return { [Symbol.dispose]: () => void kept.delete(callId) };
    },
    knows: (callId) => calls.has(callId) || expected.has(callId) || kept.has(callId),
    get all() {
      return [...calls.values()].flatMap((byTag) => [...byTag.values()]);
    },
  };

  function add(call: IndexedCall): void {
    const byTag = calls.get(call.callId) ?? new Map<string, IndexedCall>();
    byTag.set(call.localTag, call);
    calls.set(call.callId, byTag);
  }

  function dismiss(call: IndexedCall, gone?: () => void): void {
    clock.alarm(clock.now() + GIVE_UP_MS, () => {
      const byTag = calls.get(call.callId);
      byTag?.delete(call.localTag);
      if (byTag?.size === 0) calls.delete(call.callId);
      gone?.();
    });
  }

  function find(request: SipRequest): IndexedCall | undefined {
    const tag = tagOf(request, "To");
    if (tag === undefined) return undefined;
    return calls.get(headerValue(request, "Call-ID") ?? "")?.get(tag);
  }

  function expect(callId: string): void {
    expected.add(callId);
    clock.alarm(clock.now() + expectMs, () => expected.delete(callId));
  }
}
