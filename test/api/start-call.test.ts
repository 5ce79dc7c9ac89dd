import { OutdialError } from "#base";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { accountA, playbookA, playbookB } from "../support/memory-service.ts";
import { PublicApiRig } from "../support/public-api.ts";

let rig: PublicApiRig;
beforeEach(async () => {
  rig = await PublicApiRig.start();
});
afterEach(async () => rig[Symbol.asyncDispose]());

const good = { phone: "+34600111222", playbook_id: playbookA };

describe("POST /call", () => {
  test("answers 200 with id, success and message, and nothing else", async () => {
    const reply = await rig.ask("POST", "/call", good);
    expect(reply.status).toBe(200);
    expect(reply.json).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      success: true,
      message: "Call queued",
    });
    expect(reply.headers["content-type"]).toBe("application/json; charset=utf-8");
  });

  test("hands the order over as asked for, language in lower case, other fields as custom parameters", async () => {
    await rig.ask("POST", "/call", {
      ...good,
      phone: "0034 600-111-222",
      version_id: "not even a uuid",
      voice_id: "3",
      voice_model: "fast",
      language: "pt-BR",
      interrupt: true,
      first_name: "Ana",
      programme: "",
    });
    expect(rig.service.started).toMatchObject([
      {
        phone: "+34600111222",
        playbook: playbookA,
        version: "not even a uuid",
        voiceId: "3",
        voiceModel: "fast",
        language: "pt-br",
        interrupt: true,
        params: { first_name: "Ana", programme: "" },
      },
    ]);
  });

  test("leaves the defaults to the playbook's version: an absent option stays absent", async () => {
    await rig.ask("POST", "/call", good);
    for (const option of ["voiceId", "voiceModel", "language", "interrupt", "version"]) {
      expect(rig.service.started[0]).not.toHaveProperty(option);
    }
  });

  test("takes the playbook's id in capitals, and never a name or the beginning of an id", async () => {
    expect((await rig.ask("POST", "/call", { ...good, playbook_id: playbookA.toUpperCase() })).status).toBe(
      200,
    );
    rig.service.owned.set("Welcome", accountA.id);
    rig.service.owned.set(playbookA.slice(0, 8), accountA.id);
    for (const playbook_id of ["Welcome", playbookA.slice(0, 8)]) {
      expect((await rig.ask("POST", "/call", { ...good, playbook_id })).status).toBe(400);
    }
  });

  const refused: readonly [string, unknown][] = [
    ["phone is missing", { playbook_id: playbookA }],
    ["phone is empty", { ...good, phone: "" }],
    ["phone is a number", { ...good, phone: 34600111222 }],
    ["phone has no country prefix", { ...good, phone: "600111222" }],
    ["phone is no possible number", { ...good, phone: "+3460011" }],
    ["phone has an extension", { ...good, phone: "+34600111222;ext=5" }],
    ["phone is a SIP URI", { ...good, phone: "sip:+34600111222@evil.example" }],
    ["phone has digits of another script", { ...good, phone: "+٣٤٦٠٠١١١٢٢٢" }],
    ["playbook_id is missing", { phone: good.phone }],
    ["playbook_id is foreign", { ...good, playbook_id: playbookB }],
    ["playbook_id is unknown", { ...good, playbook_id: "nothing" }],
    ["voice_id is 8", { ...good, voice_id: "8" }],
    ["voice_id is a number", { ...good, voice_id: 6 }],
    ["voice_model is unknown", { ...good, voice_model: "slow" }],
    ["language is no code", { ...good, language: "Spanish (Spain)" }],
    ["interrupt is text", { ...good, interrupt: "true" }],
    ["a custom parameter is a number", { ...good, age: 3 }],
    ["a custom parameter is an object", { ...good, who: {} }],
    ["a custom parameter is null", { ...good, who: null }],
    [
      "the parameter __proto__ is an object",
      `{"phone":"+34600111222","playbook_id":"${playbookA}","__proto__":{"a":1}}`,
    ],
    ["the body is an array", [good]],
    ["the body is null", "null"],
    ["the body is cut off", '{"phone":'],
    ["the body is empty", ""],
  ];
  test.each(refused)("400 in its own shape when %s", async (_, body) => {
    const reply = await rig.ask("POST", "/call", body);
    expect(reply.status).toBe(400);
    expect(reply.json).toEqual({ error: true, message: expect.stringMatching(/\S/) });
    expect(rig.service.started).toEqual([]);
  });

  test("400 names the wrong field and what would be accepted", async () => {
    const reply = await rig.ask("POST", "/call", { ...good, voice_id: "9" });
    expect(reply.json["message"]).toBe("voice_id must be one of 1, 2, 3, 4, 5, 6, 7");
  });

  test.each(["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])(
    "400 for a body of type %s",
    async (type) => {
      const reply = await rig.ask("POST", "/call", JSON.stringify(good), { "content-type": type });
      expect([reply.status, reply.json["error"]]).toEqual([400, true]);
      expect(rig.service.started).toEqual([]);
    },
  );

  test("400 for a body that is not UTF-8", async () => {
    const octets = Buffer.from(JSON.stringify({ ...good, name: "Zoë" }), "latin1");
    expect((await rig.ask("POST", "/call", octets, { "content-type": "application/json" })).status).toBe(400);
    expect(rig.service.started).toEqual([]);
  });

  test("takes parameters named __proto__, constructor and prototype as plain data", async () => {
    const body = `{"phone":"+34600111222","playbook_id":"${playbookA}","__proto__":"x","constructor":"y","prototype":"z"}`;
    expect((await rig.ask("POST", "/call", body)).status).toBe(200);
    const params = rig.service.started[0]?.params ?? {};
    expect(Object.entries(params)).toEqual([
      ["__proto__", "x"],
      ["constructor", "y"],
      ["prototype", "z"],
    ]);
    expect(Object.getPrototypeOf(params)).toBe(Object.prototype);
  });

  test.each(["suppressed", "forbidden-number", "sandbox-only", "no-trunk"])(
    "400 with the reason when the service says %s",
    async (code) => {
      rig.service.failure = new OutdialError(code, "The reason in words");
      const reply = await rig.ask("POST", "/call", good);
      expect([reply.status, reply.json]).toEqual([400, { error: true, message: "The reason in words" }]);
    },
  );

  test("503 with Retry-After when the store is full", async () => {
    rig.service.failure = new OutdialError("store-full", "No space is left for the store");
    const reply = await rig.ask("POST", "/call", good);
    expect([reply.status, reply.json["error"], reply.headers["retry-after"]]).toEqual([503, true, "5"]);
  });

  test("500 in its own shape tells nothing of the inside", async () => {
    for (const failure of [
      new Error("SQLITE_CORRUPT: select secret from /home/x/outdial.db"),
      new OutdialError("store-failed", "select secret from /home/x/outdial.db"),
      new OutdialError("store-restarted", "The store thread died"),
    ]) {
      rig.service.failure = failure;
      const reply = await rig.ask("POST", "/call", good);
      expect([reply.status, reply.json]).toEqual([500, { error: true, message: "Internal server error" }]);
    }
  });

  test("413 for a body over one mebibyte", async () => {
    const reply = await rig.ask("POST", "/call", { ...good, note: "x".repeat(1_100_000) });
    expect([reply.status, reply.json["error"]]).toEqual([413, true]);
  });
});
