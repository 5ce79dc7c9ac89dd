import { isIP } from "node:net";

/**
 * Whether a host name or address (IPv6 without brackets) can only be here or in a private network: loopback, RFC 1918,
 * link-local, unique local (RFC 4193), `.local`, `.internal`, `.home.arpa`, or a name without a dot.
 */
export function isPrivateHost(host: string): boolean {
  const name = host
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
  switch (isIP(name)) {
    case 4:
      return isPrivateV4(name);
    case 6:
      return isPrivateV6(name);
    default:
      return !name.includes(".") || /\.(localhost|local|internal|home\.arpa|lan)$/.test(name);
  }
}

function isPrivateV4(address: string): boolean {
  const [a = 0, b = 0] = address.split(".").map(Number);
  return (
    a === 127 ||
    a === 10 ||
    (a === 172 && b >= 16 && b <= 31) ||
    (a === 192 && b === 168) ||
    (a === 169 && b === 254)
  );
}

function isPrivateV6(address: string): boolean {
  if (address === "::1") return true;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(address)?.[1];
  if (mapped !== undefined) return isPrivateV4(mapped);
  return /^f[cd][0-9a-f]{2}:/.test(address) || /^fe[89ab][0-9a-f]:/.test(address);
}
