import type { Entropy } from "./clock.ts";

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]?: Name };

export type AccountId = Branded<"account">;
export type CallId = Branded<"call">;
export type CampaignId = Branded<"campaign">;
export type PlaybookId = Branded<"playbook">;
export type VersionId = Branded<"version">;
export type TokenId = Branded<"token">;
export type TrunkId = Branded<"trunk">;
export type ContactId = Branded<"contact">;

/** A UUIDv7 (RFC 9562 5.7): sorts by `now` (epoch ms), the rest is chance. */
export function newId(now: number, entropy: Entropy): string {
  const bytes = entropy.bytes(16);
  let time = Math.trunc(now);
  for (let i = 5; i >= 0; i--) {
    bytes[i] = time % 256;
    time = Math.floor(time / 256);
  }
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
  const hex = Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** Whether `text` has the form of a UUID of any version (RFC 9562 4). */
export function isUuid(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}
