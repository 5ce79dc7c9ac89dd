import { systemEntropy } from "#host";
import { expect, test } from "vitest";
import { newSrtpKeys } from "../../src/daemon/srtp-keys.ts";

test("each call has keys of its own, as long as their suites want them", () => {
  const [one, two] = [newSrtpKeys(systemEntropy), newSrtpKeys(systemEntropy)];
  expect(one.map(({ suite, key }) => [suite, Buffer.from(key, "base64").length])).toEqual([
    ["AEAD_AES_128_GCM", 28],
    ["AES_CM_128_HMAC_SHA1_80", 30],
    ["AES_CM_128_HMAC_SHA1_32", 30],
  ]);
  expect(new Set([...one, ...two].map(({ key }) => key)).size).toBe(6);
});
