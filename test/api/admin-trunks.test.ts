import { adminRoutes } from "#wire";
import { Value } from "typebox/value";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { AdminApiRig } from "../support/admin-api.ts";

let rig: AdminApiRig;
beforeEach(async () => {
  rig = await AdminApiRig.start();
});
afterEach(() => rig[Symbol.asyncDispose]());

const settings = {
  host: "sip.example",
  port: 5061,
  transport: "tls",
  domain: "example.com",
  outbound_proxy: "edge.example.com",
  register_expires_s: 300,
  srtp: "required",
  from_user: "u",
  number_format: "00{e164}",
  caller_id_header: "p-asserted-identity",
  display_name: "Clinic",
  privacy: true,
  headers: { "X-A": "1" },
  priority: 5,
  allow_transfer: true,
  ca_certificate: null,
} as const;

describe("a trunk's SIP settings", () => {
  test("reach the service in its own words, and come back as they were given", async () => {
    const made = await rig.ask("POST", "/admin/trunks", { name: "main", kind: "ip", ...settings });
    expect(made.status).toBe(201);
    expect(made.json).toMatchObject({ ...settings, health: "ready", registration: null, retry_at: null });
    expect(Value.Check(adminRoutes.createTrunk.success.schema!, made.json)).toBe(true);
    expect(rig.service.acts).toMatchObject([
      [
        "createTrunk",
        {
          sip: {
            transport: "tls",
            domain: "example.com",
            outboundProxy: "edge.example.com",
            registerExpiresS: 300,
            srtp: "required",
            fromUser: "u",
            numberFormat: "00{e164}",
            callerIdHeader: "p-asserted-identity",
            displayName: "Clinic",
            privacy: true,
            headers: { "X-A": "1" },
            priority: 5,
            allowTransfer: true,
            caCertificate: null,
          },
        },
      ],
    ]);
  });

  test("are changed one by one; null takes one back", async () => {
    await rig.ask("POST", "/admin/trunks", { name: "main", kind: "ip", ...settings });
    const body = { transport: "tcp", srtp: "off", domain: null, username: null, caller_id: null };
    const reply = await rig.ask("POST", "/admin/trunks/main/edit", body);
    expect(reply.status).toBe(200);
    expect(reply.json).toMatchObject({ transport: "tcp", domain: null, priority: 5 });
    expect(rig.service.acts[1]).toEqual([
      "editTrunk",
      "main",
      { username: "", callerId: "", sip: { transport: "tcp", srtp: "off", domain: null } },
    ]);
    expect((await rig.ask("POST", "/admin/trunks/none/edit", {})).status).toBe(404);
  });

  test.each([
    { transport: "sctp" },
    { srtp: "maybe" },
    { caller_id_header: "x-from" },
    { headers: { a: 1 } },
    { kind: "sandbox" },
    { surprise: 1 },
  ])("%j is refused before anything is asked", async (body) => {
    expect((await rig.ask("POST", "/admin/trunks/main/edit", body)).status).toBe(400);
    expect(rig.service.acts).toEqual([]);
  });
});

test("a trunk at fault says why, and when it is tried again", async () => {
  await rig.ask("POST", "/admin/trunks", { name: "main", kind: "ip", host: "h" });
  const [trunk] = rig.service.trunks;
  const states = [
    { fault: { why: "It is paused.", until: 60_000, held: false }, registration: null },
    {
      fault: { why: "The registration was refused.", until: null, held: true },
      registration: { type: "refused" as const },
    },
  ];
  const seen = [];
  for (const state of states) {
    rig.service.trunks = [{ ...trunk!, ...state }];
    seen.push((await rig.ask("GET", "/admin/trunks/main")).json);
  }
  expect(seen).toMatchObject([
    { health: "waiting", health_reason: "It is paused.", retry_at: "1970-01-01T00:01:00.000Z" },
    { health: "held", registration: "refused", retry_at: null },
  ]);
});

test("a test of a trunk tells what was looked at, and whether all of it is well", async () => {
  await rig.ask("POST", "/admin/trunks", { name: "main", kind: "ip", host: "h" });
  const reply = await rig.ask("POST", "/admin/trunks/main/test");
  expect(reply.status).toBe(200);
  expect(reply.json).toMatchObject({
    ok: false,
    checks: [
      { result: "ok" },
      { result: "unknown" },
      { check: "registration", advice: "Check the password." },
    ],
  });
  expect((await rig.ask("POST", "/admin/trunks/none/test")).status).toBe(404);
});
