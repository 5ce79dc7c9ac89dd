import { OutdialError } from "#base";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { playbookA } from "../support/memory-service.ts";
import { PublicApiRig } from "../support/public-api.ts";

let rig: PublicApiRig;
beforeEach(async () => {
  rig = await PublicApiRig.start();
});
afterEach(async () => rig[Symbol.asyncDispose]());

const call = { phone: "+34600111222", playbook_id: playbookA };
const campaign = { playbook_id: playbookA, contacts: [{ phone: "+34600111222" }] };
const key = { "idempotency-key": "night-run-7" };

describe.each([
  ["POST /call", "/call", call, { ...call, note: "x" }, { error: true, message: expect.any(String) }],
  ["POST /campaign", "/campaign", campaign, { ...campaign, recall: [5] }, { error: expect.any(String) }],
])("an Idempotency-Key on %s", (_, path, body, other, conflict) => {
  const made = () => rig.service.started.length + rig.service.campaigns.length;

  test("gives the first answer again and starts nothing", async () => {
    const first = await rig.ask("POST", path, body, key);
    const second = await rig.ask("POST", path, body, key);
    expect([second.status, second.text]).toEqual([first.status, first.text]);
    expect(second.headers["idempotency-replayed"]).toBe("true");
    expect(made()).toBe(1);
  });

  test("answers 409 in the operation's shape for another body", async () => {
    await rig.ask("POST", path, body, key);
    const reply = await rig.ask("POST", path, other, key);
    expect([reply.status, reply.json]).toEqual([409, conflict]);
    expect(made()).toBe(1);
  });

  test("makes one of copies that arrive together", async () => {
    const replies = await Promise.all(
      Array.from({ length: 8 }, async () => rig.ask("POST", path, body, key)),
    );
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(made()).toBe(1);
  });

  test("belongs to one account", async () => {
    await rig.ask("POST", path, body, key);
    await rig.ask(
      "POST",
      path,
      { ...body, playbook_id: "0190b000-0000-7000-8000-00000000000b" },
      {
        ...key,
        authorization: `Bearer ${rig.otherToken}`,
      },
    );
    expect(made()).toBe(2);
  });

  test("is not used up by a refused request", async () => {
    rig.service.failure = new OutdialError("store-full", "No space is left");
    expect((await rig.ask("POST", path, body, key)).status).toBe(503);
    rig.service.failure = undefined;
    expect((await rig.ask("POST", path, body, key)).status).toBeLessThan(300);
    expect(made()).toBe(1);
  });

  test("without one every request counts", async () => {
    await rig.ask("POST", path, body);
    await rig.ask("POST", path, body);
    expect(made()).toBe(2);
  });

  test("of more than 255 characters, or empty, is refused", async () => {
    for (const value of ["", "k".repeat(256)]) {
      expect((await rig.ask("POST", path, body, { "idempotency-key": value })).status).toBe(400);
    }
  });
});

describe("the same key on another operation", () => {
  test("is a conflict", async () => {
    await rig.ask("POST", "/call", call, key);
    expect((await rig.ask("POST", "/campaign", campaign, key)).status).toBe(409);
  });
});

describe("when another daemon on the same store was quicker", () => {
  test("its answer is given", async () => {
    const first = await rig.ask("POST", "/call", call, key);
    const [[lane, stored] = []] = rig.service.answers;
    if (lane === undefined || !stored) throw new Error("nothing was stored");
    let looks = 0;
    rig.service.findIdempotent = async () => (++looks === 1 ? undefined : stored);
    rig.service.failure = new OutdialError("idempotency-key-used", "The key is taken");
    const second = await rig.ask("POST", "/call", call, key);
    expect([second.status, second.text]).toEqual([200, first.text]);
  });
});
