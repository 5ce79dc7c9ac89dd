import { createAcceptedForks } from "./accepted-forks.ts";
import { agentHeader, type AgentCore } from "./agent-core.ts";
import { createAuthenticator, type SipCredentials } from "./authenticator.ts";
import { cancelOf, request, taggedUri, viaOf } from "./compose.ts";
import { dialogOfSaved } from "./dialog.ts";
import { sendBye } from "./farewell.ts";
import type { SavedDialog } from "./leg.ts";
import type { SipRequest } from "./message.ts";

/**
 * Ends a call of a process that died. Answered: BYE. Still ringing: CANCEL with the branch of its INVITE, whose own
 * final response is awaited as the dead process would have: a refusal is acknowledged, a 200 gets ACK and BYE.
 */
export function endOrphan(
  core: AgentCore,
  saved: SavedDialog,
  credentials: SipCredentials | undefined,
  answered: boolean,
): void {
  const authenticator = createAuthenticator(credentials, core.entropy, core.hashes);
  core.trust(saved.destination.address);
  if (answered || saved.inviteBranch === null) {
    return sendBye(core, dialogOfSaved(saved), authenticator);
  }
  const invite = inviteOf(core, saved, saved.inviteBranch);
  const forks = createAcceptedForks(core);
  core.clients.resumeInvite(invite, saved.destination, {
    response(response) {
      if (response.status < 200 || response.status >= 300) return;
      const dialog = forks.acknowledge(invite, response, saved.destination);
      if (dialog !== undefined) sendBye(core, dialog, authenticator);
    },
    failed: () => undefined,
  });
  core.clients.sendRequest(cancelOf(invite), saved.destination, {
    response: () => undefined,
    failed: () => undefined,
  });
}

/** As much of the lost INVITE as CANCEL and ACK repeat. */
function inviteOf(core: AgentCore, saved: SavedDialog, branch: string): SipRequest {
  return request("INVITE", saved.requestUri, [
    viaOf(core.localTo(saved.destination.address), branch, saved.destination.transport),
    { name: "Max-Forwards", value: "70" },
    ...saved.routeSet.map((value) => ({ name: "Route", value })),
    { name: "From", value: taggedUri(saved.localUri, saved.localTag) },
    { name: "To", value: taggedUri(saved.remoteUri, null) },
    { name: "Call-ID", value: saved.sipCallId },
    { name: "CSeq", value: `${saved.localCSeq} INVITE` },
    agentHeader(core),
  ]);
}
