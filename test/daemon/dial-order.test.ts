import type { TrunkSip } from "#domain";
import { describe, expect, test } from "vitest";
import { dialledAs, nextHopOf, targetOf } from "../../src/daemon/dial-order.ts";
import { trunkRow } from "./trunk-rows.ts";

const call = { to: "+34600111222", from: "+34911111111", trunkId: "t1" };

describe("a call on a trunk", () => {
  test("of nothing special dials E.164 and says who calls in From only", () => {
    expect(dialledAs(trunkRow(), call)).toEqual({ number: "+34600111222", callerId: "+34911111111" });
  });

  test("that any trunk may take shows the number of the one that takes it", () => {
    expect(dialledAs(trunkRow(), { ...call, trunkId: null })).toMatchObject({ callerId: "+34910000000" });
  });

  test.each<[Partial<TrunkSip>, unknown]>([
    [
      { displayName: "Sol", headers: { "X-A": "1" } },
      { displayName: "Sol", headers: { "X-A": "1" } },
    ],
    [{ callerIdHeader: "p-asserted-identity" }, { assertedIdentity: "sip:+34911111111@sip.example.com" }],
    [
      { callerIdHeader: "p-preferred-identity", domain: "example.com" },
      { preferredIdentity: "sip:+34911111111@example.com" },
    ],
    [{ callerIdHeader: "remote-party-id" }, { remotePartyId: "sip:+34911111111@sip.example.com" }],
    [
      { privacy: true, displayName: "Sol" },
      { displayName: "Sol", privacy: true },
    ],
    [
      { privacy: true, displayName: "Sol", callerIdHeader: "p-asserted-identity" },
      {
        displayName: "Anonymous",
        fromUser: "anonymous",
        fromHost: "anonymous.invalid",
        assertedIdentity: "sip:+34911111111@sip.example.com",
        privacy: true,
      },
    ],
  ])("%j says so: %j", (sip, identity) => {
    expect(dialledAs(trunkRow({}, sip), call).identity).toEqual(identity);
  });

  test("without a caller id asserts nothing", () => {
    const sip = { callerIdHeader: "p-asserted-identity" } as const;
    expect(dialledAs(trunkRow({}, sip), { ...call, from: "" })).toEqual({ number: call.to, callerId: "" });
  });

  test("dials as the trunk wants it", () => {
    expect(dialledAs(trunkRow({}, { numberFormat: "00{e164}" }), call).number).toBe("0034600111222");
  });
});

test("a trunk's target is its row with its password", () => {
  const sip = {
    transport: "tls",
    domain: "example.com",
    outboundProxy: "sip:[2001:db8::1]:5061;lr",
    fromUser: "42",
  } as const;
  expect(targetOf(trunkRow({}, sip), "secret")).toEqual({
    host: "sip.example.com",
    port: 0,
    username: "ana",
    password: "secret",
    ...sip,
  });
  expect(targetOf(trunkRow({ username: null }), undefined)).toEqual({
    host: "sip.example.com",
    port: 0,
    transport: "udp",
  });
});

test.each([
  [null, "sip.example.com"],
  ["edge.example.com", "edge.example.com"],
  ["sip:edge.example.com:5062;lr", "edge.example.com"],
  ["[2001:db8::1]:5060", "2001:db8::1"],
])("the first hop behind proxy %s is %s", (outboundProxy, hop) => {
  expect(nextHopOf(trunkRow({}, { outboundProxy }))).toBe(hop);
});
