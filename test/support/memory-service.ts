import type {
  Account,
  Call,
  CallDetail,
  CallOrder,
  CallQuery,
  Campaign,
  CampaignOrder,
  Credential,
  EventFilter,
  FeedPosition,
  LiveEvent,
  OpenRecording,
  Playbook,
  PlaybookVersion,
  Service,
  SipMessage,
  StartedCall,
  StoredAnswer,
  Token,
  Trunk,
} from "#api";
import { OutdialError } from "#base";
import { plainTrunkSip, planCampaign } from "#domain";

export const accountA: Account = {
  id: "0190a000-0000-7000-8000-00000000000a",
  name: "default",
  timezone: "Europe/Madrid",
  createdAt: 0,
};
export const accountB: Account = { ...accountA, id: "0190a000-0000-7000-8000-00000000000b", name: "other" };
export const playbookA = "0190b000-0000-7000-8000-00000000000a";
export const playbookB = "0190b000-0000-7000-8000-00000000000b";

/** A finished call of account A, with what a test wants to be different. */
export function callOf(fields: Partial<Call> = {}): Call {
  return {
    id: "0190c000-0000-7000-8000-000000000001",
    accountId: accountA.id,
    playbookId: playbookA,
    playbookName: "Welcome",
    versionId: null,
    campaignId: null,
    to: "+34600111222",
    from: "+34910000000",
    state: "closed",
    outcome: { state: "closed", cause: "completed" },
    params: {},
    dueAt: null,
    attempts: 1,
    durationS: 12,
    success: true,
    summary: "Agreed.",
    output: {},
    turns: [],
    recording: null,
    createdAt: 1_000,
    ...fields,
  };
}

/** The service port in memory: keeps what it is told and lets a test look at it. */
export class MemoryService implements Service {
  readonly credentials = new Map<string, Credential>();
  readonly lookedUp: string[] = [];
  readonly owned = new Map([
    [playbookA, accountA.id],
    [playbookB, accountB.id],
  ]);
  readonly answers = new Map<string, StoredAnswer>();
  readonly started: CallOrder[] = [];
  readonly campaigns: CampaignOrder[] = [];
  readonly queries: CallQuery[] = [];
  readonly filters: EventFilter[] = [];
  readonly acts: unknown[] = [];
  calls: Call[] = [];
  campaignRows: Campaign[] = [];
  accounts: Account[] = [accountA, accountB];
  tokens: Token[] = [];
  playbooks: Playbook[] = [];
  versions: PlaybookVersion[] = [];
  trunks: Trunk[] = [];
  findings: Awaited<ReturnType<Service["lintPlaybook"]>> = [];
  sipMessages = new Map<string, SipMessage[]>();
  recordings = new Map<string, Uint8Array>();
  closedRecordings = 0;
  /** Thrown by every operation that writes or lists, when set. */
  failure: Error | undefined;
  /** Pages `listCalls` gives one row each when set. */
  pageRows = 500;
  pagesGiven = 0;
  position: FeedPosition = { stream: "this run", seq: 0 };
  feed: AsyncIterable<LiveEvent> = { async *[Symbol.asyncIterator]() {} };
  now = 0;
  #ids = 0;

  async findToken(prefix: string): Promise<Credential | undefined> {
    this.lookedUp.push(prefix);
    return this.credentials.get(prefix);
  }

  async findAccount(nameOrId: string): Promise<Account | undefined> {
    return this.accounts.find(({ name, id }) => name === nameOrId || id === nameOrId);
  }

  async findIdempotent(accountId: string, key: string): Promise<StoredAnswer | undefined> {
    return this.answers.get(`${accountId} ${key}`);
  }

  async ownsPlaybook(accountId: string, playbookId: string): Promise<boolean> {
    return this.owned.get(playbookId) === accountId;
  }

  async startCall(order: CallOrder): Promise<StartedCall> {
    if (this.failure) throw this.failure;
    if (this.owned.get(order.playbook) !== order.accountId) {
      throw new OutdialError("playbook-not-found", "No playbook of this account has that id");
    }
    this.started.push(order);
    const started = { id: this.#newId(), message: "Call queued" };
    this.#keep(order, started);
    return started;
  }

  async checkCall(order: CallOrder): Promise<{ message: string }> {
    this.acts.push(["checkCall", order.phone]);
    return { message: "Would be queued" };
  }

  async launchCampaign(order: CampaignOrder): ReturnType<Service["launchCampaign"]> {
    if (this.failure) throw this.failure;
    this.campaigns.push(order);
    const plan = planCampaign(order.contacts, order.launchAt, this.now);
    const times = plan.calls
      .filter(({ state }) => state !== "wrong-number")
      .map(({ plannedAt }) => plannedAt);
    const { scheduled, launchAt, scheduledCalls, errorCalls } = plan;
    const launched = {
      id: this.#newId(),
      scheduled,
      launchAt,
      scheduledCalls,
      errorCalls,
      total: order.contacts.length,
      firstCallAt: times.at(0) ?? null,
      lastCallAt: times.at(-1) ?? null,
    };
    this.#keep(order, launched);
    return launched;
  }

  async *listCalls(query: CallQuery): AsyncIterable<readonly Call[]> {
    this.queries.push(query);
    if (this.failure) throw this.failure;
    const { before } = query;
    const rows = this.calls.filter((call) => {
      return (
        call.accountId === query.accountId &&
        (query.states?.includes(call.state) ?? true) &&
        (!before ||
          call.createdAt < before.createdAt ||
          (call.createdAt === before.createdAt && call.id < before.id))
      );
    });
    const shown = rows.slice(0, query.limit ?? rows.length);
    for (let i = 0; i < shown.length; i += this.pageRows) {
      this.pagesGiven++;
      yield shown.slice(i, i + this.pageRows);
    }
  }

  async findCall(accountId: string, idOrPrefix: string): Promise<CallDetail | undefined> {
    const found = this.calls.filter((call) => call.accountId === accountId && call.id.startsWith(idOrPrefix));
    if (found.length > 1) throw new OutdialError("ambiguous-id", `${idOrPrefix} fits ${found.length} calls`);
    return found[0] && { call: found[0], attempts: [] };
  }

  async listLiveCalls(accountId: string): Promise<readonly Call[]> {
    return this.calls.filter((call) => call.accountId === accountId && call.state === "in-progress");
  }

  async listSipMessages(_accountId: string, callId: string): Promise<readonly SipMessage[] | undefined> {
    return this.sipMessages.get(callId);
  }

  async openRecording(accountId: string, callId: string): Promise<OpenRecording | undefined> {
    const octets = this.calls.some((call) => call.accountId === accountId && call.id === callId)
      ? this.recordings.get(callId)
      : undefined;
    if (!octets) return undefined;
    return {
      sizeBytes: octets.length,
      async *read(from, to) {
        yield octets.slice(from, to + 1);
      },
      close: async () => {
        this.closedRecordings++;
      },
    };
  }

  async status(): ReturnType<Service["status"]> {
    return {
      version: "0.1.0",
      pid: 1,
      startedAt: 0,
      state: "running",
      api: { address: "127.0.0.1", port: 8787 },
      dataDir: "/data",
      accounts: this.accounts.length,
      calls: { live: 0, open: 0, dueNow: 0, total: this.calls.length },
      room: 4,
      nextDueAt: null,
      trunks: [],
    };
  }

  async listAccounts(): Promise<readonly Account[]> {
    return this.accounts;
  }

  async createAccount(order: { name: string; timezone?: string }): Promise<Account> {
    if (this.accounts.some(({ name }) => name === order.name)) {
      throw new OutdialError("account-exists", `There is an account ${order.name} already`);
    }
    const account = {
      id: this.#newId(),
      name: order.name,
      timezone: order.timezone ?? "Europe/Madrid",
      createdAt: 0,
    };
    this.accounts.push(account);
    return account;
  }

  async listTokens(): Promise<readonly Token[]> {
    return this.tokens;
  }

  async createToken(accountId: string, name: string, expiry: string): ReturnType<Service["createToken"]> {
    this.acts.push(["createToken", accountId, name, expiry]);
    const token = { name, prefix: `outdial_${"a".repeat(16)}`, createdAt: 0, expiresAt: 1000 };
    this.tokens.push(token);
    return { ...token, token: `${token.prefix}secret` };
  }

  async revokeToken(_accountId: string, name: string): Promise<boolean> {
    const there = this.tokens.some((token) => token.name === name);
    this.tokens = this.tokens.filter((token) => token.name !== name);
    return there;
  }

  async listPlaybooks(): Promise<readonly Playbook[]> {
    return this.playbooks;
  }

  async findPlaybook(accountId: string, ref: string): Promise<Playbook | undefined> {
    const known = this.playbooks.find(({ id, name }) => id === ref || name === ref);
    return known ?? (this.owned.get(ref) === accountId ? playbookOf(ref) : undefined);
  }

  async applyPlaybook(order: { source: string; message?: string }): ReturnType<Service["applyPlaybook"]> {
    this.acts.push(["applyPlaybook", order]);
    if (order.source === "broken") {
      return {
        ok: false,
        problem: { where: "script.start", message: "script.start names no state", line: 3, column: 5 },
      };
    }
    return { ok: true, value: { playbook: playbookOf(playbookA), version: null, created: true } };
  }

  async lintPlaybook(order: { source: string }): ReturnType<Service["lintPlaybook"]> {
    this.acts.push(["lintPlaybook", order]);
    return this.findings;
  }

  async listVersions(): Promise<readonly PlaybookVersion[]> {
    return this.versions;
  }

  async promoteVersion(accountId: string, ref: string, version: string): Promise<Playbook> {
    this.acts.push(["promoteVersion", accountId, ref, version]);
    return playbookOf(playbookA);
  }

  async listTrunks(): Promise<readonly Trunk[]> {
    return this.trunks;
  }

  async findTrunk(_accountId: string, ref: string): Promise<Trunk | undefined> {
    return this.trunks.find(({ name }) => name === ref);
  }

  async createTrunk(order: Parameters<Service["createTrunk"]>[0]): Promise<Trunk> {
    this.acts.push(["createTrunk", order]);
    const trunk: Trunk = {
      id: this.#newId(),
      name: order.name,
      kind: order.kind,
      host: order.host ?? "127.0.0.1",
      port: order.port ?? 5060,
      username: order.username ?? null,
      callerId: order.callerId ?? "",
      codecs: order.codecs ?? ["PCMA", "PCMU"],
      maxCalls: order.maxCalls ?? 10,
      callsPerSecond: order.callsPerSecond ?? 1,
      isDefault: order.makeDefault ?? false,
      createdAt: 0,
      sip: { ...plainTrunkSip, ...order.sip },
      fault: null,
      registration: null,
    };
    this.trunks.push(trunk);
    return trunk;
  }

  async editTrunk(
    accountId: string,
    ref: string,
    change: Parameters<Service["editTrunk"]>[2],
  ): Promise<Trunk> {
    this.acts.push(["editTrunk", ref, change]);
    const trunk = await this.findTrunk(accountId, ref);
    if (!trunk) throw new OutdialError("trunk-not-found", `No trunk ${ref}`);
    const { sip, ...fields } = change;
    return { ...trunk, ...fields, sip: { ...trunk.sip, ...sip } };
  }

  listProviders(): ReturnType<Service["listProviders"]> {
    return Promise.resolve([
      {
        name: "local",
        kind: "openai",
        address: "http://127.0.0.1:11434/v1",
        key: null,
        roles: ["fast.brain"],
      },
    ]);
  }

  testProvider(name: string): ReturnType<Service["testProvider"]> {
    if (name !== "local") throw new OutdialError("provider-unknown", `There is no provider ${name}`);
    return Promise.resolve([{ role: "brain", model: "m", ok: true, firstMs: 120.4, totalMs: 300 }]);
  }

  async checkTrunk(accountId: string, ref: string): ReturnType<Service["checkTrunk"]> {
    if (!(await this.findTrunk(accountId, ref))) {
      throw new OutdialError("trunk-not-found", `No trunk ${ref}`);
    }
    return [
      {
        check: "options",
        result: "ok",
        detail: "192.0.2.1:5060 over udp answered 200 in 3 ms.",
        advice: null,
      },
      {
        check: "nat",
        result: "unknown",
        detail: "The provider does not say where it sees us.",
        advice: null,
      },
      { check: "registration", result: "failed", detail: "Refused: 403.", advice: "Check the password." },
    ];
  }

  async removeTrunk(_accountId: string, ref: string): Promise<boolean> {
    const there = this.trunks.some(({ name }) => name === ref);
    this.trunks = this.trunks.filter(({ name }) => name !== ref);
    return there;
  }

  async setDefaultTrunk(accountId: string, ref: string): Promise<Trunk> {
    const trunk = await this.findTrunk(accountId, ref);
    if (!trunk) throw new OutdialError("trunk-not-found", `No trunk ${ref}`);
    return { ...trunk, isDefault: true };
  }

  async listCampaigns(): Promise<readonly Campaign[]> {
    return this.campaignRows;
  }

  async findCampaign(_accountId: string, idOrPrefix: string): Promise<Campaign | undefined> {
    return this.campaignRows.find(({ id }) => id.startsWith(idOrPrefix));
  }

  async steerCampaign(_accountId: string, idOrPrefix: string, act: string): Promise<Campaign> {
    this.acts.push(["steerCampaign", idOrPrefix, act]);
    const campaign = this.campaignRows.find(({ id }) => id.startsWith(idOrPrefix));
    if (!campaign) throw new OutdialError("campaign-not-found", "No such campaign");
    if (campaign.status === "done") throw new OutdialError("wrong-state", "The campaign is over");
    return campaign;
  }

  async hangUpCall(accountId: string, idOrPrefix: string): Promise<CallDetail> {
    this.acts.push(["hangUpCall", idOrPrefix]);
    const detail = await this.findCall(accountId, idOrPrefix);
    if (!detail) throw new OutdialError("call-not-found", "No such call");
    return detail;
  }

  async resolveCall(accountId: string, idOrPrefix: string, decision: unknown): Promise<CallDetail> {
    this.acts.push(["resolveCall", idOrPrefix, decision]);
    return this.hangUpCall(accountId, idOrPrefix);
  }

  events(filter: EventFilter, _signal: AbortSignal): AsyncIterable<LiveEvent> {
    this.filters.push(filter);
    return this.feed;
  }

  feedPosition(): FeedPosition {
    return this.position;
  }

  async stop(drainMs: number): Promise<void> {
    this.acts.push(["stop", drainMs]);
  }

  #keep<Result>(
    order: {
      readonly accountId: string;
      readonly idempotency?: {
        readonly key: string;
        readonly bodyHash: string;
        readonly answer: (result: Result) => { readonly status: number; readonly answer: string };
      };
    },
    result: Result,
  ): void {
    const { idempotency } = order;
    if (!idempotency) return;
    const { key, bodyHash } = idempotency;
    this.answers.set(`${order.accountId} ${key}`, { bodyHash, ...idempotency.answer(result) });
  }

  #newId(): string {
    return `0190d000-0000-7000-8000-${String(++this.#ids).padStart(12, "0")}`;
  }
}

export function playbookOf(id: string): Playbook {
  return {
    id,
    name: "Welcome",
    settings: {
      name: "Welcome",
      language: "es",
      voice: undefined,
      interrupt: undefined,
      opening: "Hola",
      script: undefined,
      prompt: "Be kind.",
      voicemail: { action: "hang-up", message: undefined },
      output: undefined,
      success: undefined,
      rtt: false,
      speakers: { agent: "Assistant", callee: "Customer" },
      silence: { promptAfterMs: 5000, maxPrompts: 2, prompt: undefined },
      goodbye: undefined,
      maxCallMs: 600_000,
    },
    source: "---\nname: Welcome\n---\nBe kind.",
    productionVersionId: null,
    createdAt: 0,
    updatedAt: 0,
  };
}
