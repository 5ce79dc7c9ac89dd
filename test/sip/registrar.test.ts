import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { Registration, SipAddress } from "#sip";
import { headerValues } from "../../src/sip/header.ts";
import type { SipHeader, SipRequest } from "../../src/sip/message.ts";
import { header, ScriptedPeer, setStage, type Stage } from "./scripted-peer.ts";

const md5 = (text: string) => createHash("md5").update(text).digest("hex");
const serviceRoute = { name: "Service-Route", value: "<sip:edge.test;lr>" };

/** An account registering at the scripted peer, which every search for a server finds. */
function register(options: { expiresS?: number; guarded?: boolean; others?: readonly SipAddress[] } = {}) {
  const stage = setStage(options.guarded === true ? { trusts: () => false } : {});
  stage.peer.readsPastMalformed = true; // Keep-alives come, too.
  const servers = [stage.peer.address, ...(options.others ?? [])];
  let asked = 0;
  const registration = stage.us.order((agent) =>
    agent.register({
      domain: "trunk.test",
      user: "alice",
      credentials: { username: "alice", password: "pw" },
      expiresS: options.expiresS ?? 600,
    }),
  );
  settle();
  return { stage, registration, settle, states, register: () => stage.peer.last("REGISTER") };

  /** Answers every search for a server, until nothing more happens. */
  function settle(): void {
    for (let at = 0; at < stage.outputs.length; at++) {
      const output = stage.outputs[at]!;
      if (output.type !== "registrar-wanted") continue;
      stage.outputs.splice(at--, 1);
      asked = output.another ? asked + 1 : 0;
      const server = servers[asked];
      stage.us.order(() =>
        server === undefined ? registration.unreachable("Nobody there.") : registration.ask(server),
      );
    }
    stage.clock.advance(2);
    if (stage.outputs.some(({ type }) => type === "registrar-wanted")) settle();
  }

  function states(): readonly string[] {
    return stage.outputs.flatMap((output) =>
      output.type === "registration-changed" ? [output.state.type] : [],
    );
  }
}

function answer(
  stage: Stage,
  request: SipRequest,
  status: number,
  parts: { readonly more?: readonly SipHeader[]; readonly via?: string; readonly bare?: boolean } = {},
): void {
  const contacts =
    parts.bare === true ? [] : headerValues(request, "Contact").map((value) => ({ name: "Contact", value }));
  const headers = request.headers.map(({ name, value }) => ({
    name,
    value: name === "Via" && parts.via !== undefined ? value.replace("rport", parts.via) : value,
  }));
  stage.peer.respond({ ...request, headers }, status, {
    headers: [...(status < 300 ? contacts : []), ...(parts.more ?? [])],
  });
  stage.clock.advance(2);
}

const challenge = (nonce: string, more = "") => ({
  more: [
    { name: "WWW-Authenticate", value: `Digest realm="trunk.test", nonce="${nonce}", qop="auth"${more}` },
  ],
});

describe("a REGISTER", () => {
  it("names account, Contact and time", () => {
    const { register: sent } = register();
    expect(sent().uri).toBe("sip:trunk.test");
    expect(header(sent(), "To")).toBe("<sip:alice@trunk.test>");
    expect(header(sent(), "From")).toMatch(/^<sip:alice@trunk\.test>;tag=/);
    expect(header(sent(), "Contact")).toBe("<sip:alice@10.0.0.1:5060>;expires=600");
    expect(header(sent(), "Expires")).toBe("600");
    expect(header(sent(), "Supported")).toBe("path");
    expect(header(sent(), "CSeq")).toBe("1 REGISTER");
  });

  it("answers a challenge, and uses it again for the renewal with the next count", () => {
    const { stage, register: sent, settle } = register();
    answer(stage, sent(), 401, challenge("n1"));
    const authorized = header(sent(), "Authorization") ?? "";
    const part = (text: string, name: string) => new RegExp(`\\b${name}="?([^",]+)`).exec(text)?.[1] ?? "";
    expect(part(authorized, "response")).toBe(
      md5(
        `${md5("alice:trunk.test:pw")}:n1:00000001:${part(authorized, "cnonce")}:auth:${md5("REGISTER:sip:trunk.test")}`,
      ),
    );
    expect(header(sent(), "CSeq")).toBe("2 REGISTER");
    answer(stage, sent(), 200);
    stage.clock.advance(540_000);
    settle();
    expect(header(sent(), "CSeq")).toBe("3 REGISTER");
    expect(part(header(sent(), "Authorization") ?? "", "nc")).toBe("00000002");
    const before = header(sent(), "Call-ID");
    answer(stage, sent(), 401, challenge("n2", ", stale=true"));
    expect(part(header(sent(), "Authorization") ?? "", "nonce")).toBe("n2");
    expect(header(sent(), "Call-ID")).toBe(before);
    answer(stage, sent(), 200);
    expect(stage.peer.requests("REGISTER")).toHaveLength(4);
  });

  it("is not repeated when the credentials are refused: the state says so", () => {
    const { stage, register: sent, states, registration } = register();
    answer(stage, sent(), 401, challenge("n1"));
    answer(stage, sent(), 401, challenge("n2"));
    stage.clock.advance(3_600_000);
    expect(stage.peer.requests("REGISTER")).toHaveLength(2);
    expect(states()).toEqual(["registering", "refused"]);
    expect(registration.state).toMatchObject({ status: 401 });
  });

  it("asks for the shortest time the registrar takes", () => {
    const { stage, register: sent, settle } = register({ expiresS: 30 });
    answer(stage, sent(), 423, { more: [{ name: "Min-Expires", value: "60" }] });
    settle();
    expect(header(sent(), "Expires")).toBe("60");
    expect(header(sent(), "Contact")).toContain("expires=60");
  });

  it("believes the time at its own Contact, then the Expires header, then what it asked for", () => {
    const granted = (contact: string | undefined, expires: string | undefined): number => {
      const { stage, register: sent, registration } = register();
      const at = stage.clock.now();
      answer(stage, sent(), 200, {
        bare: true,
        more: [
          ...(contact === undefined ? [] : [{ name: "Contact", value: contact }]),
          ...(expires === undefined ? [] : [{ name: "Expires", value: expires }]),
        ],
      });
      const { state } = registration;
      return state.type === "registered" ? Math.round((state.expiresAt - at) / 1_000) : -1;
    };
    const ours = "<sip:alice@10.0.0.1:5060>";
    expect(granted(`<sip:alice@10.9.9.9:5060>;expires=3600, ${ours};expires=90`, "1800")).toBe(90);
    expect(granted(ours, "1800")).toBe(1_800);
    expect(granted(undefined, "120")).toBe(120);
  });

  it("goes to the next server when one fails, and waits when none is left", () => {
    const other = { address: "10.0.0.3", port: 5060 };
    const { stage, register: sent, settle, states, registration } = register({ others: [other] });
    const second = new ScriptedPeer(stage.network, other);
    answer(stage, sent(), 503, { more: [{ name: "Retry-After", value: "300" }] });
    settle();
    second.respond(second.last("REGISTER"), 503, { headers: [{ name: "Retry-After", value: "90" }] });
    stage.clock.advance(2);
    const failedAt = stage.clock.now();
    settle();
    expect(states()).toEqual(["registering", "waiting"]);
    const { state } = registration;
    expect(state.type === "waiting" && Math.round((state.until - failedAt) / 1_000)).toBe(90);
    expect(state).toMatchObject({ reason: "The registrar answered 503 Service Unavailable." });
  });

  it("says in a sentence when there is nobody to ask", () => {
    const { stage, settle, registration } = register();
    stage.clock.advance(32_000);
    settle();
    expect(registration.state).toMatchObject({ type: "waiting", reason: "The registrar does not answer." });
  });
});

describe("a registration", () => {
  it("learns its address from the first answer", () => {
    const { stage, register: sent, registration } = register();
    answer(stage, sent(), 401, { ...challenge("n1"), via: "rport=40000;received=198.51.100.7" });
    expect(header(sent(), "Contact")).toBe("<sip:alice@198.51.100.7:40000>;expires=600");
    answer(stage, sent(), 200, { via: "rport=40000;received=198.51.100.7" });
    expect(registration.state.type).toBe("registered");
    expect(stage.peer.requests("REGISTER")).toHaveLength(2);
  });

  it("is made anew when the answer shows another address, and takes the old one back", () => {
    const { stage, register: sent, settle } = register();
    answer(stage, sent(), 200, { via: "rport=40000;received=198.51.100.7" });
    settle();
    expect(headerValues(sent(), "Contact")).toEqual([
      "<sip:alice@198.51.100.7:40000>;expires=600",
      "<sip:alice@10.0.0.1:5060>;expires=0",
    ]);
  });

  it("does not run after an address that changes with every answer", () => {
    const { stage, register: sent, settle } = register();
    for (let n = 0; n < 6; n++) {
      answer(stage, sent(), 200, { via: `rport=${40_000 + n};received=198.51.100.7` });
      settle();
    }
    expect(stage.peer.requests("REGISTER").length).toBeLessThanOrEqual(3);
  });

  it("gives the route for calls only while it holds", () => {
    const { stage, register: sent, registration } = register();
    answer(stage, sent(), 200, { more: [serviceRoute, { name: "Path", value: "<sip:p.test;lr>" }] });
    expect(registration.serviceRoute).toEqual(["<sip:edge.test;lr>"]);
    stage.us.order(() => registration.close());
    stage.clock.advance(2);
    answer(stage, sent(), 200);
    expect(stage.outputs.at(-1)?.type).toBe("registration-closed");
  });

  it("lets the registrar's requests in, and those of others not", () => {
    const { stage, register: sent } = register({ guarded: true });
    stage.peer.request("OPTIONS", { callId: "early" });
    stage.clock.advance(2);
    answer(stage, sent(), 200);
    stage.clock.advance(300_000);
    stage.peer.request("OPTIONS", { callId: "trusted" });
    const stranger = new ScriptedPeer(stage.network, { address: "10.6.6.6", port: 5060 });
    stranger.request("OPTIONS", { callId: "stranger" });
    stage.clock.advance(2);
    const answered = stage.peer.responses("OPTIONS").map((response) => header(response, "Call-ID"));
    expect(answered).toEqual(["trusted"]);
    expect(stranger.got).toEqual([]);
  });

  it("keeps the way back open by line ends, until it ends", () => {
    const { stage, register: sent, registration } = register();
    answer(stage, sent(), 200);
    stage.clock.advance(100_000);
    const pings = () => stage.network.sent.filter(({ text }) => text === "\r\n\r\n").length;
    expect(pings()).toBe(3);
    stage.us.order(() => registration.close());
    stage.clock.advance(2);
    answer(stage, sent(), 200);
    stage.clock.advance(100_000);
    expect(pings()).toBe(3);
  });

  it("is taken back with the Contact it was made with", () => {
    const { stage, register: sent, registration } = register();
    answer(stage, sent(), 401, challenge("n1"));
    answer(stage, sent(), 200);
    stage.us.order(() => registration.close());
    stage.clock.advance(2);
    expect(headerValues(sent(), "Contact")).toEqual(["<sip:alice@10.0.0.1:5060>;expires=0"]);
    expect(header(sent(), "Expires")).toBe("0");
    answer(stage, sent(), 401, challenge("n2"));
    answer(stage, sent(), 200, { bare: true });
    expect(stage.outputs.at(-1)?.type).toBe("registration-closed");
    expect(stage.us.agent.waiting).toBe(0);
  });

  it.each(["a b", "a@b", "a\r\nX: y", "", "a>b"])(
    "of the user %j is refused before anything is sent",
    (user) => {
      const stage = setStage();
      const order = (): Registration =>
        stage.us.order((agent) => agent.register({ domain: "trunk.test", user, expiresS: 60 }));
      expect(order).toThrow("no plain SIP user");
    },
  );
});
