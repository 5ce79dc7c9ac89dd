import type { Clock } from "#base";
import { isTimeZone } from "#domain";
import type {
  AccountBody,
  AdminOperation,
  AppliedView,
  ApplyBody,
  LintBody,
  MintedTokenView,
  PlaybookDetail,
  PromoteBody,
  StopBody,
  TokenBody,
} from "#wire";
import { accountView, playbookView, statusView, tokenView, versionView } from "./admin-views.ts";
import { badRequest, notFound, Refusal } from "./failure.ts";
import type { Answer, ApiRequest, Handler } from "./http.ts";
import { isoTime } from "./records.ts";
import type { Account, Playbook, Service } from "./service.ts";

/** Who asks over the socket: the owner, for the account named in the request. */
export interface AdminCaller {
  /** Throws a 404 when there is no such account. */
  readonly account: () => Promise<Account>;
}

export type AdminRequest = ApiRequest<AdminCaller>;
export type AdminHandlers<Name extends AdminOperation> = Readonly<Record<Name, Handler<AdminCaller>>>;

type SetupOperation =
  | "status"
  | "stop"
  | "listAccounts"
  | "createAccount"
  | "listTokens"
  | "createToken"
  | "revokeToken"
  | "listPlaybooks"
  | "applyPlaybook"
  | "lintPlaybook"
  | "getPlaybook"
  | "listVersions"
  | "promoteVersion";

/** Accounts, tokens, playbooks and the daemon itself. */
export function setupHandlers(service: Service, clock: Clock): AdminHandlers<SetupOperation> {
  return {
    ...accountHandlers(service, clock),
    ...playbookHandlers(service),
    status: async () => json(statusView(await service.status())),
    stop: async (request) => {
      const drainMs = bodyOf<StopBody>(request).drain_ms ?? 0;
      await service.stop(drainMs);
      return json({ stopping: true, drain_ms: drainMs });
    },
  };
}

function accountHandlers(
  service: Service,
  clock: Clock,
): AdminHandlers<"listAccounts" | "createAccount" | "listTokens" | "createToken" | "revokeToken"> {
  return {
    listAccounts: async () => json((await service.listAccounts()).map(accountView)),
    createAccount: async (request) => {
      const body = bodyOf<AccountBody>(request);
      if (body.timezone !== undefined && !isTimeZone(body.timezone)) {
        throw badRequest("timezone must be an IANA zone name such as Europe/Madrid", "timezone");
      }
      return json(accountView(await service.createAccount(body)));
    },
    listTokens: async ({ caller }) => {
      const tokens = await service.listTokens((await caller.account()).id);
      return json(tokens.map((token) => tokenView(token, clock.now())));
    },
    createToken: async (request) => {
      const { name, expires } = bodyOf<TokenBody>(request);
      const minted = await service.createToken((await request.caller.account()).id, name, expires);
      const body: MintedTokenView = {
        name: minted.name,
        token: minted.token,
        created_at: isoTime(minted.createdAt),
        expires_at: isoTime(minted.expiresAt),
      };
      return json(body);
    },
    revokeToken: async ({ caller, params }) => {
      const name = params["name"] ?? "";
      if (!(await service.revokeToken((await caller.account()).id, name))) throw notFound("token", name);
      return { type: "empty", status: 204 };
    },
  };
}

function playbookHandlers(
  service: Service,
): AdminHandlers<
  "listPlaybooks" | "applyPlaybook" | "lintPlaybook" | "getPlaybook" | "listVersions" | "promoteVersion"
> {
  return {
    listPlaybooks: async ({ caller }) =>
      json((await service.listPlaybooks((await caller.account()).id)).map(playbookView)),
    applyPlaybook: async (request) => applyPlaybook(service, request),
    lintPlaybook: async (request) => {
      await request.caller.account();
      return json(await service.lintPlaybook(bodyOf<LintBody>(request)));
    },
    getPlaybook: async (request) => {
      const playbook = await getPlaybook(service, request);
      const settings = Object.fromEntries(Object.entries(playbook.settings));
      const body: PlaybookDetail = { ...playbookView(playbook), source: playbook.source, settings };
      return json(body);
    },
    listVersions: async (request) => {
      const playbook = await getPlaybook(service, request);
      const versions = await service.listVersions((await request.caller.account()).id, playbook.id);
      return json(versions.map((version) => versionView(version, playbook.productionVersionId)));
    },
    promoteVersion: async (request) => {
      const account = await request.caller.account();
      const { version } = bodyOf<PromoteBody>(request);
      return json(
        playbookView(await service.promoteVersion(account.id, request.params["ref"] ?? "", version)),
      );
    },
  };
}

async function applyPlaybook(service: Service, request: AdminRequest): Promise<Answer> {
  const account = await request.caller.account();
  const applied = await service.applyPlaybook({ accountId: account.id, ...bodyOf<ApplyBody>(request) });
  if (!applied.ok) {
    const { problem } = applied;
    throw new Refusal({ status: 422, code: "playbook-invalid", ...problem });
  }
  const { playbook, version, created } = applied.value;
  const body: AppliedView = {
    created,
    playbook: playbookView(playbook),
    version: version && versionView(version, playbook.productionVersionId),
  };
  return { type: "json", body, status: created ? 201 : 200 };
}

async function getPlaybook(service: Service, { caller, params }: AdminRequest): Promise<Playbook> {
  const ref = params["ref"] ?? "";
  const playbook = await service.findPlaybook((await caller.account()).id, ref);
  if (!playbook) throw notFound("playbook", ref);
  return playbook;
}

/** The body as its schema types it: `createHttp` checked it against the same schema. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- it names what the schema promises
export function bodyOf<Body>(request: AdminRequest): Body {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the shape was checked against the table
  return request.body as Body;
}

export function json(body: unknown): Answer {
  return { type: "json", body };
}
