import { campaignProgress, maskToken, tokenStatus } from "#domain";
import type {
  AccountView,
  CampaignView,
  PlaybookView,
  StatusView,
  TokenView,
  TrunkView,
  VersionView,
} from "#wire";
import { isoTime, isoTimeOrNull } from "./records.ts";
import type { Account, Campaign, DaemonStatus, Playbook, PlaybookVersion, Token, Trunk } from "./service.ts";

export function accountView(account: Account): AccountView {
  return {
    id: account.id,
    name: account.name,
    timezone: account.timezone,
    created_at: isoTime(account.createdAt),
  };
}

/** Never more of the token than its public part. */
export function tokenView(token: Token, now: number): TokenView {
  return {
    name: token.name,
    token: maskToken(token.prefix),
    created_at: isoTime(token.createdAt),
    expires_at: isoTime(token.expiresAt),
    status: tokenStatus(token.expiresAt, now),
  };
}

export function playbookView(playbook: Playbook): PlaybookView {
  return {
    id: playbook.id,
    name: playbook.name,
    language: playbook.settings.language,
    production_version_id: playbook.productionVersionId,
    created_at: isoTime(playbook.createdAt),
    updated_at: isoTime(playbook.updatedAt),
  };
}

export function versionView(version: PlaybookVersion, productionVersionId: string | null): VersionView {
  return {
    id: version.id,
    message: version.message,
    created_at: isoTime(version.createdAt),
    production: version.id === productionVersionId,
    source: version.source,
  };
}

export function trunkView(trunk: Trunk): TrunkView {
  return {
    id: trunk.id,
    name: trunk.name,
    kind: trunk.kind,
    host: trunk.host,
    port: trunk.port,
    username: trunk.username,
    caller_id: trunk.callerId,
    codecs: [...trunk.codecs],
    max_calls: trunk.maxCalls,
    calls_per_second: trunk.callsPerSecond,
    default: trunk.isDefault,
    ...sipView(trunk.sip),
    ...healthView(trunk),
    created_at: isoTime(trunk.createdAt),
  };
}

function sipView(sip: Trunk["sip"]) {
  return {
    transport: sip.transport,
    domain: sip.domain,
    outbound_proxy: sip.outboundProxy,
    register_expires_s: sip.registerExpiresS,
    srtp: sip.srtp,
    from_user: sip.fromUser,
    number_format: sip.numberFormat,
    caller_id_header: sip.callerIdHeader,
    display_name: sip.displayName,
    privacy: sip.privacy,
    headers: { ...sip.headers },
    priority: sip.priority,
    allow_transfer: sip.allowTransfer,
    ca_certificate: sip.caCertificate,
  };
}

function healthView({ fault, registration }: Pick<Trunk, "fault" | "registration">) {
  return {
    health: fault === null ? ("ready" as const) : fault.held ? ("held" as const) : ("waiting" as const),
    health_reason: fault?.why ?? null,
    retry_at: isoTimeOrNull(fault?.until ?? null),
    registration: registration?.type ?? null,
  };
}

export function campaignView(campaign: Campaign): CampaignView {
  return {
    id: campaign.id,
    name: campaign.name,
    playbook_id: campaign.playbookId,
    version_id: campaign.versionId,
    status: campaign.status,
    launch_at: isoTime(campaign.launchAt),
    recall: [...campaign.recallMin],
    max_concurrent: campaign.maxConcurrent,
    total: campaign.total,
    counts: Object.fromEntries(Object.entries(campaign.counts).map(([state, count]) => [state, count ?? 0])),
    ...campaignProgress(campaign.counts),
    created_at: isoTime(campaign.createdAt),
  };
}

export function statusView(status: DaemonStatus): StatusView {
  const { address, port } = status.api;
  return {
    version: status.version,
    pid: status.pid,
    started_at: isoTime(status.startedAt),
    state: status.state,
    api: { address, port, url: `http://${address.includes(":") ? `[${address}]` : address}:${port}` },
    data_dir: status.dataDir,
    accounts: status.accounts,
    calls: {
      live: status.calls.live,
      open: status.calls.open,
      due_now: status.calls.dueNow,
      total: status.calls.total,
    },
    room: status.room,
    next_due_at: isoTimeOrNull(status.nextDueAt),
    trunks: status.trunks.map((trunk) => ({
      account: trunk.account,
      name: trunk.name,
      kind: trunk.kind,
      default: trunk.isDefault,
      live: trunk.live,
      max_calls: trunk.maxCalls,
      ...healthView(trunk),
    })),
  };
}
