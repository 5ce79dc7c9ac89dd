import { createCipheriv, createDecipheriv, createHmac, createSecretKey } from "node:crypto";
import type { SrtpAead, SrtpCrypto } from "#media";

const tagBytes = 16;

/**
 * SRTP's primitives by node:crypto. Keys become objects once: a cipher or HMAC made from one costs a sixth of one made
 * from octets. The block cipher has no state between blocks and is made once a key.
 */
export const srtpCrypto: SrtpCrypto = {
  blockCipher(key) {
    const cipher = createCipheriv("aes-128-ecb", key, null).setAutoPadding(false);
    return (blocks) => cipher.update(blocks);
  },
  hmacSha1(key) {
    const secret = createSecretKey(key);
    return (message) => createHmac("sha1", secret).update(message).digest();
  },
  gcm,
};

function gcm(key: Uint8Array): SrtpAead {
  const secret = createSecretKey(key);
  return {
    seal(nonce, aad, text, into) {
      const cipher = createCipheriv("aes-128-gcm", secret, nonce);
      cipher.setAAD(aad);
      into.set(cipher.update(text));
      cipher.final();
      into.set(cipher.getAuthTag(), text.length);
    },
    open(nonce, aad, sealed, into) {
      const length = sealed.length - tagBytes;
      if (length < 0) return false;
      const decipher = createDecipheriv("aes-128-gcm", secret, nonce, { authTagLength: tagBytes });
      decipher.setAAD(aad);
      decipher.setAuthTag(sealed.subarray(length));
      into.set(decipher.update(sealed.subarray(0, length)));
      try {
        decipher.final();
        return true;
      } catch {
        return false; // a wrong tag has no other way to be told
      }
    },
  };
}
