import { describe, expect, it } from "vitest";
import type { SipAddress } from "#sip";
import type { Machine, Step } from "#base";
import { createClientTransactions } from "../../src/sip/client-transactions.ts";
import { addressOf, cancelOf, request, responseTo } from "../../src/sip/compose.ts";
import { inviteClient, startInviteClient } from "../../src/sip/invite-client.ts";
import { inviteServer, startInviteServer } from "../../src/sip/invite-server.ts";
import { createLearnedAddresses } from "../../src/sip/learned-addresses.ts";
import type { SipRequest, SipResponse } from "../../src/sip/message.ts";
import { parseMessage } from "../../src/sip/parse.ts";
import { requestClient, startRequestClient } from "../../src/sip/request-client.ts";
import { requestServer, startRequestServer } from "../../src/sip/request-server.ts";
import { readProxyHop } from "../../src/sip/route.ts";
import { VirtualClock } from "../support/virtual-clock.ts";

/** What a machine does by itself from 0 on, as `moment effect`; `over` stands for its end. */
function alone<State, Input, Effect extends { readonly type: string }>(
  machine: Machine<State, Input, Effect>,
  steps: readonly ((state: State) => Step<State, Effect>)[],
  first: Step<State, Effect>,
): readonly string[] {
  const done = first.effects.map(({ type }) => `0 ${type}`);
  let state = first.state;
  for (const next of steps) {
    const step = next(state);
    state = step.state;
    done.push(...step.effects.map(({ type }) => `0 ${type}`));
  }
  for (let guard = 0; guard < 50 && !machine.isOver(state); guard++) {
    const at = machine.deadline(state);
    if (at === Infinity) return done;
    const step = machine.step(state, { type: "tick" }, at);
    state = step.state;
    done.push(...step.effects.map(({ type }) => `${at} ${type}`));
    if (machine.isOver(state)) done.push(`${at} over`);
  }
  return done;
}

describe("a transaction over a reliable transport", () => {
  it("repeats no request, and gives up after 32 s all the same", () => {
    expect(alone(inviteClient, [], startInviteClient(0, true))).toEqual([
      "0 send-invite",
      "32000 fail",
      "32000 over",
    ]);
    expect(alone(requestClient, [], startRequestClient(0, true))).toEqual([
      "0 send-request",
      "32000 fail",
      "32000 over",
    ]);
  });

  it("ends with the final response", () => {
    const refused = { type: "response", status: 486 } as const;
    const invite = alone(
      inviteClient,
      [
        (state) => inviteClient.step(state, { type: "response", status: 180 }, 0),
        (state) => inviteClient.step(state, refused, 0),
      ],
      startInviteClient(0, true),
    );
    expect(invite).toEqual(["0 send-invite", "0 pass-up", "0 send-ack", "0 pass-up", "0 over"]);
    const other = alone(
      requestClient,
      [(state) => requestClient.step(state, refused, 0)],
      startRequestClient(0, true),
    );
    expect(other).toEqual(["0 send-request", "0 pass-up", "0 over"]);
  });

  it("of a peer's request repeats no refusal and forgets at once what was acknowledged", () => {
    const respond = { type: "respond", status: 486 } as const;
    const unacknowledged = alone(
      inviteServer,
      [(state) => inviteServer.step(state, respond, 0)],
      startInviteServer(true),
    );
    expect(unacknowledged).toEqual(["0 send-response", "0 send-response", "32000 fail", "32000 over"]);
    const acknowledged = alone(
      inviteServer,
      [
        (state) => inviteServer.step(state, respond, 0),
        (state) => inviteServer.step(state, { type: "ack" }, 0),
      ],
      startInviteServer(true),
    );
    expect(acknowledged).toEqual(["0 send-response", "0 send-response", "0 over"]);
    const other = alone(
      requestServer,
      [(state) => requestServer.step(state, { type: "respond", status: 200 }, 0)],
      startRequestServer(0, true),
    );
    expect(other).toEqual(["0 send-response", "0 over"]);
  });
});

const server: SipAddress = { address: "10.0.0.2", port: 5060 };

function outdoing(method: string, padding: number): SipRequest {
  return request(method, "sip:a@10.0.0.2", [
    { name: "Via", value: "SIP/2.0/UDP 10.0.0.1:5060;branch=z9hG4bKone;rport" },
    { name: "From", value: "<sip:a@b>;tag=1" },
    { name: "To", value: "<sip:c@d>" },
    { name: "Call-ID", value: "1" },
    { name: "CSeq", value: `1 ${method}` },
    { name: "Identity", value: "x".repeat(padding) },
  ]);
}

/** Client transactions, and what left them as `TCP INVITE`. */
function outbox() {
  const clock = new VirtualClock();
  const sent: { readonly text: string; readonly to: SipAddress; readonly key: string | undefined }[] = [];
  const told: string[] = [];
  const clients = createClientTransactions(
    clock,
    (bytes, to, of) => void sent.push({ text: new TextDecoder().decode(bytes), to, key: of?.key }),
    { largeOverTcp: true },
  );
  const reader = {
    response: (response: SipResponse) => void told.push(`${response.status}`),
    failed: (reason: string) => void told.push(reason),
  };
  return {
    clock,
    clients,
    sent,
    told,
    reader,
    shown: () =>
      sent.map(
        ({ text, to }) => `${to.transport ?? "udp"} ${/UDP|TCP|TLS/.exec(text)?.[0]} ${text.split(" ")[0]}`,
      ),
  };
}

describe("a request too large for a datagram", () => {
  it("goes over TCP, its CANCEL and ACK too, and small ones stay datagrams", () => {
    const { clients, sent, reader, shown } = outbox();
    const invite = outdoing("INVITE", 1_300);
    clients.sendInvite(invite, server, reader);
    clients.sendRequest(cancelOf(invite), server, reader);
    const got = parseMessage(new TextEncoder().encode(sent[0]!.text));
    if (!got.ok || got.message.type !== "request") throw new Error("no request");
    clients.receive(responseTo(got.message, 487, { toTag: "t" }));
    clients.sendRequest(outdoing("OPTIONS", 10), server, reader);
    expect(shown()).toEqual(["tcp TCP INVITE", "tcp TCP CANCEL", "tcp TCP ACK", "udp UDP OPTIONS"]);
  });

  it("goes as a datagram after all where there is no TCP, and the next one at once", () => {
    const { clients, sent, told, reader, shown, clock } = outbox();
    clients.sendInvite(outdoing("INVITE", 1_300), server, reader);
    clients.sendFailed(sent[0]!.key!);
    clients.sendRequest(outdoing("UPDATE", 1_300), server, reader);
    expect(shown()).toEqual(["tcp TCP INVITE", "udp UDP INVITE", "udp UDP UPDATE"]);
    expect(told).toEqual([]);
    clock.advance(500);
    expect(shown().slice(3).toSorted()).toEqual(["udp UDP INVITE", "udp UDP UPDATE"]);
    clock.advance(3_600_000);
    clients.sendInvite(outdoing("INVITE", 1_300), server, reader);
    expect(shown().at(-1)).toBe("tcp TCP INVITE");
  });

  it("fails when neither way is open", () => {
    const { clients, sent, told, reader } = outbox();
    clients.sendRequest(outdoing("UPDATE", 1_300), server, reader);
    clients.sendFailed(sent[0]!.key!);
    clients.sendFailed(sent[1]!.key!);
    expect(told).toEqual(["transport"]);
  });
});

describe("the next hop of a dialog", () => {
  const tls: SipAddress = { address: "10.0.0.2", port: 5061, transport: "tls", domain: "trunk.test" };
  const tcp: SipAddress = { address: "10.0.0.2", port: 5070, transport: "tcp" };

  it.each([
    ["sip:x@10.0.0.2:5061;transport=tls", tls, tls],
    ["sip:x@10.0.0.2", tls, tls],
    ["sip:x@10.0.0.2:5060", tls, tls],
    ["sip:x@trunk.test", tls, tls],
    ["sip:x@10.0.0.9:5060", tls, { ...tls, address: "10.0.0.9", port: 5060 }],
    ["sip:x@10.0.0.9;transport=udp", tls, tls],
    [
      "sip:x@edge.trunk.test;transport=tls",
      tls,
      { ...tls, address: "edge.trunk.test", domain: "edge.trunk.test" },
    ],
    ["sips:x@10.0.0.9", tcp, { address: "10.0.0.9", port: 5061, transport: "tls" }],
    ["sip:x@10.0.0.2:5060", tcp, tcp],
    ["sip:x@10.0.0.2:5080;transport=tcp", tcp, { ...tcp, port: 5080 }],
    ["sip:x@10.0.0.2;transport=udp", tcp, { address: "10.0.0.2", port: 5060 }],
    ["sip:x@10.0.0.9", server, { address: "10.0.0.9", port: 5060 }],
    ["sip:x@10.0.0.9;transport=tcp", server, { address: "10.0.0.9", port: 5060, transport: "tcp" }],
    [
      "sip:x@trunk.test",
      { ...server, port: 5080, domain: "trunk.test" },
      { ...server, port: 5080, domain: "trunk.test" },
    ],
    ["sip:x@10.0.0.2", { ...server, port: 5080 }, server],
    ["tel:+34600111222", tls, undefined],
  ] as const)("%s from there is the same server, or keeps at least its safety", (uri, from, to) => {
    expect(addressOf(uri, from)).toEqual(to);
  });
});

describe("a proxy hop", () => {
  it.each([
    ["proxy.test", { host: "proxy.test", route: "<sip:proxy.test;lr>" }],
    ["10.0.0.9:5080", { host: "10.0.0.9", port: 5080, route: "<sip:10.0.0.9:5080;lr>" }],
    ["[::1]:5080", { host: "::1", port: 5080, route: "<sip:[::1]:5080;lr>" }],
    [
      "sip:p.test;transport=TLS",
      { host: "p.test", transport: "tls", route: "<sip:p.test;transport=tls;lr>" },
    ],
    ["<sip:orig@p.test:5080;lr;x=1>", { host: "p.test", port: 5080, route: "<sip:orig@p.test:5080;lr;x=1>" }],
    ["http://x", undefined],
    ["", undefined],
    ["a b", undefined],
  ])("%s is read", (text, hop) => {
    expect(readProxyHop(text)).toEqual(hop);
  });
});

describe("the address a peer sees", () => {
  const seen = (via: string): SipResponse => ({
    type: "response",
    status: 200,
    reason: "OK",
    headers: [{ name: "Via", value: via }],
    body: new Uint8Array(),
  });

  it.each([
    ["SIP/2.0/UDP 10.0.0.1:5060;rport=40000;received=198.51.100.7;branch=z", "198.51.100.7", 40_000],
    ["SIP/2.0/UDP 10.0.0.1:5060;rport=40000;branch=z", "10.0.0.1", 40_000],
    ["SIP/2.0/UDP [2001:db8::1]:5060;rport=5060;received=[2001:db8::7];branch=z", "2001:db8::7", 5_060],
  ])("is learnt from %s", (via, address, port) => {
    const learned = createLearnedAddresses();
    learned.learn(seen(via), server);
    expect(learned.find(server)).toEqual({ address, port });
    expect(learned.find({ ...server, transport: "tcp" })).toBeUndefined();
    learned.forget(server);
    expect(learned.find(server)).toBeUndefined();
  });

  it.each([
    "SIP/2.0/UDP 10.0.0.1:5060;rport;branch=z",
    "SIP/2.0/UDP 10.0.0.1:5060;received=198.51.100.7;branch=z",
    "SIP/2.0/UDP 10.0.0.1:5060;rport=0;received=198.51.100.7;branch=z",
    "SIP/2.0/UDP 10.0.0.1:5060;rport=1;received=0.0.0.0;branch=z",
    "SIP/2.0/UDP 10.0.0.1:5060;rport=1;received=239.1.1.1;branch=z",
    "SIP/2.0/UDP 10.0.0.1:5060;rport=1;received=evil.test;branch=z",
  ])("is not taken from %s", (via) => {
    const learned = createLearnedAddresses();
    learned.learn(seen(via), server);
    expect(learned.find(server)).toBeUndefined();
  });
});
