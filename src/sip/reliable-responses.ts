import { acceptance, startAcceptance, type AcceptanceInput } from "./acceptance.ts";
import type { AgentCore } from "./agent-core.ts";
import { responseTo } from "./compose.ts";
import { cseqOf } from "./dialog.ts";
import { headerValue, headerValues } from "./header.ts";
import type { SipRequest, SipResponse } from "./message.ts";
import { runMachine } from "./run-machine.ts";
import { readNumber } from "./scan.ts";
import type { ServerTransaction } from "./server-transactions.ts";
import type { Driver } from "#base";

/** The callee's reliable provisional responses to one INVITE (RFC 3262 3): one after the other, each repeated until its PRACK. */
export interface ReliableResponses {
  /** Sends it as soon as those before it have been acknowledged; `acknowledged` answers its PRACK. */
  send(response: SipResponse, acknowledged: (prack: ServerTransaction) => void): void;
  /** A PRACK; one that acknowledges nothing that is out is answered 481. */
  acknowledge(prack: ServerTransaction): void;
  /** A final response was given: nothing is sent or repeated any more. The PRACK of the one that is out is still known. */
  close(): void;
}

interface Outstanding {
  readonly number: number;
  readonly driver: Driver<AcceptanceInput>;
  readonly acknowledged: (prack: ServerTransaction) => void;
}

/** Whether an INVITE wants every provisional response acknowledged. */
export function wantsReliable(invite: SipRequest): boolean {
  return headerValues(invite, "Require").some((option) => option.toLowerCase() === "100rel");
}

/** `unacknowledged`: the peer was silent for 64*T1. */
export function createReliableResponses(
  core: AgentCore,
  transaction: ServerTransaction,
  unacknowledged: () => void,
): ReliableResponses {
  const queue: (readonly [SipResponse, Outstanding["acknowledged"]])[] = [];
  let out: Outstanding | undefined;
  let number = firstNumber();
  let closed = false;

  return { send, acknowledge, close };

  function firstNumber(): number {
    const [a = 0, b = 0, c = 0] = core.entropy.bytes(3);
    return 1 + a * 65_536 + b * 256 + c; // Below 2^31, and no growth ends it (RFC 3262 3).
  }

  function send(response: SipResponse, acknowledged: Outstanding["acknowledged"]): void {
    if (closed) return;
    queue.push([response, acknowledged]);
    proceed();
  }

  function proceed(): void {
    const next = out === undefined ? queue.shift() : undefined;
    if (next === undefined) return;
    const [response, acknowledged] = next;
    const reliable: SipResponse = {
      ...response,
      headers: [
        ...response.headers,
        { name: "Require", value: "100rel" },
        { name: "RSeq", value: `${number}` },
      ],
    };
    const driver = runMachine(acceptance, startAcceptance(core.clock.now(), Infinity), core.clock, {
      effect: (effect) =>
        effect.type === "send-response" ? transaction.respond(reliable) : unacknowledged(),
    });
    out = { number, driver, acknowledged };
    number += 1;
  }

  function acknowledge(prack: ServerTransaction): void {
    if (out === undefined || !names(prack.request, out.number)) {
      return prack.respond(responseTo(prack.request, 481));
    }
    const { driver, acknowledged } = out;
    out = undefined;
    driver.feed({ type: "settled" });
    acknowledged(prack);
    proceed();
  }

  function names(prack: SipRequest, rseq: number): boolean {
    const [number = "", cseq = "", method = ""] = (headerValue(prack, "RAck") ?? "").trim().split(/[ \t]+/);
    if (readNumber(number, 0xffff_ffff) !== rseq || method !== "INVITE") return false;
    return readNumber(cseq, 0xffff_ffff) === cseqOf(transaction.request);
  }

  function close(): void {
    closed = true;
    queue.length = 0;
    out?.driver.feed({ type: "settled" });
  }
}
