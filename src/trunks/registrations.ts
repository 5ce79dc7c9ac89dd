import { describeError, type Log } from "#host";
import type { Registration, RegistrationState, SipAddress, UserAgent, UserAgentOutput } from "#sip";
import type { SipTarget } from "./dialling.ts";
import type { ServerSearch, Servers } from "./servers.ts";
import { accountOf, queryOf, routesOf } from "./target.ts";

export interface RegisterOrder {
  readonly target: SipTarget;
  /** User part of the address of record; absent: the target's user name. */
  readonly user?: string;
  /** Seconds to ask for; the registrar may grant less. Default 600. */
  readonly expiresS?: number;
  /** Called with each new state, never from inside `register` or `close`. */
  readonly onChange?: (state: RegistrationState) => void;
}

/** An account kept registered until it is closed. */
export interface RegistrationHandle {
  readonly state: RegistrationState;
  /** Takes the registration back; resolves when the registrar has confirmed it or a few seconds have passed. */
  close(): Promise<void>;
}

/** The accounts of an endpoint at their registrars. */
export interface Registrations {
  register(order: RegisterOrder): RegistrationHandle;
  deliver(
    output: Extract<
      UserAgentOutput,
      { readonly type: "registration-changed" | "registrar-wanted" | "registration-closed" }
    >,
  ): void;
  /** The account that calls to a target are made by, when it is registered: its proxies and its server. */
  find(
    target: SipTarget,
  ): { readonly serviceRoute: readonly string[]; readonly server: SipAddress | undefined } | undefined;
  closeAll(): void;
  /** Those not confirmed by now are left to run out. */
  abandonAll(): void;
  readonly size: number;
}

interface Account {
  readonly order: RegisterOrder;
  readonly name: string;
  readonly closed: PromiseWithResolvers<void>;
  search: ServerSearch | undefined;
}

const defaultExpiresS = 600;

export function createRegistrations(options: {
  readonly agent: UserAgent;
  readonly servers: Servers;
  readonly log: Log;
  readonly act: <T>(order: () => T) => T;
}): Registrations {
  const { agent, servers, log, act } = options;
  const accounts = new Map<Registration, Account>();

  return {
    register,
    deliver,
    find,
    closeAll() {
      for (const registration of accounts.keys()) registration.close();
    },
    abandonAll() {
      for (const account of accounts.values()) account.closed.resolve();
      accounts.clear();
    },
    get size() {
      return accounts.size;
    },
  };

  function register(order: RegisterOrder): RegistrationHandle {
    const { target, expiresS = defaultExpiresS } = order;
    const user = order.user ?? target.username ?? "";
    const domain = target.domain ?? target.host;
    const closed = Promise.withResolvers<void>();
    const registration = act(() => {
      const { username, password } = target;
      return agent.register({
        domain,
        user,
        expiresS,
        routes: routesOf(target, []),
        ...(username === undefined || password === undefined ? {} : { credentials: { username, password } }),
      });
    });
    accounts.set(registration, { order, name: accountOf(target, user), closed, search: undefined });
    return {
      get state() {
        return registration.state;
      },
      async close() {
        if (accounts.has(registration)) act(() => registration.close());
        else closed.resolve();
        await closed.promise;
      },
    };
  }

  function deliver(output: Parameters<Registrations["deliver"]>[0]): void {
    const account = accounts.get(output.registration);
    if (account === undefined) return;
    switch (output.type) {
      case "registration-changed":
        return tell(account, output.state);
      case "registrar-wanted":
        return void seek(output.registration, account, output.another).catch((error: unknown) => {
          log.error("fault while looking for a registrar", { error: describeError(error) });
          act(() => output.registration.unreachable("Looking for the registrar failed."));
        });
      case "registration-closed":
        accounts.delete(output.registration);
        return account.closed.resolve();
    }
  }

  function tell({ order }: Account, state: RegistrationState): void {
    try {
      order.onChange?.(state);
    } catch (error) {
      log.error("fault while telling of a registration", { error: describeError(error) });
    }
  }

  async function seek(registration: Registration, account: Account, another: boolean): Promise<void> {
    if (another) account.search?.failed();
    const known = another ? account.search : undefined;
    const search = known ?? (await servers.search(queryOf(account.order.target, []), registration.server));
    account.search = search;
    const server = await search.next();
    act(() => (server === undefined ? registration.unreachable(search.problem) : registration.ask(server)));
  }

  function find(target: SipTarget): ReturnType<Registrations["find"]> {
    for (const [registration, { order, name }] of accounts) {
      const user = order.user ?? order.target.username ?? "";
      const same = order.target.host === target.host && order.target.port === target.port;
      const { state, serviceRoute, server } = registration;
      if (same && name === accountOf(target, user) && isOwn(target, order) && state.type === "registered") {
        return { serviceRoute, server };
      }
    }
    return undefined;
  }
}

/** Two accounts at one provider are told apart by their credentials. */
function isOwn(target: SipTarget, order: RegisterOrder): boolean {
  return target.username === order.target.username;
}
