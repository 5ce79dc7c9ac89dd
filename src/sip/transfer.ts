import { responseTo, taggedUri } from "./compose.ts";
import type { DialogRequests } from "./dialog-requests.ts";
import { headerValue } from "./header.ts";
import type { SipRequest } from "./message.ts";
import type { ServerTransaction } from "./server-transactions.ts";
import { parseUri } from "./uri.ts";
import type { Clock } from "#base";

/** How a transfer stands. */
export interface TransferEvent {
  readonly type: "transfer";
  /** The latest the peer said: of its own call to the target, or its refusal of our REFER; 408: nothing any more. */
  readonly status: number;
  /** Whether the peer took the REFER; when not, the call is as it was. */
  readonly accepted: boolean;
  /** Nothing more will be told of it. A status below 200 then means that the outcome is not known. */
  readonly done: boolean;
}

/** Blind transfers by us (RFC 3515): one at a time. */
export interface Transfers {
  /** REFER to a sip, sips or tel URI. Throws when it is none, or while another transfer is under way. */
  start(targetUri: string): void;
  /** A NOTIFY of the peer. */
  notified(transaction: ServerTransaction): void;
  close(): void;
}

type Phase =
  | { readonly type: "none" }
  | { readonly type: "asked" }
  | { readonly type: "accepted"; readonly status: number; readonly patience: Disposable };

/** How long a peer that took a REFER may go without a word, ms: longer than its own INVITE may ring (RFC 3261 16.6). */
const patienceMs = 240_000;

export function createTransfers(
  clock: Clock,
  requests: DialogRequests,
  report: (event: TransferEvent) => void,
): Transfers {
  let phase: Phase = { type: "none" };
  /** A REFER of ours was sent: the NOTIFYs it brings are answered as long as the call lasts. */
  let subscribed = false;

  return { start, notified, close };

  function start(targetUri: string): void {
    if (parseUri(targetUri) === undefined) throw new Error("the target of a transfer is no SIP or tel URI");
    if (phase.type !== "none") throw new Error("a transfer is under way");
    phase = { type: "asked" };
    const by = requests.dialog.localUri;
    requests.send({
      method: "REFER",
      compose: () => ({
        headers: [
          { name: "Refer-To", value: taggedUri(targetUri, null) },
          { name: "Referred-By", value: taggedUri(by, null) },
        ],
      }),
      response(response) {
        if (response.status >= 300) return end(response.status, false);
        subscribed = true;
        const unsubscribed = headerValue(response, "Refer-Sub")?.toLowerCase().startsWith("false") === true;
        if (phase.type !== "asked") return; // A NOTIFY was faster.
        if (unsubscribed) end(response.status, true);
        else proceed(response.status);
      },
      failed: () => end(408, false),
    });
  }

  function notified(transaction: ServerTransaction): void {
    const { request } = transaction;
    if (eventOf(request) !== "refer") {
      const headers = [{ name: "Allow-Events", value: "refer" }];
      return transaction.respond(responseTo(request, 489, { headers }));
    }
    if (phase.type === "none" && !subscribed) return transaction.respond(responseTo(request, 481));
    subscribed = true;
    transaction.respond(responseTo(request, 200));
    if (phase.type === "none") return;
    const terminated = /^\s*terminated\b/i.test(headerValue(request, "Subscription-State") ?? "");
    const told = statusIn(request) ?? (phase.type === "accepted" ? phase.status : 100);
    if (told >= 200 || terminated) end(told, true);
    else proceed(told);
  }

  function proceed(status: number): void {
    if (phase.type === "accepted") phase.patience[Symbol.dispose]();
    const told = phase.type === "accepted" && phase.status === status;
    const patience = clock.alarm(clock.now() + patienceMs, () => end(408, true));
    phase = { type: "accepted", status, patience };
    if (!told) report({ type: "transfer", status, accepted: true, done: false });
  }

  function end(status: number, accepted: boolean): void {
    if (phase.type === "none") return;
    close();
    report({ type: "transfer", status, accepted, done: true });
  }

  function close(): void {
    if (phase.type === "accepted") phase.patience[Symbol.dispose]();
    phase = { type: "none" };
  }
}

function eventOf(notify: SipRequest): string {
  return (headerValue(notify, "Event") ?? "").split(";")[0]?.trim().toLowerCase() ?? "";
}

/** The status line of a message/sipfrag body (RFC 3420). */
function statusIn(notify: SipRequest): number | undefined {
  const type = headerValue(notify, "Content-Type") ?? "message/sipfrag";
  if (!/^message\/sipfrag\b/i.test(type)) return undefined;
  const body = new TextDecoder().decode(notify.body.subarray(0, 64));
  const status = /^SIP\/2\.0[ \t]+([1-6]\d\d)(?!\d)/i.exec(body)?.[1];
  return status === undefined ? undefined : Number(status);
}
