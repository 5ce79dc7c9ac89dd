import * as fc from "fast-check";
import { describe, expect, test } from "vitest";
import { srtpCrypto } from "../../src/lines/srtp-crypto.ts";
import { createRtpHeader, writeRtpHeader } from "../../src/media/rtp.ts";
import { createGuard, longestGuardedPacket } from "../../src/media/srtp-guard.ts";
import { deriveSessionKeys, srtpKeyBytes, srtpTagBytes, type SrtpSuite } from "../../src/media/srtp-suite.ts";
import { estimateIndex, ReplayWindow } from "../../src/media/srtp-window.ts";
import { SrtpReceiver, SrtpSender } from "../../src/media/srtp.ts";

const suites = ["AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_32", "AEAD_AES_128_GCM"] as const;
const octets = (hex: string): Uint8Array => Uint8Array.from(Buffer.from(hex.replaceAll(" ", ""), "hex"));
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString("hex");
const keyOf = (suite: SrtpSuite, octet = 7) => ({
  suite,
  key: new Uint8Array(srtpKeyBytes(suite)).fill(octet),
});

/** An RTP packet whose payload tells its number. */
function rtp(sequence: number, fields: { ssrc?: number; length?: number } = {}): Uint8Array {
  const packet = new Uint8Array(12 + (fields.length ?? 160)).fill(sequence & 0xff);
  writeRtpHeader(packet, {
    ...createRtpHeader(),
    sequence: sequence & 0xffff,
    ssrc: fields.ssrc ?? 0xcafebabe,
  });
  return packet;
}

function report(ssrc = 0xcafebabe): Uint8Array {
  const packet = new Uint8Array(28).fill(0x5a);
  packet.set([0x81, 200, 0, 6]);
  new DataView(packet.buffer).setUint32(4, ssrc);
  return packet;
}

function sealed(sender: SrtpSender, packet: Uint8Array): Uint8Array {
  const room = new Uint8Array(packet.length + srtpTagBytes);
  room.set(packet);
  return room.slice(0, sender.protect(room, packet.length));
}

function pair(suite: SrtpSuite): { sender: SrtpSender; receiver: SrtpReceiver } {
  return {
    sender: new SrtpSender(keyOf(suite), srtpCrypto),
    receiver: new SrtpReceiver(keyOf(suite), srtpCrypto),
  };
}

describe("the vectors of the standards", () => {
  test("AES-CM gives the keystream of RFC 3711 B.2", () => {
    const keys = {
      cipher: octets("2B7E151628AED2A6ABF7158809CF4F3C"),
      salt: octets("F0F1F2F3F4F5F6F7F8F9FAFBFCFD"),
      auth: new Uint8Array(20),
    };
    const guard = createGuard("AES_CM_128_HMAC_SHA1_80", "rtp", keys, srtpCrypto);
    const packet = new Uint8Array(48 + 10);
    guard.seal(packet, { from: 0, to: 48, ssrc: 0, index: 0 }, new Uint8Array(4), 48);
    expect(hex(packet.subarray(0, 48)).toUpperCase()).toBe(
      "E03EAD0935C95E80E166B16DD92B4EB4D23513162B02D0F72A43A2FE4A5F97AB41E95B3BB0A2E8DD477901E4FCA894C0",
    );
  });

  test("the session keys are those of RFC 3711 B.3", () => {
    const key = octets("E1F97A0D3E018BE0D64FA32C06DE4139 0EC675AD498AFEEBB6960B3AABE6");
    const keys = deriveSessionKeys({ suite: "AES_CM_128_HMAC_SHA1_80", key }, "rtp", srtpCrypto);
    expect(hex(keys.cipher).toUpperCase()).toBe("C61E7A93744F39EE10734AFE3FF7A087");
    expect(hex(keys.salt).toUpperCase()).toBe("30CBBC08863D8C85D49DB34A9AE1");
    expect(hex(keys.auth).toUpperCase()).toBe("CEBE321F6FF7716B6FD4AB49AF256A156D38BAA4");
  });

  const session = {
    cipher: octets("000102030405060708090a0b0c0d0e0f"),
    salt: octets("517569642070726f2071756f"),
    auth: new Uint8Array(20),
  };

  test("AES-GCM seals and opens the packet of RFC 7714 16.1", () => {
    const plain =
      "8040f17b8041f8d35501a0b247616c6c696120657374206f6d6e69732064697669736120696e207061727465732074726573";
    const whole =
      "8040f17b8041f8d35501a0b2f24de3a3fb34de6cacba861c9d7e4bcabe633bd50d294e6f42a5f47a51c7d19b36de3adf8833899d7f27beb16a9152cf765ee4390cce";
    const guard = createGuard("AEAD_AES_128_GCM", "rtp", session, srtpCrypto);
    const packet = octets(plain + "00".repeat(16));
    const span = { from: 12, to: 50, ssrc: 0x5501a0b2, index: 0xf17b };
    guard.seal(packet, span, new Uint8Array(4), 50);
    expect(hex(packet)).toBe(whole);
    expect(guard.open(packet, span, new Uint8Array(4), 50)).toBe(true);
    expect(hex(packet.subarray(0, 50))).toBe(plain);
  });

  test("AES-GCM seals the report of RFC 7714 17.1", () => {
    const plain =
      "81c8000d4d6172734e5450314e545032525450200000042a0000e9304c756e61deadbeefdeadbeefdeadbeefdeadbeefdeadbeef";
    const guard = createGuard("AEAD_AES_128_GCM", "rtcp", session, srtpCrypto);
    const packet = octets(plain + "00".repeat(16));
    guard.seal(packet, { from: 8, to: 52, ssrc: 0x4d617273, index: 0x5d4 }, octets("800005d4"), 52);
    expect(hex(packet)).toBe(
      "81c8000d4d61727363e94885dcdab67ca727d7662f6b7e997ff5c0f76c06f32dc676a5f1730d6fda4ce09b4686303ded0bb9275bc84aa45896cf4d2fc5abf87245d9eade",
    );
  });

  test.each([
    [
      "AES_CM_128_HMAC_SHA1_80",
      "e1f97a0d3e018be0d64fa32c06de41390ec675ad498afeebb6960b3aabe6",
      "4e55dc4ce79978d88ca4d215949d2402b78d6acc99ea179b8dbb",
      "7128035be487b9bdbef89041f977a5a880000001993e08cd54d6c1230798",
    ],
    [
      "AEAD_AES_128_GCM",
      "000102030405060708090a0b0c0d0e0fa0a1a2a3a4a5a6a7a8a9aaab",
      "c5002ede04cfdd2eb91159e0880aa06ed2976826f796b201df3131a127e8a392",
      "c98b8b5df0392a55852b6c21ac8e7025c52c6fbea2b3b446ea31123ba88ce61e80000001",
    ],
  ] as const)("whole packets are those of libsrtp (%s)", (suite, master, rtpTail, rtcpTail) => {
    const sender = new SrtpSender({ suite, key: octets(master) }, srtpCrypto);
    const head = "800f1234decafbadcafebabe";
    expect(hex(sealed(sender, octets(head + "ab".repeat(16))))).toBe(head + rtpTail);
    const reportHead = "81c8000bcafebabe";
    expect(hex(sender.protectRtcp(octets(reportHead + "ab".repeat(16))))).toBe(reportHead + rtcpTail);
  });
});

describe.each(suites)("%s", (suite) => {
  test("what one seals the other opens, whatever it is", () => {
    const { sender, receiver } = pair(suite);
    let sequence = 0;
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 0, maxLength: 1400 }), (payload) => {
        const packet = new Uint8Array(12 + payload.length);
        packet.set(rtp(sequence++, { length: 0 }));
        packet.set(payload, 12);
        const whole = sealed(sender, packet);
        expect(whole.subarray(0, 12)).toEqual(packet.subarray(0, 12));
        expect(receiver.unprotect(whole)).toEqual(packet);
      }),
    );
  });

  test("not one bit can be changed, and the forgery does not harm the true packet", () => {
    const { sender, receiver } = pair(suite);
    for (let sequence = 0; sequence < 20; sequence++) {
      const packet = rtp(sequence, { length: 20 });
      const whole = sealed(sender, packet);
      for (let bit = 8 * (sequence % 8); bit < 8 * whole.length; bit += 13) {
        const forged = whole.slice();
        forged[bit >> 3]! ^= 1 << (bit & 7);
        expect(receiver.unprotect(forged)).toBeUndefined();
      }
      expect(receiver.unprotect(whole)).toEqual(packet);
    }
  });

  test("another key opens nothing", () => {
    const { sender } = pair(suite);
    const stranger = new SrtpReceiver(keyOf(suite, 8), srtpCrypto);
    expect(stranger.unprotect(sealed(sender, rtp(1)))).toBeUndefined();
    expect(stranger.unprotectRtcp(sender.protectRtcp(report()))).toBeUndefined();
  });

  test("a packet is opened once", () => {
    const { sender, receiver } = pair(suite);
    const packets = Array.from({ length: 10 }, (_, i) => sealed(sender, rtp(i)));
    for (const packet of packets) expect(receiver.unprotect(packet)).toBeDefined();
    for (const packet of packets) expect(receiver.unprotect(packet)).toBeUndefined();
  });

  test("sequence numbers may roll over, in order or not", () => {
    const { sender, receiver } = pair(suite);
    const packets = new Map(
      Array.from({ length: 12 }, (_, i) => [65_530 + i, sealed(sender, rtp(65_530 + i))] as const),
    );
    for (const n of [65_530, 65_531, 65_537, 65_534, 65_536, 65_535, 65_541, 65_533])
      expect(receiver.unprotect(packets.get(n)!)).toEqual(rtp(n));
    expect(receiver.unprotect(packets.get(65_535)!)).toBeUndefined();
  });

  test("the roll-over is part of what is authenticated", () => {
    const { sender, receiver } = pair(suite);
    const early = sealed(sender, rtp(5));
    for (const sequence of [20_000, 40_000, 60_000, 70_000]) sealed(sender, rtp(sequence));
    const late = new SrtpReceiver(keyOf(suite), srtpCrypto);
    expect(late.unprotect(sealed(sender, rtp(70_001)))).toBeUndefined(); // it cannot know of the roll-over
    expect(receiver.unprotect(early)).toBeDefined();
  });

  test("reports are sealed, opened once, and never taken in the clear", () => {
    const { sender, receiver } = pair(suite);
    const first = sender.protectRtcp(report());
    const second = sender.protectRtcp(report());
    expect(first.subarray(8, 28)).not.toEqual(second.subarray(8, 28));
    expect(receiver.unprotectRtcp(second)).toEqual(report());
    expect(receiver.unprotectRtcp(first)).toEqual(report());
    expect(receiver.unprotectRtcp(first)).toBeUndefined();
    expect(receiver.unprotectRtcp(report())).toBeUndefined();
    const third = sender.protectRtcp(report());
    for (let at = 0; at < third.length; at++) {
      const forged = third.slice();
      forged[at]! ^= 0x80;
      expect(receiver.unprotectRtcp(forged)).toBeUndefined();
    }
    expect(receiver.unprotectRtcp(third)).toEqual(report());
  });

  test("garbage is refused without a word", () => {
    const { receiver } = pair(suite);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (packet) => {
        expect(receiver.unprotect(packet)).toBeUndefined();
        expect(receiver.unprotectRtcp(packet)).toBeUndefined();
        const headed = Uint8Array.of(0x90, 0, ...packet);
        expect(receiver.unprotect(headed)).toBeUndefined();
      }),
      { examples: [[new Uint8Array(12)], [new Uint8Array(28)]] },
    );
    for (const size of [longestGuardedPacket, longestGuardedPacket + 1, 65_507]) {
      const huge = new Uint8Array(size).fill(0x80);
      expect(receiver.unprotect(huge)).toBeUndefined();
      expect(receiver.unprotectRtcp(huge)).toBeUndefined();
    }
  });

  test("contributing sources and header extensions stay readable", () => {
    const { sender, receiver } = pair(suite);
    const packet = octets(
      "b2 00 0001 00000000 00000009  11111111 22222222  bede 0001 aabbccdd  0102030405 00 02",
    );
    const whole = sealed(sender, packet);
    expect(whole.subarray(0, 28)).toEqual(packet.subarray(0, 28));
    expect(whole.subarray(28, 35)).not.toEqual(packet.subarray(28));
    expect(receiver.unprotect(whole)).toEqual(packet);
  });
});

describe("a sender", () => {
  test("never uses an index twice", () => {
    const { sender } = pair("AEAD_AES_128_GCM");
    sealed(sender, rtp(100));
    expect(() => sealed(sender, rtp(100))).toThrow("used twice");
    expect(() => sealed(sender, rtp(99))).toThrow("used twice");
  });

  test.each(suites)("wants key material of the right length (%s)", (suite) => {
    const key = new Uint8Array(srtpKeyBytes(suite) - 1);
    expect(() => new SrtpSender({ suite, key }, srtpCrypto)).toThrow("wrong length");
    expect(() => new SrtpReceiver({ suite, key }, srtpCrypto)).toThrow("wrong length");
  });
});

describe("a receiver", () => {
  test("keeps sources apart, up to 64 of them", () => {
    const { receiver } = pair("AES_CM_128_HMAC_SHA1_80");
    for (let ssrc = 1; ssrc <= 65; ssrc++) {
      const sender = new SrtpSender(keyOf("AES_CM_128_HMAC_SHA1_80"), srtpCrypto);
      const opened = receiver.unprotect(sealed(sender, rtp(7, { ssrc })));
      expect([ssrc, opened !== undefined]).toEqual([ssrc, ssrc <= 64]);
    }
  });

  test("forgeries of strangers use up no source", () => {
    const { sender, receiver } = pair("AEAD_AES_128_GCM");
    for (let ssrc = 1; ssrc <= 200; ssrc++) expect(receiver.unprotect(rtp(1, { ssrc }))).toBeUndefined();
    expect(receiver.unprotect(sealed(sender, rtp(1)))).toBeDefined();
  });
});

describe("the window of what was seen", () => {
  test("reaches 64 packets back", () => {
    const window = new ReplayWindow();
    window.note(1000);
    expect([1000, 999, 937, 936, 1001].map((index) => window.isFresh(index))).toEqual([
      false,
      true,
      true,
      false,
      true,
    ]);
    window.note(937);
    expect(window.isFresh(937)).toBe(false);
    expect(window.highest).toBe(1000);
  });

  test("lets each index in at most once, and any within reach at least once", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 200 }), { maxLength: 300 }), (indices) => {
        const window = new ReplayWindow();
        const seen = new Set<number>();
        let highest = -1;
        for (const index of indices) {
          expect(window.isFresh(index)).toBe(index > highest - 64 && !seen.has(index));
          if (!window.isFresh(index)) continue;
          window.note(index);
          seen.add(index);
          highest = Math.max(highest, index);
        }
      }),
    );
  });

  test("an index is the one closest to the highest", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 2 ** 47 }),
        fc.integer({ min: -32_768, max: 32_767 }),
        (highest, step) => {
          const index = highest + step;
          fc.pre(index >= 0 && Math.abs(step) < 32_768);
          expect(estimateIndex(index % 65_536, highest)).toBe(index);
        },
      ),
    );
    expect(estimateIndex(65_535, 3)).toBe(-1);
    expect(estimateIndex(40_000, -1)).toBe(40_000);
  });
});
