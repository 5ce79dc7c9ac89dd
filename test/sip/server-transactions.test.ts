import { describe, expect, it } from "vitest";
import { request, responseTo } from "../../src/sip/compose.ts";
import { createServerTransactions } from "../../src/sip/server-transactions.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

const source = { address: "10.0.0.2", port: 5060 };

function invite(via: string, callId = "c") {
  return request("INVITE", "sip:us@x", [
    { name: "Via", value: via },
    { name: "From", value: "<sip:a@b>;tag=1" },
    { name: "To", value: "<sip:us@x>" },
    { name: "Call-ID", value: callId },
    { name: "CSeq", value: "1 INVITE" },
  ]);
}

function open() {
  const sent: string[] = [];
  const table = createServerTransactions(new VirtualClock(), (bytes) => {
    sent.push(new TextDecoder().decode(bytes).split("\r\n")[0] ?? "");
  });
  return { sent, table };
}

describe("the server transactions", () => {
  it("let one final response stand, whatever is said after it", () => {
    const { sent, table } = open();
    const message = invite("SIP/2.0/UDP 10.0.0.2;branch=z9hG4bK1");
    const transaction = table.openInvite(message, source, responseTo(message, 100));
    for (const status of [486, 200, 180]) transaction.respond(responseTo(message, status));
    table.receive(message);
    expect(sent).toEqual(["SIP/2.0 100 Trying", "SIP/2.0 486 Busy Here", "SIP/2.0 486 Busy Here"]);
  });

  it("know a request by branch, sent-by and method, and one of an old peer by its call", () => {
    const { table } = open();
    const known = invite("SIP/2.0/UDP Host.Test:5060;branch=z9hG4bK1");
    table.openInvite(known, source, responseTo(known, 100));
    const old = invite("SIP/2.0/UDP 10.0.0.3;branch=7", "old");
    table.openInvite(old, source, responseTo(old, 100));
    expect(table.receive(invite("SIP/2.0/UDP host.test;branch=z9hG4bK1"))).toBe(true);
    expect(table.receive(invite("SIP/2.0/UDP host.test:5061;branch=z9hG4bK1"))).toBe(false);
    expect(table.receive(invite("SIP/2.0/UDP host.test;branch=z9hG4bK2"))).toBe(false);
    expect(table.receive({ ...known, method: "OPTIONS" })).toBe(false);
    expect(table.receive({ ...known, method: "ACK" })).toBe(true);
    expect(table.receive(invite("SIP/2.0/UDP 10.0.0.3;branch=8", "old"))).toBe(true);
    expect(table.receive(invite("SIP/2.0/UDP 10.0.0.3;branch=7", "other"))).toBe(false);
  });
});
