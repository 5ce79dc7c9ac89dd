import { systemEntropy } from "#host";
import { describe, expect, test } from "vitest";
import { maskToken, mintToken, parseToken, tokenExpiresAt, tokenStatus } from "../../src/domain/token.ts";

describe("a token", () => {
  test("begins with 24 characters that hold no secret, then 32 octets in base64url", () => {
    const octets = Uint8Array.from({ length: 32 }, (_, i) => 255 - i);
    const { prefix, secret } = mintToken({ bytes: (length) => octets.slice(0, length) });
    expect(prefix).toMatch(/^outdial_[a-z2-9]{16}$/);
    expect(prefix).toHaveLength(24);
    expect(secret).toBe(Buffer.from(octets).toString("base64url"));
  });

  test("is never minted twice and reads back as it was minted", () => {
    const minted = Array.from({ length: 200 }, () => mintToken(systemEntropy));
    expect(new Set(minted.map(({ prefix }) => prefix)).size).toBe(200);
    for (const parts of minted) expect(parseToken(parts.prefix + parts.secret)).toEqual(parts);
  });

  test.each([
    "",
    "outdial_",
    `outdial_${"a".repeat(16)}${"b".repeat(42)}`,
    `outdial_${"a".repeat(16)}${"b".repeat(44)}`,
    `Outdial_${"a".repeat(16)}${"b".repeat(43)}`,
    `outdial_${"a".repeat(16)}${"b".repeat(42)}=`,
    `outdial_${"a".repeat(16)}${"b".repeat(43)}\n`,
  ])("%j is none", (text) => {
    expect(parseToken(text)).toBeUndefined();
  });

  test("shows as its public part and a mask", () => {
    const { prefix, secret } = mintToken(systemEntropy);
    expect(maskToken(prefix)).toBe(`${prefix}********`);
    expect(maskToken(prefix)).not.toContain(secret.slice(0, 4));
  });

  test.each([
    ["30d", "2026-03-02T12:00:00.000Z"],
    ["90d", "2026-05-01T12:00:00.000Z"],
    ["6m", "2026-07-31T12:00:00.000Z"],
    ["1y", "2027-01-31T12:00:00.000Z"],
    ["never", "2030-01-31T12:00:00.000Z"],
  ] as const)("made for %s ends %s", (expiry, end) => {
    const now = Date.parse("2026-01-31T12:00:00Z");
    expect(new Date(tokenExpiresAt(expiry, now)).toISOString()).toBe(end);
  });

  test("is Active before its end and Expired from then on", () => {
    expect([tokenStatus(10, 9), tokenStatus(10, 10)]).toEqual(["Active", "Expired"]);
  });
});
