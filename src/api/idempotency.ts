import { OutdialError, type AccountId } from "#base";
import { badRequest, Refusal } from "./failure.ts";
import type { Answer, ApiRequest } from "./http.ts";
import type { Idempotency, Service } from "./service.ts";

/** What an operation adds to its order so that its answer is stored with the write; undefined without a key. */
type Stamp = Pick<Idempotency<unknown>, "key" | "bodyHash"> | undefined;

export interface Once {
  /**
   * Runs an operation once per account and `Idempotency-Key`: the same body gets the first answer again,
   * another body 409. Copies that arrive together wait for the first.
   */
  run(
    request: ApiRequest<unknown>,
    accountId: AccountId,
    perform: (stamp: Stamp) => Promise<Answer>,
  ): Promise<Answer>;
}

/** Remembers only operations under way; finished ones are the service's. */
export function createOnce(
  service: Pick<Service, "findIdempotent">,
  sha256: (data: string | Uint8Array) => string,
): Once {
  const underWay = new Map<string, Promise<unknown>>();
  return { run };

  async function run(
    request: ApiRequest<unknown>,
    accountId: AccountId,
    perform: (stamp: Stamp) => Promise<Answer>,
  ): Promise<Answer> {
    const key = readKey(request.headers["idempotency-key"]);
    if (key === undefined) return perform(undefined);
    const bodyHash = sha256(`${request.route.method} ${request.route.path} ${sha256(request.rawBody)}`);
    const lane = `${accountId} ${key}`;
    const turn = after(underWay.get(lane)).then(() => first({ key, bodyHash }, accountId, perform));
    const settled = after(turn);
    underWay.set(lane, settled);
    try {
      return await turn;
    } finally {
      if (underWay.get(lane) === settled) underWay.delete(lane);
    }
  }

  async function first(
    stamp: NonNullable<Stamp>,
    accountId: AccountId,
    perform: (stamp: Stamp) => Promise<Answer>,
  ): Promise<Answer> {
    const known = await replay(stamp, accountId);
    if (known) return known;
    try {
      return await perform(stamp);
    } catch (error) {
      // Another daemon on the same store was quicker.
      if (!(error instanceof OutdialError && error.code === "idempotency-key-used")) throw error;
      const other = await replay(stamp, accountId);
      if (!other) throw error;
      return other;
    }
  }

  async function replay(stamp: NonNullable<Stamp>, accountId: AccountId): Promise<Answer | undefined> {
    const stored = await service.findIdempotent(accountId, stamp.key);
    if (!stored) return undefined;
    if (stored.bodyHash === stamp.bodyHash) {
      return {
        type: "text",
        text: stored.answer,
        status: stored.status,
        headers: { "idempotency-replayed": "true" },
      };
    }
    const message = "This Idempotency-Key was used with another request in the last 24 hours";
    throw new Refusal({ status: 409, code: "idempotency-conflict", message });
  }
}

/** Waits for a promise whatever becomes of it. */
async function after(promise: Promise<unknown> | undefined): Promise<void> {
  await promise?.catch(() => undefined);
}

function readKey(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  if (typeof header === "string" && header.length >= 1 && header.length <= 255) return header;
  throw badRequest("Idempotency-Key must have 1 to 255 characters");
}
