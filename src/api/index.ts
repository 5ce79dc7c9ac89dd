/**
 * The HTTP side: the published interface on a port, the owner's interface on a Unix socket. It admits, reads,
 * refuses and answers by the route tables of `wire`; what is done is the `Service`'s, which the daemon implements.
 */
export { startAdminApi, type AdminApi } from "./admin-server.ts";
export { startPublicApi, type PublicApi } from "./server.ts";
export type {
  Account,
  AppliedPlaybook,
  Attempt,
  Call,
  CallDetail,
  CallOrder,
  CallQuery,
  Campaign,
  CampaignOrder,
  Credential,
  DaemonStatus,
  EventFilter,
  FeedPosition,
  LaunchedCampaign,
  LiveEvent,
  MintedToken,
  OpenRecording,
  Playbook,
  PlaybookOrder,
  PlaybookVersion,
  Service,
  SipMessage,
  StartedCall,
  StoredAnswer,
  Token,
  Trunk,
  TrunkChange,
  TrunkCheck,
  TrunkOrder,
} from "./service.ts";
