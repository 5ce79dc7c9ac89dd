import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { CallIdentity } from "../../src/sip/call-identity.ts";
import { parseMessage } from "../../src/sip/parse.ts";
import { dial, header, setStage } from "./scripted-peer.ts";

function inviteWith(identity: CallIdentity) {
  const stage = setStage();
  const call = dial(stage, { identity });
  return { stage, call, invite: stage.peer.last("INVITE") };
}

describe("who calls", () => {
  it("may have a name, a user and a host of its own in From", () => {
    const { call, invite } = inviteWith({
      displayName: 'Ana "A" Ñ',
      fromUser: "+34900",
      fromHost: "pbx.example:5070",
    });
    expect(header(invite, "From")).toMatch(/^"Ana \\"A\\" Ñ" <sip:\+34900@pbx\.example:5070>;tag=\w+$/);
    expect(invite.uri).toBe("sip:+34600111222@trunk.test");
    expect(call.dialog.localUri).toBe("sip:+34900@pbx.example:5070");
  });

  it("goes into the identity headers as a URI, or as a user at our host", () => {
    const { invite } = inviteWith({
      displayName: "Ana",
      assertedIdentity: "+34911000000",
      preferredIdentity: "tel:+34911000001",
      remotePartyId: "sip:ana@pbx.example",
    });
    expect(header(invite, "P-Asserted-Identity")).toBe('"Ana" <sip:+34911000000@trunk.test>');
    expect(header(invite, "P-Preferred-Identity")).toBe('"Ana" <tel:+34911000001>');
    expect(header(invite, "Remote-Party-ID")).toBe(
      '"Ana" <sip:ana@pbx.example>;party=calling;screen=yes;privacy=off',
    );
    expect(header(invite, "Privacy")).toBeUndefined();
  });

  it("may be kept private, or said not to be", () => {
    const { invite } = inviteWith({ privacy: "id", remotePartyId: "100" });
    expect(header(invite, "Privacy")).toBe("id");
    expect(header(invite, "Remote-Party-ID")).toBe(
      "<sip:100@trunk.test>;party=calling;screen=yes;privacy=full",
    );
    expect(header(inviteWith({ privacy: "none" }).invite, "Privacy")).toBe("none");
  });

  it("passes a signed Identity and headers of the trunk's own on, also when the INVITE goes again", () => {
    const token = "eyJhbGciOiJFUzI1NiJ9.e30.c2ln;info=<https://cert.example/a.pem>;alg=ES256;ppt=shaken";
    const { stage, invite } = inviteWith({
      identityHeader: token,
      headers: { "X-Account": "42; a=b", Date: "Sat, 21 Nov 2026 09:00:00 GMT" },
    });
    expect(header(invite, "Identity")).toBe(token);
    expect(header(invite, "X-Account")).toBe("42; a=b");
    stage.peer.respond(invite, 422, { headers: [{ name: "Min-SE", value: "4000" }] });
    stage.clock.advance(3);
    expect(header(stage.peer.last("INVITE"), "Identity")).toBe(token);
    expect(header(stage.peer.last("INVITE"), "X-Account")).toBe("42; a=b");
  });

  it.each([
    ["a second From", { headers: { From: "<sip:a@b>" } }, "The header From is outdial's own"],
    ["one in compact form", { headers: { f: "<sip:a@b>" } }, "The header From is outdial's own"],
    ["one in other case", { headers: { "call-ID": "x" } }, "The header Call-ID is outdial's own"],
    ["a Route", { headers: { Route: "<sip:evil>" } }, "The header Route is outdial's own"],
    ["a length", { headers: { l: "0" } }, "The header Content-Length is outdial's own"],
    ["credentials", { headers: { Authorization: "x" } }, "The header Authorization is outdial's own"],
    ["a name with a colon", { headers: { "X:": "x" } }, '"X:" is no header name'],
    ["an empty name", { headers: { "": "x" } }, "is no header name"],
    ["a line break", { headers: { "X-A": "a\r\nVia: b" } }, "line break"],
    ["a line feed", { headers: { "X-A": "a\nb" } }, "line break"],
    ["a line break in Identity", { identityHeader: "a\r\nb" }, "line break"],
    ["too long a value", { headers: { "X-A": "a".repeat(5000) } }, "more than 4096 characters"],
    ["no identity", { assertedIdentity: "a b" }, "asserted identity is neither"],
    [
      "a URI that would end early",
      { preferredIdentity: "sip:a@b>, <sip:c@d" },
      "preferred identity is neither",
    ],
    ["no host", { fromHost: "a b" }, "no host name"],
    ["no user", { fromUser: "a@b" }, "no plain SIP user"],
  ])("with %s is refused before anything is sent", (_, identity, message) => {
    const stage = setStage();
    expect(() => dial(stage, { identity })).toThrow(message);
    expect(stage.network.sent).toEqual([]);
  });

  it("never breaks the INVITE, whatever the name", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (displayName) => {
        const stage = setStage();
        dial(stage, { identity: { displayName, assertedIdentity: "100" } });
        const sent = stage.network.sent[0]!.text;
        const result = parseMessage(new TextEncoder().encode(sent));
        expect(result.ok).toBe(true);
        expect(stage.peer.last("INVITE").headers.filter(({ name }) => name === "From")).toHaveLength(1);
        expect(header(stage.peer.last("INVITE"), "From")).toMatch(/<sip:\+34911222333@trunk\.test>;tag=\w+$/);
      }),
      { numRuns: 200 },
    );
  });
});
