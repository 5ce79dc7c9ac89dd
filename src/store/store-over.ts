import { wallClock } from "#host";
import { importChunk } from "./campaign-import.ts";
import type { Store } from "./contract.ts";
import type { Answer, Invoke, RequestName, Requests } from "./operations.ts";

/** The Store interface over single operations, wherever they are done. */
export function storeOver(invoke: Invoke, close: () => Promise<void>): Store {
  const whole =
    <Name extends RequestName>(name: Name) =>
    (...args: Parameters<Requests[Name]>): Promise<Answer<Name>> =>
      invoke(name, args);
  return {
    createAccount: whole("createAccount"),
    listAccounts: whole("listAccounts"),
    findAccount: whole("findAccount"),
    createToken: whole("createToken"),
    listTokens: whole("listTokens"),
    findToken: whole("findToken"),
    revokeToken: whole("revokeToken"),
    applyPlaybook: whole("applyPlaybook"),
    listPlaybooks: whole("listPlaybooks"),
    findPlaybook: whole("findPlaybook"),
    findPlaybookById: whole("findPlaybookById"),
    listVersions: whole("listVersions"),
    findVersion: whole("findVersion"),
    promoteVersion: whole("promoteVersion"),
    createTrunk: whole("createTrunk"),
    listTrunks: whole("listTrunks"),
    findTrunk: whole("findTrunk"),
    removeTrunk: whole("removeTrunk"),
    setDefaultTrunk: whole("setDefaultTrunk"),
    updateTrunk: whole("updateTrunk"),
    updateTrunkAddress: whole("updateTrunkAddress"),
    isSuppressed: whole("isSuppressed"),
    suppress: whole("suppress"),
    insertCall: whole("insertCall"),
    insertCampaign: (...args) => insertCampaign(invoke, args),
    findIdempotent: whole("findIdempotent"),
    listCampaigns: whole("listCampaigns"),
    findCampaign: whole("findCampaign"),
    setCampaignStatus: (...args) => setCampaignStatus(invoke, args),
    listCalls: whole("listCalls"),
    findCall: whole("findCall"),
    listAttempts: whole("listAttempts"),
    saveSipMessages: whole("saveSipMessages"),
    listSipMessages: whole("listSipMessages"),
    resolveCall: whole("resolveCall"),
    cancelCall: whole("cancelCall"),
    unclaimCall: whole("unclaimCall"),
    claimDue: whole("claimDue"),
    startDial: whole("startDial"),
    saveDialog: whole("saveDialog"),
    markRinging: whole("markRinging"),
    markAnswered: whole("markAnswered"),
    endAttempt: whole("endAttempt"),
    recover: whole("recover"),
    keepRecording: whole("keepRecording"),
    stats: () => invoke("statsAt", [wallClock.now()]),
    close,
  };
}

/** In pieces, so that neither thread is held up; seen by nobody before the last one is in. */
async function insertCampaign(
  invoke: Invoke,
  [campaign, contacts, calls, idempotency]: Parameters<Store["insertCampaign"]>,
): Promise<void> {
  await invoke("beginImport", [campaign, idempotency]);
  try {
    for (const chunk of chunks(contacts)) {
      await invoke("importContacts", [campaign.accountId, chunk, campaign.createdAt]);
    }
    for (const chunk of chunks(calls)) await invoke("importCalls", [chunk]);
    await invoke("finishImport", [campaign.id, campaign.status]);
  } catch (error) {
    await dropImport(invoke, campaign.id);
    throw error;
  }
}

/** What cannot be taken away now (the disk is full, the thread has died) is invisible, and goes at the next start. */
async function dropImport(invoke: Invoke, id: string): Promise<void> {
  try {
    while (await invoke("dropImportChunk", [id]));
  } catch {
    // The error that broke the import is the one to report.
  }
}

async function setCampaignStatus(
  invoke: Invoke,
  [id, to, now]: Parameters<Store["setCampaignStatus"]>,
): ReturnType<Store["setCampaignStatus"]> {
  const campaign = await invoke("stepCampaign", [id, to, now]);
  if (campaign?.status !== "stopped") return campaign;
  while (await invoke("cancelStoppedChunk", [id]));
  return invoke("getCampaign", [id]);
}

function* chunks<Item>(items: readonly Item[]): Generator<readonly Item[]> {
  for (let at = 0; at < items.length; at += importChunk) yield items.slice(at, at + importChunk);
}
