import { hashes } from "#host";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { authenticate } from "../../src/api/authenticate.ts";
import { playbookA } from "../support/memory-service.ts";
import { PublicApiRig } from "../support/public-api.ts";

let rig: PublicApiRig;
beforeEach(async () => {
  rig = await PublicApiRig.start();
});
afterEach(async () => rig[Symbol.asyncDispose]());

const shapes: readonly [string, string, unknown][] = [
  ["POST", "/call", { error: true, message: expect.any(String) }],
  ["GET", "/call/0190c000-0000-7000-8000-000000000001", { error: true, message: expect.any(String) }],
  ["POST", "/campaign", { error: expect.any(String) }],
  ["GET", "/calls", { error: expect.any(String) }],
];

describe("authentication", () => {
  test.each(shapes)(
    "%s %s without a good token is 401 in its own shape, the same whatever is wrong",
    async (method, path, body) => {
      const expired = rig.grant("A", rig.clock.now());
      const unknown = `outdial_${"x".repeat(16)}${"y".repeat(43)}`;
      const replies = [];
      for (const authorization of [
        "",
        "Basic abc",
        "Bearer",
        "Bearer nonsense",
        `Bearer ${unknown}`,
        `Bearer ${expired}`,
        rig.token,
      ]) {
        replies.push(await rig.ask(method, path, method === "POST" ? {} : undefined, { authorization }));
      }
      for (const reply of replies) {
        expect([reply.status, reply.json]).toEqual([401, body]);
        expect(reply.headers["www-authenticate"]).toBe("Bearer");
        expect(reply.text).toBe(replies[0]?.text);
      }
    },
  );

  test("a token with the right public part and another secret is refused", async () => {
    const forged = `${rig.token.slice(0, 24)}${"A".repeat(43)}`;
    expect((await rig.ask("GET", "/calls", undefined, { authorization: `Bearer ${forged}` })).status).toBe(
      401,
    );
  });

  test("a revoked token stops at once, an expired one at its moment", async () => {
    const token = rig.grant("A", rig.clock.now() + 1_000);
    const headers = { authorization: `Bearer ${token}` };
    expect((await rig.ask("GET", "/calls", undefined, headers)).status).toBe(200);
    rig.clock.advance(1_000);
    expect((await rig.ask("GET", "/calls", undefined, headers)).status).toBe(401);
    rig.service.credentials.delete(rig.token.slice(0, 24));
    expect((await rig.ask("GET", "/calls")).status).toBe(401);
  });

  test("the word Bearer may be written in any case", async () => {
    expect((await rig.ask("GET", "/calls", undefined, { authorization: `bearer ${rig.token}` })).status).toBe(
      200,
    );
  });

  test("every refusal does the same work: one look-up and one hash", async () => {
    const unknown = `Bearer outdial_${"x".repeat(16)}${"y".repeat(43)}`;
    for (const header of [undefined, "Bearer nonsense", unknown, `Bearer ${rig.token.slice(0, 66)}_`]) {
      let lookUps = 0;
      const hashed: number[] = [];
      const service = {
        findToken: async (prefix: string) => {
          lookUps++;
          return rig.service.findToken(prefix);
        },
      };
      const sha256 = (text: string) => {
        hashed.push(text.length);
        return hashes.sha256(text);
      };
      await expect(authenticate(header, service, sha256, rig.clock.now())).rejects.toThrow(
        "Not authenticated",
      );
      expect([lookUps, hashed]).toEqual([1, [43]]);
    }
  });

  test("the token is checked before the body is looked at", async () => {
    const reply = await rig.ask("POST", "/call", "{", {
      authorization: "Bearer x",
      "content-type": "text/plain",
    });
    expect(reply.status).toBe(401);
  });
});

describe("the rate limit", () => {
  test("lets 10 through in a second and answers the 11th with 429 in the operation's shape", async () => {
    for (let i = 0; i < 10; i++) expect((await rig.ask("GET", "/calls")).status).toBe(200);
    const list = await rig.ask("GET", "/calls");
    expect([list.status, list.json]).toEqual([429, { error: expect.any(String), retry_after: 1 }]);
    expect(list.headers).toMatchObject({
      "retry-after": "1",
      "ratelimit-limit": "10",
      "ratelimit-remaining": "0",
      "ratelimit-reset": "1",
    });
    const call = await rig.ask("POST", "/call", { phone: "+34600111222", playbook_id: playbookA });
    expect([call.status, call.json]).toEqual([
      429,
      { error: true, message: expect.any(String), retry_after: 1 },
    ]);
    const campaign = await rig.ask("POST", "/campaign", {});
    expect([campaign.status, campaign.json]).toEqual([429, { error: expect.any(String), retry_after: 1 }]);
    rig.clock.advance(1_000);
    expect((await rig.ask("GET", "/calls")).status).toBe(200);
  });

  test("holds exactly when requests come at once", async () => {
    const replies = await Promise.all(Array.from({ length: 25 }, async () => rig.ask("GET", "/calls")));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(10);
  });

  test("lets 100 through in a minute over all operations, and tells how many are left", async () => {
    for (let i = 0; i < 100; i++) {
      const reply = await (i % 2 ? rig.ask("GET", "/calls") : rig.ask("POST", "/campaign", {}));
      expect(reply.headers["ratelimit-remaining"]).toBe(String(99 - i));
      expect(reply.headers["ratelimit-limit"]).toBe("100");
      rig.clock.advance(100);
    }
    const refused = await rig.ask("GET", "/calls");
    expect([refused.status, refused.headers["retry-after"]]).toEqual([429, "50"]);
    rig.clock.advance(50_000);
    expect((await rig.ask("GET", "/calls")).status).toBe(200);
  });

  test("counts each token by itself, and none for requests without a good one", async () => {
    for (let i = 0; i < 11; i++) await rig.ask("GET", "/calls");
    const other = { authorization: `Bearer ${rig.otherToken}` };
    expect((await rig.ask("GET", "/calls", undefined, other)).status).toBe(200);
    for (let i = 0; i < 20; i++)
      expect((await rig.ask("GET", "/calls", undefined, { authorization: "Bearer x" })).status).toBe(401);
  });

  test("comes after the token and before the body", async () => {
    for (let i = 0; i < 10; i++) await rig.ask("GET", "/calls");
    expect((await rig.ask("POST", "/call", "{")).status).toBe(429);
  });
});
