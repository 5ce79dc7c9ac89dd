import {
  accept,
  newId,
  OutdialError,
  type AccountId,
  type Clock,
  type Decoded,
  type Entropy,
  type PlaybookId,
} from "#base";
import { parsePlaybookFile } from "#domain";
import type { PlaybookRow, Store, VersionRow } from "./ports.ts";

interface Parts {
  readonly store: Store;
  readonly clock: Clock;
  readonly entropy: Entropy;
}

interface Applied {
  readonly playbook: PlaybookRow;
  readonly version: VersionRow | null;
  readonly created: boolean;
}

/** Playbooks and their versions. */
export function playbookService({ store, clock, entropy }: Parts) {
  return {
    applyPlaybook,
    findPlaybook,
    getPlaybook,
    listPlaybooks,
    listVersions,
    ownsPlaybook,
    promoteVersion,
  };

  /** Updates the current configuration; with a message also commits a version, and the first one becomes production. */
  async function applyPlaybook(order: {
    readonly accountId: AccountId;
    readonly source: string;
    readonly message?: string;
  }): Promise<Decoded<Applied>> {
    const parsed = parsePlaybookFile(order.source);
    if (!parsed.ok) return parsed;
    const settings = parsed.value;
    const known = await store.findPlaybook(order.accountId, settings.name);
    const now = Math.trunc(clock.now());
    const id: PlaybookId = known?.id ?? newId(now, entropy);
    const version: VersionRow | undefined =
      order.message === undefined
        ? undefined
        : {
            id: newId(now, entropy),
            playbookId: id,
            message: order.message,
            settings,
            source: order.source,
            createdAt: now,
          };
    const playbook = await store.applyPlaybook(
      {
        id,
        accountId: order.accountId,
        name: settings.name,
        settings,
        source: order.source,
        productionVersionId: known?.productionVersionId ?? null,
        createdAt: known?.createdAt ?? now,
        updatedAt: now,
      },
      version,
    );
    return accept({ playbook, version: version ?? null, created: known === undefined });
  }

  function listPlaybooks(accountId: AccountId): Promise<readonly PlaybookRow[]> {
    return store.listPlaybooks(accountId);
  }

  function findPlaybook(accountId: AccountId, ref: string): Promise<PlaybookRow | undefined> {
    return store.findPlaybook(accountId, ref);
  }

  async function ownsPlaybook(accountId: AccountId, playbookId: string): Promise<boolean> {
    return (await store.findPlaybookById(playbookId))?.accountId === accountId;
  }

  async function listVersions(accountId: AccountId, ref: string): Promise<readonly VersionRow[]> {
    return store.listVersions((await getPlaybook(accountId, ref)).id);
  }

  async function promoteVersion(accountId: AccountId, ref: string, wanted: string): Promise<PlaybookRow> {
    const playbook = await getPlaybook(accountId, ref);
    const version = await store.findVersion(playbook.id, wanted);
    if (version === undefined) {
      throw new OutdialError("version-not-found", `Playbook ${playbook.name} has no version ${wanted}`, {
        hint: `outdial playbook version list ${playbook.name}`,
      });
    }
    await store.promoteVersion(playbook.id, version.id);
    return getPlaybook(accountId, playbook.id);
  }

  async function getPlaybook(accountId: AccountId, ref: string): Promise<PlaybookRow> {
    const playbook = await store.findPlaybook(accountId, ref);
    if (playbook !== undefined) return playbook;
    throw new OutdialError("playbook-not-found", `There is no playbook ${ref}`, {
      hint: "outdial playbook list",
    });
  }
}
