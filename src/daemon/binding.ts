import { OutdialError, type AccountId, type VersionId } from "#base";
import { callManner, versionForCall, type CallManner, type PlaybookSettings, type VoiceModel } from "#domain";
import { unsupportedReason } from "#talk";
import type { PlaybookRow, Store } from "./ports.ts";

/** The playbook of a call, and the version it keeps whatever is promoted later. */
export interface Binding {
  readonly playbook: PlaybookRow;
  /** Null: the playbook has no versions, its current configuration is used. */
  readonly versionId: VersionId | null;
  readonly settings: PlaybookSettings;
}

/** Chooses the version: the one asked for, else production, else the current configuration. Rejects with `playbook-not-found` and `playbook-unsupported`. */
export async function bindPlaybook(
  store: Pick<Store, "findPlaybook" | "findVersion">,
  order: {
    readonly accountId: AccountId;
    readonly playbook: string;
    readonly version?: string;
    readonly voiceModel?: VoiceModel;
  },
  hasBrain: (voiceModel: VoiceModel) => boolean,
): Promise<Binding> {
  const playbook = await store.findPlaybook(order.accountId, order.playbook);
  if (playbook === undefined) {
    throw new OutdialError("playbook-not-found", `There is no playbook ${order.playbook}`, {
      hint: "outdial playbook list",
    });
  }
  const asked = order.version === undefined ? undefined : await store.findVersion(playbook.id, order.version);
  const versionId = versionForCall(playbook, asked);
  const version = versionId === null ? undefined : await store.findVersion(playbook.id, versionId);
  const binding = { playbook, versionId, settings: version?.settings ?? playbook.settings };
  refuseUnsupported(binding, hasBrain(mannerOf(binding, order).voiceModel));
  return binding;
}

/** How a call under this binding is held, when the request asks for `asked`. */
export function mannerOf(binding: Binding, asked: Partial<CallManner>): CallManner {
  return callManner(asked, binding.settings);
}

function refuseUnsupported({ settings }: Binding, dialogModel: boolean): void {
  const reason = unsupportedReason({ settings }, { dialogModel });
  if (reason !== undefined) throw new OutdialError("playbook-unsupported", reason);
}
