import { describe, expect, it } from "vitest";
import type { OutgoingCall } from "#sip";
import { connect, header, ourMedia, peerSdp, ScriptedPeer, setStage, type Stage } from "./scripted-peer.ts";

const secondAddress = { address: "10.0.0.3", port: 5060 };

/** A call to the first of two servers; the second one is moved to when the call asks for it. */
function dialTwo(servers = 2): {
  readonly stage: Stage;
  readonly second: ScriptedPeer;
  readonly call: OutgoingCall;
  readonly wanted: () => number;
  readonly move: () => void;
} {
  const stage = setStage();
  const second = new ScriptedPeer(stage.network, secondAddress);
  let left = servers - 1;
  const call = stage.us.order((agent) => {
    const prepared = agent.prepare({
      host: "trunk.test",
      port: 5060,
      number: "+34600111222",
      callerId: "+34911222333",
      callId: "call-1",
      media: ourMedia,
      ringTimeoutMs: 60_000,
    });
    agent.send(prepared, stage.peer.address, { another: () => left-- > 0, announced: true });
    return prepared;
  });
  stage.clock.advance(2);
  return {
    stage,
    second,
    call,
    wanted: () => stage.outputs.filter(({ type }) => type === "server-wanted").length,
    move() {
      stage.us.order((agent) => agent.move(call, secondAddress));
      stage.clock.advance(2);
    },
  };
}

const names = ["From", "To", "Call-ID", "CSeq", "Contact"];

describe("a call whose server fails", () => {
  it("by 503 goes to the next one as the same INVITE with a new branch, and stays there", () => {
    const { stage, second, wanted, move } = dialTwo();
    const first = stage.peer.last("INVITE");
    stage.peer.respond(first, 100);
    stage.peer.respond(first, 503);
    stage.clock.advance(2);
    expect(wanted()).toBe(1);
    expect(stage.peer.requests("ACK")).toHaveLength(1);
    move();
    const moved = second.last("INVITE");
    for (const name of names) expect(header(moved, name)).toBe(header(first, name));
    expect(moved.uri).toBe(first.uri);
    expect(new TextDecoder().decode(moved.body)).toBe(new TextDecoder().decode(first.body));
    expect(header(moved, "Via")).not.toBe(header(first, "Via"));
    second.respond(moved, 200, { sdp: peerSdp() });
    stage.clock.advance(2);
    expect(stage.legEvents().map(({ type }) => type)).toEqual([
      "leg-invited-again",
      "leg-invited-again",
      "leg-answered",
    ]);
    const [, again] = stage.legEvents();
    const branch = /branch=([^;]+)/.exec(header(moved, "Via") ?? "")?.[1];
    expect(again).toMatchObject({ dialog: { destination: secondAddress, inviteBranch: branch } });
    expect(second.requests("ACK")).toHaveLength(1);
    expect(stage.peer.requests("INVITE")).toHaveLength(1);
  });

  it("by silence goes to the next one after 32 s, and a server that wakes up then is told to stop", () => {
    const { stage, second, wanted, move } = dialTwo();
    stage.clock.advance(32_000);
    expect(wanted()).toBe(1);
    move();
    stage.peer.respond(stage.peer.last("INVITE"), 180);
    stage.clock.advance(2);
    expect(stage.peer.requests("CANCEL")).toHaveLength(1);
    expect(header(stage.peer.last("CANCEL"), "Via")).toBe(header(stage.peer.last("INVITE"), "Via"));
    expect(stage.legEvents().map(({ type }) => type)).not.toContain("leg-ringing");
    stage.peer.respond(stage.peer.last("INVITE"), 200, { tag: "late", sdp: peerSdp() });
    stage.clock.advance(2);
    expect(stage.peer.requests("ACK")).toHaveLength(1);
    expect(stage.peer.requests("BYE")).toHaveLength(1);
    second.respond(second.last("INVITE"), 200, { sdp: peerSdp() });
    stage.clock.advance(2);
    expect(stage.legEvents().at(-1)?.type).toBe("leg-answered");
  });

  it("by an error on the way goes to the next one", () => {
    const { stage, wanted } = dialTwo();
    const branch = /branch=([^;]+)/.exec(header(stage.peer.last("INVITE"), "Via") ?? "")?.[1] ?? "";
    stage.us.order((agent) => agent.sendFailed(`INVITE ${branch}`, "Nobody listens."));
    expect(wanted()).toBe(1);
    expect(stage.legEvents()).toHaveLength(1);
  });

  it.each([180, 183, 181, 199])("goes nowhere else once it heard %i: the phone may have rung", (status) => {
    const { stage, wanted } = dialTwo();
    const invite = stage.peer.last("INVITE");
    stage.peer.respond(invite, status);
    stage.peer.respond(invite, 503);
    stage.clock.advance(2);
    expect(wanted()).toBe(0);
    expect(stage.legEvents().at(-1)).toMatchObject({ type: "leg-ended", end: { by: "them", status: 503 } });
  });

  it.each([400, 404, 408, 480, 486, 500, 502, 504, 600, 603])("goes nowhere else after %i", (status) => {
    const { stage, wanted } = dialTwo();
    stage.peer.respond(stage.peer.last("INVITE"), status);
    stage.clock.advance(2);
    expect(wanted()).toBe(0);
    expect(stage.legEvents().at(-1)).toMatchObject({ type: "leg-ended", end: { status } });
  });

  it("ends with the failure it met when there is no other server, or none can be reached", () => {
    const alone = dialTwo(1);
    alone.stage.peer.respond(alone.stage.peer.last("INVITE"), 503);
    alone.stage.clock.advance(2);
    expect(alone.wanted()).toBe(0);
    expect(alone.stage.legEvents().at(-1)).toMatchObject({ end: { by: "them", status: 503 } });
    const { stage, call } = dialTwo();
    stage.peer.respond(stage.peer.last("INVITE"), 503, { headers: [{ name: "Retry-After", value: "7" }] });
    stage.clock.advance(2);
    stage.us.order(() => call.abandon("Nobody listens there."));
    expect(stage.legEvents().at(-1)).toMatchObject({
      end: { by: "them", status: 503, retryAfterS: 7, problem: "Nobody listens there." },
    });
  });

  it("can be hung up between two servers, and is never dialled again", () => {
    const { stage, second, call, move } = dialTwo();
    stage.peer.respond(stage.peer.last("INVITE"), 503);
    stage.clock.advance(2);
    stage.us.order(() => call.hangUp());
    move();
    expect(stage.legEvents().at(-1)).toMatchObject({ end: { by: "us", ourAct: "cancel" } });
    expect(second.requests("INVITE")).toEqual([]);
  });

  it("that was cancelled before it answered goes nowhere else", () => {
    const { stage, wanted, call } = dialTwo();
    stage.us.order(() => call.hangUp());
    stage.peer.respond(stage.peer.last("INVITE"), 503);
    stage.clock.advance(2);
    expect(wanted()).toBe(0);
    expect(stage.legEvents().at(-1)).toMatchObject({ end: { by: "us", ourAct: "cancel" } });
  });
});

describe("an INVITE through proxies", () => {
  it("carries their Route, names the domain, and its From user", () => {
    const stage = setStage();
    stage.us.order((agent) => {
      const call = agent.prepare({
        host: "10.0.0.2",
        port: 5060,
        domain: "trunk.test",
        fromUser: "alice",
        routes: ["<sip:proxy.test;lr>", "<sip:edge.test;lr>"],
        number: "+34600111222",
        callerId: "+34911222333",
        callId: "call-1",
        media: ourMedia,
        ringTimeoutMs: 60_000,
      });
      expect(call.dialog.routeSet).toEqual(["<sip:proxy.test;lr>", "<sip:edge.test;lr>"]);
      agent.send(call, stage.peer.address);
    });
    stage.clock.advance(2);
    const invite = stage.peer.last("INVITE");
    expect(invite.uri).toBe("sip:+34600111222@trunk.test");
    expect(header(invite, "From")).toMatch(/^<sip:alice@trunk\.test>;tag=/);
    expect(header(invite, "To")).toBe("<sip:+34600111222@trunk.test>");
    const routes = invite.headers.filter(({ name }) => name === "Route").map(({ value }) => value);
    expect(routes).toEqual(["<sip:proxy.test;lr>", "<sip:edge.test;lr>"]);
    stage.peer.respond(invite, 486);
    stage.clock.advance(2);
    expect(header(stage.peer.last("ACK"), "Route")).toBe("<sip:proxy.test;lr>");
  });
});

describe("our Contact", () => {
  it("is the address that the peer saw us at, from the first answer on", () => {
    const stage = setStage();
    stage.us.order((agent) => agent.probe("trunk.test", 5060, stage.peer.address));
    stage.clock.advance(2);
    const options = stage.peer.last("OPTIONS");
    expect(header(options, "Contact")).toBe("<sip:ping@10.0.0.1:5060>");
    const headers = options.headers.map(({ name, value }) => ({
      name,
      value: name === "Via" ? value.replace("rport", "rport=40000;received=198.51.100.7") : value,
    }));
    stage.peer.respond({ ...options, headers }, 200);
    stage.clock.advance(2);
    expect(stage.outputs).toMatchObject([
      { type: "probe-ended", result: { status: 200, received: { address: "198.51.100.7", port: 40_000 } } },
    ]);
    connect(stage);
    const invite = stage.peer.last("INVITE");
    expect(header(invite, "Contact")).toBe("<sip:+34911222333@198.51.100.7:40000>");
    expect(header(invite, "Via")).toContain("10.0.0.1:5060");
  });

  it("keeps the way back open during a call where an address was translated", () => {
    const stage = setStage();
    stage.peer.readsPastMalformed = true;
    stage.us.order((agent) => agent.probe("trunk.test", 5060, stage.peer.address));
    stage.clock.advance(2);
    const options = stage.peer.last("OPTIONS");
    const headers = options.headers.map(({ name, value }) => ({
      name,
      value: name === "Via" ? value.replace("rport", "rport=40000;received=198.51.100.7") : value,
    }));
    stage.peer.respond({ ...options, headers }, 200);
    stage.clock.advance(2);
    connect(stage);
    stage.clock.advance(120_000);
    const pings = stage.network.sent.filter(({ text }) => text === "\r\n\r\n").map(({ at }) => at);
    expect(pings).toHaveLength(4);
    const gaps = pings.slice(1).map((at, i) => at - pings[i]!);
    for (const gap of gaps) expect(gap >= 25_000 && gap <= 30_000).toBe(true);
  });
});
