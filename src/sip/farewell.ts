import { agentHeader, freshVia, type AgentCore } from "./agent-core.ts";
import type { AuthenticationAttempt, Authenticator } from "./authenticator.ts";
import { nextCSeq, requestInDialog, type Dialog } from "./dialog.ts";
import type { SipRequest } from "./message.ts";

/**
 * Sends BYE and answers its challenges: those of realms that took our credentials for this call before, and any
 * of the address the call was made to. A peer's Contact cannot lead the credentials elsewhere. Nothing is awaited:
 * the call is over when BYE is sent (RFC 3261 15.1.1).
 */
export function sendBye(core: AgentCore, dialog: Dialog, authenticator: Authenticator): void {
  const first = nextCSeq(dialog);
  const to = requestInDialog(first, "BYE", []).to;
  const attempt = authenticator.attempt({ knownRealmsOnly: to.address !== dialog.fallback.address });
  core.trust(to.address);
  send(first, false, attempt);

  function send(at: Dialog, authenticated: boolean, tries: AuthenticationAttempt): void {
    const bye = buildBye(core, at, authenticated ? authenticator : undefined);
    core.clients.sendRequest(bye, to, {
      response(response) {
        if (response.status !== 401 && response.status !== 407) return;
        if (tries.learn(response, bye)) send(nextCSeq(at), true, tries);
      },
      failed: () => undefined, // The peer is gone or will find out by itself; nothing more can be done.
    });
  }
}

function buildBye(core: AgentCore, dialog: Dialog, authenticator: Authenticator | undefined): SipRequest {
  const bare = requestInDialog(dialog, "BYE", []);
  const credentials =
    authenticator?.headersFor({ method: "BYE", uri: bare.request.uri, body: bare.request.body }) ?? [];
  const via = freshVia(core, bare.to);
  return requestInDialog(dialog, "BYE", [via, agentHeader(core), ...credentials]).request;
}
