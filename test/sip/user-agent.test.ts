import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ackOfRefusal, request, responseTo, withSource } from "../../src/sip/compose.ts";
import { peekCallId } from "../../src/sip/peek-call-id.ts";
import {
  connect,
  dial,
  header,
  inside,
  peerSdp,
  ScriptedPeer,
  setStage,
  type Stage,
} from "./scripted-peer.ts";
import { readTortureMessages } from "./torture-files.ts";

const stranger = { address: "10.66.66.66", port: 5060 };

/** Trusts only who is called. */
function guarded(): { readonly stage: Stage; readonly outsider: ScriptedPeer } {
  const stage = setStage({ trusts: () => false });
  return { stage, outsider: new ScriptedPeer(stage.network, stranger) };
}

describe("requests outside a call", () => {
  it.each([
    ["OPTIONS", 200],
    ["REFER", 603],
    ["REGISTER", 405],
    ["MESSAGE", 405],
    ["SUBSCRIBE", 405],
    ["NOTIFY", 481],
    ["BYE", 481],
    ["CANCEL", 481],
    ["INFO", 481],
    ["UPDATE", 481],
    ["FETCH", 501],
  ])("%s is answered %i", (method, status) => {
    const stage = setStage();
    stage.peer.request(method);
    stage.clock.advance(2);
    expect(stage.peer.statuses(method)).toEqual([status]);
    expect(header(stage.peer.responses(method)[0]!, "To")).toMatch(/;tag=\w+/);
  });

  it("say what we can do", () => {
    const stage = setStage();
    stage.peer.request("OPTIONS");
    stage.peer.request("MESSAGE", { callId: "other" });
    stage.clock.advance(2);
    for (const method of ["OPTIONS", "MESSAGE"]) {
      const allow = header(stage.peer.responses(method)[0]!, "Allow");
      expect(allow).toBe("INVITE, ACK, CANCEL, BYE, OPTIONS, INFO, UPDATE, PRACK, NOTIFY");
    }
  });

  it("with the tag of a call we do not have are answered 481, an ACK not at all", () => {
    const stage = setStage();
    const to = "<sip:us@10.0.0.1>;tag=unknown";
    for (const method of ["INVITE", "BYE", "OPTIONS", "ACK"]) stage.peer.request(method, { to });
    stage.clock.advance(2);
    expect(stage.peer.statuses("BYE")).toEqual([481]);
    expect(stage.peer.statuses("OPTIONS")).toEqual([481]);
    expect(stage.peer.statuses("INVITE")).toEqual([100, 481]);
    expect(stage.peer.statuses("ACK")).toEqual([]);
  });

  it("with a body that is no SDP are refused 415, with a required extension 420", () => {
    const stage = setStage();
    const type = { name: "Content-Type", value: "application/isup" };
    stage.peer.request("INVITE", { headers: [type], body: "x" });
    stage.peer.request("OPTIONS", { headers: [{ name: "Require", value: "nothing" }] });
    stage.clock.advance(2);
    expect(stage.peer.statuses("INVITE")).toEqual([100, 415]);
    expect(stage.peer.statuses("OPTIONS")).toEqual([420]);
  });

  it("that come again are answered the same, once each", () => {
    const stage = setStage();
    for (let n = 0; n < 3; n++) stage.peer.request("OPTIONS", { branch: "z9hG4bKsame" });
    stage.clock.advance(2);
    const answers = stage.peer.responses("OPTIONS");
    expect(answers).toHaveLength(3);
    expect(new Set(answers.map((answer) => header(answer, "To"))).size).toBe(1);
  });

  it("are answered where they came from when rport asks for it, else at the port of the Via", () => {
    const stage = setStage();
    const nat = new ScriptedPeer(stage.network, { address: "10.0.0.2", port: 40_000 });
    const lines = (via: string) =>
      [
        "OPTIONS sip:us@10.0.0.1 SIP/2.0",
        `Via: SIP/2.0/UDP 192.168.1.5:5060;branch=z9hG4bK${via.length}${via}`,
        "From: <sip:a@b>;tag=1",
        "To: <sip:us@10.0.0.1>",
        `Call-ID: ${via}x`,
        "CSeq: 1 OPTIONS",
        "Max-Forwards: 70",
        "Content-Length: 0",
        "",
        "",
      ].join("\r\n");
    nat.send(lines(";rport"));
    nat.send(lines(""));
    stage.clock.advance(2);
    expect(nat.statuses("OPTIONS")).toEqual([200]);
    expect(header(nat.responses("OPTIONS")[0]!, "Via")).toMatch(/received=10\.0\.0\.2/);
    expect(header(nat.responses("OPTIONS")[0]!, "Via")).toMatch(/rport=40000/);
    expect(stage.peer.statuses("OPTIONS")).toEqual([200]);
  });

  it("that cannot be read are answered 400 when they say enough of themselves", () => {
    const stage = setStage();
    stage.peer.send(
      "OPTIONS sip:us@10.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 10.0.0.2;branch=z9hG4bKx\r\nFrom: <sip:a@b>;tag=1\r\n" +
        "To: <sip:us@x>\r\nCall-ID: x\r\nCSeq: 1 INVITE\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n",
    );
    stage.clock.advance(2);
    expect(stage.peer.got.map((message) => (message.type === "response" ? message.status : 0))).toEqual([
      400,
    ]);
  });
});

describe("strangers", () => {
  it("get no byte for any request", () => {
    const { stage, outsider } = guarded();
    for (const method of ["INVITE", "OPTIONS", "REGISTER", "BYE", "CANCEL", "ACK", "FETCH"]) {
      outsider.request(method, method === "INVITE" ? { sdp: peerSdp() } : {});
    }
    outsider.send("OPTIONS broken\r\n\r\n");
    outsider.send("\r\n\r\n");
    stage.clock.advance(60_000);
    expect(stage.network.sent.filter(({ from }) => from.address === "10.0.0.1")).toEqual([]);
    expect(stage.us.agent.size).toBe(0);
    expect(stage.outputs).toEqual([]);
  });

  it("stay strangers when they know a call's Call-ID, but not its tag", () => {
    const { stage, outsider } = guarded();
    connect(stage);
    const before = stage.network.sent.length;
    for (const to of ["<sip:x@y>", "<sip:x@y>;tag=guess"]) {
      outsider.request("BYE", { callId: "call-1", to });
      outsider.request("OPTIONS", { callId: "call-1", to });
    }
    stage.clock.advance(2);
    expect(outsider.got).toEqual([]);
    expect(stage.network.sent.length).toBe(before + 4);
    expect(stage.legEvents().at(-1)?.type).toBe("leg-answered");
  });

  it("get no answer to what cannot be read either, though they know a Call-ID", () => {
    const { stage, outsider } = guarded();
    connect(stage);
    outsider.send(
      "OPTIONS sip:us@10.0.0.1 SIP/2.0\r\nVia: SIP/2.0/UDP 10.66.66.66;branch=z9hG4bKx\r\nFrom: <sip:a@b>;tag=1\r\n" +
        "To: <sip:us@x>\r\nCall-ID: call-1\r\nCSeq: 1 INVITE\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n",
    );
    stage.clock.advance(2);
    expect(outsider.got).toEqual([]);
  });

  it("are none when the call's own callee speaks from another address", () => {
    const { stage, outsider } = guarded();
    connect(stage);
    outsider.request("BYE", { ...inside(stage), cseq: 1 });
    stage.clock.advance(2);
    expect(outsider.statuses("BYE")).toEqual([200]);
    expect(stage.legEvents().at(-1)).toMatchObject({ type: "leg-ended", end: { by: "them" } });
  });

  it("are no longer those we call, during the call and for ten minutes after it", () => {
    const { stage } = guarded();
    const ask = () => {
      stage.peer.request("OPTIONS", { callId: `ping-${stage.clock.now()}` });
      stage.clock.advance(2);
      return stage.peer.responses("OPTIONS").length;
    };
    expect(ask()).toBe(0);
    const call = connect(stage);
    stage.clock.advance(3_600_000);
    expect(ask()).toBe(1);
    stage.us.order(() => call.hangUp());
    stage.clock.advance(599_000);
    expect(ask()).toBe(2);
    stage.clock.advance(700_000);
    expect(ask()).toBe(2);
  });
});

describe("a probe", () => {
  const probe = (stage: Stage) =>
    stage.us.order((agent) => agent.probe("trunk.test", 5060, stage.peer.address));
  const ends = (stage: Stage) =>
    stage.outputs.flatMap((output) => (output.type === "probe-ended" ? [output.result] : []));

  it("is one OPTIONS, and any final response ends it", () => {
    const stage = setStage();
    probe(stage);
    stage.clock.advance(2);
    const options = stage.peer.last("OPTIONS");
    expect(options.uri).toBe("sip:trunk.test");
    stage.peer.respond(options, 100);
    stage.peer.respond(options, 403);
    stage.clock.advance(2);
    expect(ends(stage)).toEqual([{ status: 403 }]);
  });

  it("without an answer ends as a timeout after 32 s", () => {
    const stage = setStage();
    probe(stage);
    stage.clock.advance(32_000);
    expect(ends(stage)).toEqual([{ failure: "timeout" }]);
  });
});

describe("the ACK of a refusal", () => {
  it("keeps the INVITE's branch, Route and credentials and takes the To of the response", () => {
    const invite = request("INVITE", "sip:x@y", [
      { name: "Via", value: "SIP/2.0/UDP a;branch=z9hG4bK1" },
      { name: "Max-Forwards", value: "70" },
      { name: "Route", value: "<sip:proxy;lr>" },
      { name: "From", value: "<sip:a@b>;tag=1" },
      { name: "To", value: "<sip:x@y>" },
      { name: "Call-ID", value: "c" },
      { name: "CSeq", value: "3 INVITE" },
      { name: "Proxy-Authorization", value: "Digest x" },
      { name: "Contact", value: "<sip:a@b>" },
    ]);
    const ack = ackOfRefusal(invite, responseTo(invite, 486, { toTag: "t" }));
    expect([ack.method, ack.uri]).toEqual(["ACK", "sip:x@y"]);
    expect(ack.headers.map(({ name, value }) => `${name}: ${value}`)).toEqual([
      "Via: SIP/2.0/UDP a;branch=z9hG4bK1",
      "Max-Forwards: 70",
      "Route: <sip:proxy;lr>",
      "From: <sip:a@b>;tag=1",
      "To: <sip:x@y>;tag=t",
      "Call-ID: c",
      "Proxy-Authorization: Digest x",
      "CSeq: 3 ACK",
    ]);
  });
});

describe("hostile bytes", () => {
  it("of any kind neither throw nor leave anything behind", () => {
    const stage = setStage();
    stage.peer.readsPastMalformed = true;
    dial(stage);
    const invite = stage.network.sent[0]!.text;
    const mutated = fc
      .array(fc.record({ at: fc.nat(invite.length), text: fc.string({ maxLength: 8, unit: "binary" }) }), {
        maxLength: 6,
      })
      .map((edits) =>
        edits.reduce((text, edit) => text.slice(0, edit.at) + edit.text + text.slice(edit.at + 3), invite),
      );
    fc.assert(
      fc.property(fc.oneof(mutated, fc.string({ unit: "binary" })), (text) => {
        stage.us.order((agent) =>
          agent.receive(new TextEncoder().encode(text), stage.peer.address, stage.clock.now()),
        );
      }),
      { numRuns: 2000 },
    );
    stage.clock.advance(600_000);
    expect(stage.us.agent.size).toBe(0);
    expect(stage.legEvents().filter((event) => event.type === "leg-ended")).toHaveLength(1);
  });

  it("of the torture messages leave the agent answering", () => {
    const silenced = [...readTortureMessages()].filter(([, bytes]) => {
      const stage = setStage();
      stage.peer.readsPastMalformed = true;
      stage.peer.send(bytes);
      stage.clock.advance(2);
      stage.peer.request("OPTIONS", { callId: "after" });
      stage.clock.advance(2);
      const answers = stage.peer.responses("OPTIONS");
      return !answers.some((answer) => header(answer, "Call-ID") === "after");
    });
    expect(silenced.map(([name]) => name)).toEqual([]);
  });
});

describe("peeking for the Call-ID", () => {
  const peek = (text: string) => peekCallId(new TextEncoder().encode(text));

  it.each([
    ["INVITE x SIP/2.0\r\nVia: y\r\nCall-ID: abc@d\r\n\r\n", "abc@d"],
    ["INVITE x SIP/2.0\ncall-id \t:  abc \n\n", "abc"],
    ["INVITE x SIP/2.0\r\ni: short\r\n\r\n", "short"],
    ["INVITE x SIP/2.0\r\nCall-IDs: no\r\ninfo: no\r\n\r\ni: body\r\n", undefined],
    ["Call-ID: not a header yet", undefined],
    ["", undefined],
  ])("in %j finds %j", (text, value) => {
    expect(peek(text)).toBe(value);
  });
});

describe("the source of a request", () => {
  it("is written into its topmost Via only", () => {
    const headers = [
      { name: "Via", value: "SIP/2.0/UDP a;branch=z9hG4bK1;rport, SIP/2.0/UDP b;branch=z9hG4bK2;rport" },
    ];
    const stamped = withSource(request("OPTIONS", "sip:x", headers), { address: "10.1.1.1", port: 77 });
    const vias = stamped.headers.map(({ value }) => value);
    expect(vias).toHaveLength(2);
    expect(vias[0]).toContain("received=10.1.1.1");
    expect(vias[0]).toContain("rport=77");
    expect(vias[1]).toBe("SIP/2.0/UDP b;branch=z9hG4bK2;rport");
  });
});
