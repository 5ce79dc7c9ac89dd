import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isUnicastAddress } from "../../src/sip/address.ts";
import {
  answerTo,
  offerOf,
  parseSdp,
  readAnswer,
  writeSdp,
  type LineMedia,
  type LocalMedia,
  type SessionDescription,
} from "../../src/sip/sdp.ts";

const local: LocalMedia = { address: "192.0.2.10", audioPort: 40_000, codecs: ["PCMU", "PCMA"] };
const withText: LocalMedia = { ...local, textPort: 40_010 };
const session = { id: 4242, version: 1 };

const lines = (...text: readonly string[]): string => `${text.join("\r\n")}\r\n`;
/** A description whose session part is ordinary. */
const sdp = (...media: readonly string[]): string =>
  lines("v=0", "o=- 1 1 IN IP4 198.51.100.7", "s=-", "c=IN IP4 198.51.100.7", "t=0 0", ...media);

function answer(text: string, side: LocalMedia = local): LineMedia | string {
  const result = readAnswer(side, text);
  return result.ok ? result.media : result.reason;
}

function respond(offer: string, side: LocalMedia = local) {
  const result = answerTo(offer, side, session);
  if (!result.ok) throw new Error(result.reason);
  return { ...result, lines: result.sdp.split("\r\n") };
}

const remote = { address: "198.51.100.7", port: 5000, rtcpPort: 5001 };

describe("parseSdp", () => {
  test("reads origin, name, connection, attributes and media", () => {
    const text = lines(
      "v=0",
      "o=jdoe 3724394400 3724394405 IN IP6 2001:db8::1",
      "s=Call to John",
      "i=ignored",
      "c=IN IP4 224.2.17.12/127",
      "b=AS:84",
      "t=2873397496 2873404696",
      "a=recvonly",
      "a=lang:es",
      "m=audio 49170/2 RTP/AVP 0 8",
      "c=IN IP6 2001:db8::2",
      "a=rtpmap:0 PCMU/8000",
      "a=inactive",
      "m=image 0 udptl t38",
    );
    expect(parseSdp(text)).toEqual({
      ok: true,
      value: {
        origin: {
          username: "jdoe",
          sessionId: "3724394400",
          sessionVersion: "3724394405",
          address: { family: "IP6", host: "2001:db8::1" },
        },
        name: "Call to John",
        connection: { family: "IP4", host: "224.2.17.12" },
        attributes: [{ name: "recvonly" }, { name: "lang", value: "es" }],
        media: [
          {
            kind: "audio",
            port: 49_170,
            protocol: "RTP/AVP",
            formats: ["0", "8"],
            connection: { family: "IP6", host: "2001:db8::2" },
            attributes: [{ name: "rtpmap", value: "0 PCMU/8000" }, { name: "inactive" }],
          },
          { kind: "image", port: 0, protocol: "udptl", formats: ["t38"], attributes: [] },
        ],
      },
    });
  });

  test.each<[string, string]>([
    ["LF line ends", "v=0\no=- 1 1 IN IP4 1.2.3.4\ns=-\nm=audio 1 RTP/AVP 0\n"],
    ["no line end at the end", "v=0\r\ns=-\r\nm=audio 1 RTP/AVP 0"],
    ["no origin, name or time", "v=0\r\nm=audio 1 RTP/AVP 0\r\n"],
    ["an empty name", "v=0\r\ns=\r\nm=audio 1 RTP/AVP 0\r\n"],
    ["unknown line types", "v=0\r\nX=1\r\nm=audio 1 RTP/AVP 0\r\n"],
    ["empty lines", "v=0\r\n\r\nm=audio 1 RTP/AVP 0\r\n\r\n"],
    ["more than one space", "v=0\r\nm=audio  1  RTP/AVP  0 \r\n"],
    ["an origin with odd numbers", "v=0\r\no=x -1 abc IN IP4 host.lan\r\nm=audio 1 RTP/AVP 0\r\n"],
  ])("tolerates %s", (_what, text) => {
    const result = parseSdp(text);
    expect(result).toMatchObject({ ok: true, value: { name: "-" } });
    expect(result.ok && result.value.media).toMatchObject([{ kind: "audio", port: 1, formats: ["0"] }]);
  });

  test.each<[string, string, number]>([
    ["nothing", "", 1],
    ["text", "garbage", 1],
    ["another version", "v=1\r\n", 1],
    ["a late version line", "s=-\r\nv=0\r\n", 1],
    ["a second version", "v=0\r\nv=2\r\n", 2],
    ["a line without type", "v=0\r\nhello\r\n", 2],
    ["a spaced type", "v=0\r\nm =video 3227 RTP/AVP 31\r\n", 2],
    ["a port above 65535", "v=0\r\ns=-\r\nm=audio 70000 RTP/AVP 0\r\n", 3],
    ["a negative port", "v=0\r\nm=audio -1 RTP/AVP 0\r\n", 2],
    ["no port", "v=0\r\nm=audio RTP/AVP 0\r\n", 2],
    ["an empty media line", "v=0\r\nm=\r\n", 2],
    ["a broken connection", "v=0\r\nc=IN IP4\r\n", 2],
    ["an unknown network", "v=0\r\nc=ATM NSAP 47.0\r\n", 2],
    ["an unknown address family", "v=0\r\nc=IN IP5 1.2.3.4\r\n", 2],
    ["a broken origin", "v=0\r\no=- 1 1\r\n", 2],
    ["a nameless attribute", "v=0\r\na=:x\r\n", 2],
  ])("refuses %s and says where", (_what, text, line) => {
    expect(parseSdp(text)).toMatchObject({ ok: false, problem: { where: "sdp", line } });
  });

  test("refuses more than 100 media", () => {
    const media = (count: number) => parseSdp(`v=0\r\n${"m=audio 1 RTP/AVP 0\r\n".repeat(count)}`).ok;
    expect([media(100), media(101)]).toEqual([true, false]);
  });

  test("refuses more than 32 KiB", () => {
    const filled = (length: number) => parseSdp("v=0\r\na=".padEnd(length, "x")).ok;
    expect([filled(32_768), filled(32_769)]).toEqual([true, false]);
  });

  test("undoes writeSdp", () => {
    const word = fc.stringMatching(/^[A-Za-z0-9][A-Za-z0-9.-]{0,10}$/);
    const address = fc.record({ family: fc.constantFrom("IP4" as const, "IP6" as const), host: word });
    const attribute = fc.record(
      { name: word, value: fc.stringMatching(/^[ -~]{0,20}$/) },
      { requiredKeys: ["name"] },
    );
    const media = fc.record(
      {
        kind: word,
        port: fc.integer({ min: 0, max: 65_535 }),
        protocol: word,
        formats: fc.array(word, { maxLength: 4 }),
        connection: address,
        attributes: fc.array(attribute, { maxLength: 4 }),
      },
      { requiredKeys: ["kind", "port", "protocol", "formats", "attributes"] },
    );
    const description = fc.record(
      {
        origin: fc.record({ username: word, sessionId: word, sessionVersion: word, address }),
        name: word,
        connection: address,
        attributes: fc.array(attribute, { maxLength: 4 }),
        media: fc.array(media, { maxLength: 4 }),
      },
      { requiredKeys: ["name", "attributes", "media"] },
    );
    fc.assert(
      fc.property(description, (value) => {
        expect(parseSdp(writeSdp(value as SessionDescription))).toEqual({ ok: true, value });
      }),
    );
  });
});

describe("offerOf", () => {
  test("offers both laws and telephone-event", () => {
    expect(offerOf(local, session)).toBe(
      lines(
        "v=0",
        "o=- 4242 1 IN IP4 192.0.2.10",
        "s=-",
        "c=IN IP4 192.0.2.10",
        "t=0 0",
        "m=audio 40000 RTP/AVP 0 8 101",
        "a=rtpmap:0 PCMU/8000",
        "a=rtpmap:8 PCMA/8000",
        "a=rtpmap:101 telephone-event/8000",
        "a=fmtp:101 0-15",
        "a=ptime:20",
        "a=sendrecv",
      ),
    );
  });

  test("with a text port, language, IPv6 address and user name", () => {
    const offer = offerOf(
      { ...withText, address: "2001:db8::a", codecs: ["PCMA"], language: "es" },
      { ...session, username: "outdial" },
    );
    expect(offer).toBe(
      lines(
        "v=0",
        "o=outdial 4242 1 IN IP6 2001:db8::a",
        "s=-",
        "c=IN IP6 2001:db8::a",
        "t=0 0",
        "a=lang:es",
        "m=audio 40000 RTP/AVP 8 101",
        "a=rtpmap:8 PCMA/8000",
        "a=rtpmap:101 telephone-event/8000",
        "a=fmtp:101 0-15",
        "a=ptime:20",
        "a=sendrecv",
        "m=text 40010 RTP/AVP 99 98",
        "a=rtpmap:98 t140/1000",
        "a=rtpmap:99 red/1000",
        "a=fmtp:99 98/98/98",
      ),
    );
  });
});

describe("readAnswer", () => {
  const pcmu = { codec: "PCMU", payloadType: 0 } as const;
  const plain = { audio: { remote, ...pcmu, direction: "sendrecv" } };

  test.each<[string, string, LineMedia]>([
    [
      "Asterisk",
      lines(
        "v=0",
        "o=- 2104733893 3 IN IP4 198.51.100.7",
        "s=Asterisk",
        "c=IN IP4 198.51.100.7",
        "t=0 0",
        "m=audio 18206 RTP/AVP 8 101",
        "a=rtpmap:8 PCMA/8000",
        "a=rtpmap:101 telephone-event/8000",
        "a=fmtp:101 0-16",
        "a=ptime:20",
        "a=maxptime:150",
        "a=sendrecv",
      ),
      {
        audio: {
          remote: { address: "198.51.100.7", port: 18_206, rtcpPort: 18_207 },
          codec: "PCMA",
          payloadType: 8,
          dtmfPayloadType: 101,
          direction: "sendrecv",
        },
      },
    ],
    [
      "FreeSWITCH",
      lines(
        "v=0",
        "o=FreeSWITCH 1763701000 1763701001 IN IP4 198.51.100.20",
        "s=FreeSWITCH",
        "c=IN IP4 198.51.100.20",
        "t=0 0",
        "m=audio 31120 RTP/AVP 0 96",
        "a=rtpmap:0 PCMU/8000",
        "a=rtpmap:96 telephone-event/8000",
        "a=fmtp:96 0-16",
        "a=silenceSupp:off - - - -",
        "a=ptime:20",
        "a=rtcp:31121 IN IP4 198.51.100.20",
      ),
      {
        audio: {
          remote: { address: "198.51.100.20", port: 31_120, rtcpPort: 31_121 },
          ...pcmu,
          dtmfPayloadType: 96,
          direction: "sendrecv",
        },
      },
    ],
    [
      "a carrier's media gateway (Twilio-like), connection in the media, several rtcp attributes",
      lines(
        "v=0",
        "o=root 1446338271 1446338271 IN IP4 172.21.4.4",
        "s=Media Gateway",
        "t=0 0",
        "m=audio 12878 RTP/AVP 0 101",
        "c=IN IP4 203.0.113.158",
        "a=rtpmap:0 PCMU/8000",
        "a=rtpmap:101 telephone-event/8000",
        "a=fmtp:101 0-16",
        "a=rtcp:12999",
        "a=rtcp-xr:voip-metrics",
        "a=ssrc:1 cname:x",
        "a=ptime:20",
        "a=maxptime:20",
        "a=sendrecv",
      ),
      {
        audio: {
          remote: { address: "203.0.113.158", port: 12_878, rtcpPort: 12_999 },
          ...pcmu,
          dtmfPayloadType: 101,
          direction: "sendrecv",
        },
      },
    ],
    ["a bare gateway: static payload without rtpmap", sdp("m=audio 5000 RTP/AVP 0"), plain as LineMedia],
    [
      "an IPv6 peer, direction in the session",
      lines(
        "v=0",
        "o=- 1 1 IN IP6 ::1",
        "s=-",
        "c=IN IP6 2001:db8::9",
        "t=0 0",
        "a=inactive",
        "m=audio 5000 RTP/AVP 0",
      ),
      { audio: { remote: { ...remote, address: "2001:db8::9" }, ...pcmu, direction: "inactive" } },
    ],
    [
      "other payload numbers than offered, small letters, a channel count",
      sdp("m=audio 5000 RTP/AVP 98 97", "a=rtpmap:97 TELEPHONE-event/8000", "a=rtpmap:98 pcma/8000/1"),
      { audio: { remote, codec: "PCMA", payloadType: 98, dtmfPayloadType: 97, direction: "sendrecv" } },
    ],
    [
      "codecs we do not have before one we do",
      sdp("m=audio 5000 RTP/AVP 9 18 3 0", "a=rtpmap:9 G722/8000", "a=rtpmap:18 G729/8000"),
      plain as LineMedia,
    ],
    [
      "wide-band telephone-event only: not ours",
      sdp("m=audio 5000 RTP/AVP 0 101", "a=rtpmap:101 telephone-event/16000"),
      plain as LineMedia,
    ],
    ["the feedback profile", sdp("m=audio 5000 RTP/AVPF 0"), plain as LineMedia],
    [
      "port 65535, with nothing above it for RTCP",
      sdp("m=audio 65535 RTP/AVP 0"),
      { audio: { remote: { ...remote, port: 65_535, rtcpPort: 65_535 }, ...pcmu, direction: "sendrecv" } },
    ],
  ])("reads %s", (_what, text, media) => {
    expect(answer(text)).toEqual(media);
  });

  test.each([
    ["a=sendrecv", "sendrecv"],
    ["a=sendonly", "recvonly"],
    ["a=recvonly", "sendonly"],
    ["a=inactive", "inactive"],
    ["a=x", "sendrecv"],
  ])("mirrors %s to %s", (attribute, direction) => {
    expect(answer(sdp("m=audio 5000 RTP/AVP 0", attribute))).toMatchObject({ audio: { direction } });
  });

  test.each([
    ["IP4 0.0.0.0", "a=sendrecv", "recvonly"],
    ["IP4 0.0.0.0", "a=recvonly", "inactive"],
    ["IP4 0.0.0.0", "a=inactive", "inactive"],
    ["IP6 ::", "a=sendrecv", "recvonly"],
  ])("reads the address %s with %s as hold: %s", (address, attribute, direction) => {
    expect(answer(sdp("m=audio 5000 RTP/AVP 0", `c=IN ${address}`, attribute))).toMatchObject({
      audio: { direction },
    });
  });

  test("the media's direction wins over the session's", () => {
    const text = lines(
      "v=0",
      "s=-",
      "c=IN IP4 198.51.100.7",
      "a=inactive",
      "m=audio 5000 RTP/AVP 0",
      "a=sendonly",
    );
    expect(answer(text)).toMatchObject({ audio: { direction: "recvonly" } });
  });

  test.each<[string, string, string]>([
    ["no audio", sdp("m=video 5000 RTP/AVP 31"), "there is no audio"],
    ["no media", sdp(), "there is no audio"],
    ["port 0", sdp("m=audio 0 RTP/AVP 0"), "the audio was refused (port 0)"],
    ["encryption", sdp("m=audio 5000 RTP/SAVP 0"), "the audio protocol RTP/SAVP is not RTP/AVP"],
    ["another codec", sdp("m=audio 5000 RTP/AVP 18"), "none of PCMU, PCMA is among the codecs"],
    [
      "a dynamic payload without rtpmap",
      sdp("m=audio 5000 RTP/AVP 96"),
      "none of PCMU, PCMA is among the codecs",
    ],
    [
      "a wide-band PCMU",
      sdp("m=audio 5000 RTP/AVP 96", "a=rtpmap:96 PCMU/16000"),
      "none of PCMU, PCMA is among the codecs",
    ],
    [
      "a stereo PCMU",
      sdp("m=audio 5000 RTP/AVP 96", "a=rtpmap:96 PCMU/8000/2"),
      "none of PCMU, PCMA is among the codecs",
    ],
    ["no connection", lines("v=0", "s=-", "m=audio 5000 RTP/AVP 0"), "the audio has no usable address"],
    [
      "a host name",
      sdp("m=audio 5000 RTP/AVP 0", "c=IN IP4 media.example.com"),
      "the audio has no usable address",
    ],
    [
      "a multicast address",
      sdp("m=audio 5000 RTP/AVP 0", "c=IN IP4 224.2.1.1/127"),
      "the audio has no usable address",
    ],
    ["no SDP at all", "sorry", 'The first line must be "v=0".'],
  ])("refuses %s", (_what, text, reason) => {
    expect(answer(text)).toBe(reason);
  });

  test("takes only codecs that were offered", () => {
    expect(answer(sdp("m=audio 5000 RTP/AVP 0"), { ...local, codecs: ["PCMA"] })).toBe(
      "none of PCMA is among the codecs",
    );
  });

  const text = [
    "m=text 6000 RTP/AVP 96 97",
    "a=rtpmap:97 T140/1000",
    "a=rtpmap:96 red/1000",
    "a=fmtp:96 97/97/97",
  ];

  test("reads text with redundancy", () => {
    expect(answer(sdp("m=audio 5000 RTP/AVP 0", ...text), withText)).toEqual({
      ...plain,
      text: { remote: { address: "198.51.100.7", port: 6000 }, payloadType: 97, redPayloadType: 96 },
    });
  });

  test.each<[string, readonly string[], LineMedia["text"]]>([
    [
      "without redundancy",
      ["m=text 6000 RTP/AVP 98", "a=rtpmap:98 t140/1000", "c=IN IP4 203.0.113.1"],
      { remote: { address: "203.0.113.1", port: 6000 }, payloadType: 98 },
    ],
    ["refused", ["m=text 0 RTP/AVP 98", "a=rtpmap:98 t140/1000"], undefined],
    ["without t140", ["m=text 6000 RTP/AVP 98", "a=rtpmap:98 red/1000"], undefined],
    ["at another clock", ["m=text 6000 RTP/AVP 98", "a=rtpmap:98 t140/8000"], undefined],
    ["encrypted", ["m=text 6000 RTP/SAVP 98", "a=rtpmap:98 t140/1000"], undefined],
  ])("reads text %s", (_what, media, expected) => {
    const result = answer(sdp("m=audio 5000 RTP/AVP 0", ...media), withText);
    expect(typeof result === "string" ? result : result.text).toEqual(expected);
  });

  test("leaves text aside that was not offered", () => {
    expect(answer(sdp("m=audio 5000 RTP/AVP 0", ...text))).toEqual(plain);
  });
});

describe("answerTo", () => {
  test("answers line for line with the first codec we have, in the offer's numbers", () => {
    const {
      lines: written,
      media,
      offered,
    } = respond(
      sdp(
        "m=audio 0 RTP/AVP 0",
        "m=audio 5000 RTP/SAVP 0",
        "m=audio 5000 RTP/AVP 9 8 0 13 120",
        "c=IN IP4 203.0.113.5",
        "a=rtpmap:120 telephone-event/8000",
        "a=fmtp:120 0-16",
        "m=video 5002 RTP/AVP 31 96",
        "a=rtpmap:96 H264/90000",
        "m=image 5004 udptl t38",
        "m=audio 5006 RTP/AVP 0",
        "m=application 5008 UDP/BFCP *",
      ),
    );
    expect(written.slice(1)).toEqual([
      "o=- 4242 1 IN IP4 192.0.2.10",
      "s=-",
      "c=IN IP4 192.0.2.10",
      "t=0 0",
      "m=audio 0 RTP/AVP 0",
      "m=audio 0 RTP/SAVP 0",
      "m=audio 40000 RTP/AVP 8 120",
      "a=rtpmap:8 PCMA/8000",
      "a=rtpmap:120 telephone-event/8000",
      "a=fmtp:120 0-15",
      "a=ptime:20",
      "a=sendrecv",
      "m=video 0 RTP/AVP 31 96",
      "m=image 0 udptl t38",
      "m=audio 0 RTP/AVP 0",
      "m=application 0 UDP/BFCP *",
      "",
    ]);
    expect(media).toEqual({
      audio: {
        remote: { address: "203.0.113.5", port: 5000, rtcpPort: 5001 },
        codec: "PCMA",
        payloadType: 8,
        dtmfPayloadType: 120,
        direction: "sendrecv",
      },
    });
    expect(offered).toEqual({ text: false, codecs: ["G722", "PCMA", "PCMU"] });
  });

  test("accepts text when there is a port for it, in the offer's numbers", () => {
    const offer = sdp(
      "a=lang:en",
      "m=audio 5000 RTP/AVP 0",
      "a=lang:es ",
      "m=text 6000 RTP/AVP 100 98",
      "a=rtpmap:98 t140/1000",
      "a=rtpmap:100 red/1000",
      "a=fmtp:100 98/98/98",
    );
    const { lines: written, media, offered } = respond(offer, { ...withText, language: "es" });
    expect(written.slice(-6)).toEqual([
      "a=sendrecv",
      "m=text 40010 RTP/AVP 100 98",
      "a=rtpmap:98 t140/1000",
      "a=rtpmap:100 red/1000",
      "a=fmtp:100 98/98/98",
      "",
    ]);
    expect(written).toContain("a=lang:es");
    expect(media.text).toEqual({
      remote: { address: "198.51.100.7", port: 6000 },
      payloadType: 98,
      redPayloadType: 100,
    });
    expect(offered).toEqual({ text: true, language: "es", codecs: ["PCMU"] });
    const refusing = respond(offer, local);
    expect(refusing.lines).toContain("m=text 0 RTP/AVP 100 98");
    expect(refusing.offered.text).toBe(true);
    expect(refusing.media).not.toHaveProperty("text");
  });

  test.each([
    ["a=sendonly", "IP4 198.51.100.7", "a=recvonly", "recvonly"],
    ["a=recvonly", "IP4 198.51.100.7", "a=sendonly", "sendonly"],
    ["a=inactive", "IP4 198.51.100.7", "a=inactive", "inactive"],
    ["a=sendrecv", "IP4 0.0.0.0", "a=recvonly", "recvonly"],
  ])("answers hold: %s at %s with %s", (attribute, address, written, direction) => {
    const result = respond(sdp("m=audio 5000 RTP/AVP 0", `c=IN ${address}`, attribute));
    expect(result.lines).toContain(written);
    expect(result.media.audio.direction).toBe(direction);
  });

  test("keeps the offer's protocol and writes a format where the offer has none", () => {
    const result = respond(sdp("m=audio 5000 RTP/AVPF 0", "m=video 0 RTP/AVP"));
    expect(result.lines).toContain("m=audio 40000 RTP/AVPF 0");
    expect(result.lines).toContain("m=video 0 RTP/AVP 0");
  });

  test("answers from an IPv6 address", () => {
    const { lines: written } = respond(sdp("m=audio 5000 RTP/AVP 0"), { ...local, address: "2001:db8::a" });
    expect(written).toContain("c=IN IP6 2001:db8::a");
  });

  test.each<[string, string, string]>([
    ["no audio", sdp("m=video 5000 RTP/AVP 31"), "there is no audio"],
    ["only other codecs", sdp("m=audio 5000 RTP/AVP 18"), "none of PCMU, PCMA is among the codecs"],
    ["only encrypted audio", sdp("m=audio 5000 RTP/SAVP 0"), "the audio protocol RTP/SAVP is not RTP/AVP"],
    ["no SDP", "", 'The first line must be "v=0".'],
  ])("refuses an offer with %s with 488", (_what, offer, reason) => {
    expect(answerTo(offer, local, session)).toEqual({ ok: false, status: 488, reason });
  });
});

describe("our offer, answered by ourselves", () => {
  const codecs = fc.constantFrom<LocalMedia["codecs"]>(
    ["PCMU"],
    ["PCMA"],
    ["PCMU", "PCMA"],
    ["PCMA", "PCMU"],
  );
  const side = fc.record(
    {
      address: fc.constantFrom("192.0.2.1", "2001:db8::1"),
      audioPort: fc.integer({ min: 1024, max: 65_534 }),
      textPort: fc.integer({ min: 1024, max: 65_534 }),
      codecs,
      language: fc.constantFrom("es", "pt-BR"),
    },
    { requiredKeys: ["address", "audioPort", "codecs"] },
  );

  test("gives both sides the same picture", () => {
    fc.assert(
      fc.property(side, side, (a, b) => {
        const caller = a as LocalMedia;
        const callee = b as LocalMedia;
        const answered = answerTo(offerOf(caller, session), callee, session);
        const common = caller.codecs.find((codec) => callee.codecs.includes(codec));
        expect(answered.ok).toBe(common !== undefined);
        if (!answered.ok) return;
        const read = readAnswer(caller, answered.sdp);
        expect(read).toMatchObject({
          ok: true,
          media: {
            audio: {
              codec: common,
              dtmfPayloadType: 101,
              remote: { address: callee.address, port: callee.audioPort },
            },
          },
        });
        expect(answered.media).toMatchObject({
          audio: {
            codec: common,
            dtmfPayloadType: 101,
            remote: { address: caller.address, port: caller.audioPort },
          },
        });
        expect(answered.offered.language).toBe(caller.language);
        const bothText = caller.textPort !== undefined && callee.textPort !== undefined;
        expect(answered.media.text !== undefined).toBe(bothText);
        expect(read.ok && read.media.text !== undefined).toBe(bothText);
      }),
    );
  });
});

test("no text makes the readers throw, and what is answered can be read again", () => {
  const pieces = fc.constantFrom(
    "v=0\r\n",
    "o=- 1 1 IN IP4 1.2.3.4\r\n",
    "c=IN IP4 1.2.3.4\r\n",
    "m=audio 1 RTP/AVP 0 8 101\r\n",
    "a=sendonly\r\n",
    "m=text 2 RTP/AVP 98\r\n",
    "a=rtpmap:98 t140/1000\r\n",
    "a=rtpmap:101 telephone-event/8000\r\n",
    "a=rtcp:x\r\n",
    "a=",
    "m=",
    "c=",
    ":",
    " ",
    "/",
    "0",
    "\r\n",
    "\n",
    "é",
    "a=lang:\r\n",
    "a=rtpmap:0 /\r\n",
  );
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(pieces, { maxLength: 24 }).map((parts) => `v=0\r\n${parts.join("")}`),
  );
  fc.assert(
    fc.property(text, (value) => {
      readAnswer(withText, value);
      const result = answerTo(value, withText, session);
      if (result.ok) {
        expect(parseSdp(result.sdp).ok).toBe(true);
      }
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ["192.0.2.1", true],
  ["0.0.0.0", true],
  ["::", true],
  ["::1", true],
  ["2001:db8::1", true],
  ["1:2:3:4:5:6:7:8", true],
  ["1:2:3:4:5:6:7::", true],
  ["::ffff:192.0.2.1", true],
  ["fe80::1", true],
  ["224.0.0.1", false],
  ["255.255.255.255", false],
  ["ff02::1", false],
  ["192.0.2", false],
  ["192.0.2.1.", false],
  ["192.0.2.256", false],
  ["192.0.2.0001", false],
  ["1.2.3.x", false],
  ["example.com", false],
  ["", false],
  [":", false],
  [":::", false],
  ["1::2::3", false],
  ["1:2:3:4:5:6:7", false],
  ["1:2:3:4:5:6:7:8:9", false],
  ["1:2:3:4:5:6:7::8", false],
  ["12345::", false],
  ["g::", false],
  ["::192.0.2.1:1", false],
  ["fe80::1%eth0", false],
])("the address %j is one host's: %j", (text, expected) => {
  expect(isUnicastAddress(text)).toBe(expected);
});
