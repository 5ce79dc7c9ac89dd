import { agentHeader, freshVia, sendOnce, type AgentCore } from "./agent-core.ts";
import { credentialsIn, type AuthenticationAttempt, type Authenticator } from "./authenticator.ts";
import { cancelOf, uriOf, type SipAddress } from "./compose.ts";
import { advanceDialog, nextCSeq, requestInDialog, type Dialog } from "./dialog.ts";
import { sendBye } from "./farewell.ts";
import type { SipHeader, SipRequest, SipResponse } from "./message.ts";
import { GIVE_UP_MS } from "./timers.ts";

/** A request of ours inside a dialog. */
export interface RequestOrder {
  readonly method: string;
  /** What it says; asked each time it leaves. */
  compose(): { readonly headers: readonly SipHeader[]; readonly body?: RequestBody };
  /** The final response, challenges excepted that could be answered. A 2xx of an INVITE has been acknowledged. */
  response(response: SipResponse): void;
  failed(reason: "timeout" | "transport"): void;
}

interface RequestBody {
  /** Content-Type. */
  readonly type: string;
  readonly text: string;
}

/**
 * Our side of a dialog, early or confirmed: its state and our requests in it. One is sent after the other has been
 * answered in some way, so that none overtakes another on the network and is refused for its CSeq.
 */
export interface DialogRequests {
  readonly dialog: Dialog;
  /** Takes a request of the peer; false: it is out of order (RFC 3261 12.2.2). */
  take(request: SipRequest): boolean;
  /** The 2xx of the INVITE came: route set and target are those it gives (RFC 3261 13.2.2.4). */
  confirm(dialog: Dialog): void;
  send(order: RequestOrder): void;
  /** Sends BYE, once, also when closed before; what still waits to be sent is dropped. */
  bye(): void;
  /** Drops what still waits to be sent. */
  close(): void;
}

interface Queued {
  readonly order: RequestOrder;
  /** The challenges met so far. */
  readonly tries?: AuthenticationAttempt;
}

const text = new TextEncoder();

/** `changed` hears of every new target, route set or own CSeq number. */
export function createDialogRequests(
  core: AgentCore,
  start: { readonly dialog: Dialog; readonly authenticator: Authenticator },
  changed: (dialog: Dialog) => void,
): DialogRequests {
  const { authenticator } = start;
  const queue: Queued[] = [];
  let dialog = start.dialog;
  /** The request that the peer has not answered in any way. */
  let unanswered: RequestOrder | undefined;
  let over = false;
  let left = false;

  return {
    get dialog() {
      return dialog;
    },
    take,
    confirm(confirmed) {
      const localCSeq = Math.max(dialog.localCSeq, confirmed.localCSeq);
      dialog = { ...confirmed, localCSeq, remoteCSeq: dialog.remoteCSeq };
    },
    send(order) {
      queue.push({ order });
      proceed();
    },
    bye() {
      if (left) return;
      left = true;
      close();
      sendBye(core, dialog, authenticator);
    },
    close,
  };

  function take(request: SipRequest): boolean {
    const advanced = advanceDialog(dialog, request);
    if (advanced === undefined) return false;
    const moved = advanced.remoteTarget !== dialog.remoteTarget;
    dialog = advanced;
    if (moved) changed(dialog);
    return true;
  }

  function close(): void {
    over = true;
    queue.length = 0;
  }

  function proceed(): void {
    if (over || unanswered !== undefined) return;
    const next = queue.shift();
    if (next !== undefined) dispatch(next);
  }

  function dispatch({ order, tries }: Queued): void {
    unanswered = order;
    dialog = nextCSeq(dialog);
    changed(dialog);
    const { request, to } = build(order, tries !== undefined);
    const elsewhere = to.address !== dialog.fallback.address;
    const attempt = tries ?? authenticator.attempt({ knownRealmsOnly: elsewhere });
    const acknowledge = order.method === "INVITE" ? acknowledger(request) : undefined;
    let patience: Disposable | undefined;
    core.trust(to.address);
    if (order.method !== "INVITE") return core.clients.sendRequest(request, to, { response, failed });
    const transaction = core.clients.sendInvite(request, to, { response, failed });
    patience = core.clock.alarm(core.clock.now() + GIVE_UP_MS, () => {
      if (unanswered === order) return; // Nothing came at all: its transaction gives up by itself.
      core.clients.sendRequest(cancelOf(request), to, { response: () => undefined, failed: () => undefined });
      transaction.cancelled();
    });

    function response(answer: SipResponse): void {
      if (unanswered === order) unanswered = undefined;
      if (answer.status >= 200) settle(answer);
      proceed();
    }

    function settle(answer: SipResponse): void {
      patience?.[Symbol.dispose]();
      const accepted = answer.status < 300;
      if (accepted && acknowledge?.(answer) === "again") return;
      if (accepted && order.method === "UPDATE") retarget(answer);
      const challenged = answer.status === 401 || answer.status === 407;
      if (challenged && !over && attempt.learn(answer, request)) queue.unshift({ order, tries: attempt });
      else order.response(answer);
    }

    function failed(reason: "timeout" | "transport"): void {
      patience?.[Symbol.dispose]();
      if (unanswered === order) unanswered = undefined;
      order.failed(reason);
      proceed();
    }
  }

  function build(order: RequestOrder, authenticated: boolean): { request: SipRequest; to: SipAddress } {
    const { headers, body } = order.compose();
    const octets = text.encode(body?.text ?? "");
    const bare = requestInDialog(dialog, order.method, []);
    const question = { method: order.method, uri: bare.request.uri, body: octets };
    const credentials = authenticated ? authenticator.headersFor(question) : [];
    const content = body === undefined ? [] : [{ name: "Content-Type", value: body.type }];
    const lines = [freshVia(core, bare.to), ...headers, agentHeader(core), ...credentials, ...content];
    const { request } = requestInDialog(dialog, order.method, lines);
    return { to: bare.to, request: { ...request, body: octets } };
  }

  /** Acknowledges the 2xx of a re-INVITE, and each of its repetitions with the same ACK (RFC 3261 13.2.2.4). */
  function acknowledger(invite: SipRequest): (answer: SipResponse) => "first" | "again" {
    const { localCSeq } = dialog;
    let sent: { readonly ack: SipRequest; readonly to: SipAddress } | undefined;
    return (answer) => {
      const first = sent === undefined;
      if (first) retarget(answer);
      const at = { ...dialog, localCSeq };
      const { to } = requestInDialog(at, "ACK", []);
      const lines = [freshVia(core, to), agentHeader(core), ...credentialsIn(invite)];
      sent ??= { ack: requestInDialog(at, "ACK", lines).request, to };
      sendOnce(core, sent.ack, sent.to);
      return first ? "first" : "again";
    };
  }

  function retarget(answer: SipResponse): void {
    const remoteTarget = uriOf(answer, "Contact");
    if (remoteTarget === undefined || remoteTarget === dialog.remoteTarget) return;
    dialog = { ...dialog, remoteTarget };
    changed(dialog);
  }
}
