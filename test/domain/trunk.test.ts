import { plainTrunkSip, trunkSipFault, type TrunkSip } from "#domain";
import { describe, expect, it } from "vitest";

describe("the SIP settings of a trunk", () => {
  it.each<Partial<TrunkSip>>([
    {},
    { transport: "tls", srtp: "required" },
    { domain: "sip.example.com", outboundProxy: "sip:edge.example.com:5060;lr", fromUser: "+34910000000" },
    { outboundProxy: "[2001:db8::1]:5060", displayName: 'Clínica Ñ "Sol"' },
    { headers: { "X-Account": "42", "P-Charge-Info": "<sip:1@x>" }, numberFormat: "00{e164}" },
  ])("%j can be used", (some) => expect(trunkSipFault({ ...plainTrunkSip, ...some })).toBeUndefined());

  it.each<[Partial<TrunkSip>, string]>([
    [{ srtp: "required" }, "SRTP needs --transport tls: over udp the keys could be read on the way"],
    [{ srtp: "required", transport: "tcp" }, "SRTP needs --transport tls"],
    [{ domain: "a b" }, "no domain name"],
    [{ domain: "a..b" }, "no domain name"],
    [{ outboundProxy: "x y" }, "no address of a proxy"],
    [{ fromUser: "me@there" }, "cannot stand in a SIP address"],
    [{ displayName: "a\r\nX: y" }, "display name"],
    [{ headers: { "X Y": "1" } }, "no name of a header"],
    [{ headers: { via: "1" } }, "not for you to set"],
    [{ headers: { "Call-ID": "1" } }, "not for you to set"],
    [{ headers: { "X-A": "1\r\nVia: 2" } }, "one line"],
    [{ numberFormat: "{x}" }, "no number format"],
  ])("%j is refused", (some, says) => expect(trunkSipFault({ ...plainTrunkSip, ...some })).toContain(says));
});
