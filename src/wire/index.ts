/**
 * The HTTP contract as data: route tables, body and answer schemas, error shapes, the OpenAPI page.
 * The server answers by it and the client asks by it. Pure.
 */
export {
  adminCampaignBody,
  adminStartedCall,
  campaignView,
  eventLine,
  type AdminCallBody,
  type AdminLaunchedCampaign,
  type AdminStartedCall,
  type CampaignView,
  type EventLine,
  type RejectedContact,
  type ResolveBody,
  type SipMessageView,
} from "./admin-calls.ts";
export type {
  AccountBody,
  AccountView,
  AppliedView,
  ApplyBody,
  FindingView,
  LintBody,
  MintedTokenView,
  PlaybookDetail,
  PlaybookView,
  PromoteBody,
  StatusView,
  StopBody,
  StopView,
  TokenBody,
  TokenView,
  VersionView,
} from "./admin-setup.ts";
export type { TrunkBody, TrunkChange, TrunkTest, TrunkView } from "./admin-trunks.ts";
export type {
  AttemptView,
  CallBody,
  CallRecord,
  CallsQuery,
  ListedCall,
  OutcomeView,
  StartedCallBody,
} from "./call.ts";
export { maxContacts, type CampaignBody, type ContactBody, type LaunchedCampaignBody } from "./campaign.ts";
export { openApi } from "./open-api.ts";
export { errorBody, readErrorBody, type Failure } from "./problem.ts";
export { fillPath, type ErrorShape, type Method, type Route } from "./route.ts";
export {
  adminRoutes,
  matchRoute,
  publicRoutes,
  type AdminOperation,
  type PublicOperation,
  type RouteMatch,
} from "./routes.ts";
export type { ProviderCheck, ProviderView } from "./admin-providers.ts";
