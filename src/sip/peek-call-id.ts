const lineFeed = 10;
const space = 32;
const tab = 9;
const colon = 58;

/** The Call-ID of a datagram, found without reading the rest: what a stranger's flood costs us. Undefined when none is seen. */
export function peekCallId(bytes: Uint8Array): string | undefined {
  for (let end = bytes.indexOf(lineFeed); end >= 0;) {
    const start = end + 1;
    end = bytes.indexOf(lineFeed, start);
    const line = bytes.subarray(start, end < 0 ? bytes.length : end);
    if (line.length === 0 || line[0] === 13) return undefined; // The head is over.
    const value = valueOf(line, "call-id") ?? valueOf(line, "i");
    if (value !== undefined) return value;
  }
  return undefined;
}

function valueOf(line: Uint8Array, name: string): string | undefined {
  for (let i = 0; i < name.length; i++) {
    const octet = line[i] ?? 0;
    const lower = octet >= 65 && octet <= 90 ? octet + 32 : octet;
    if (lower !== name.charCodeAt(i)) return undefined;
  }
  let at = name.length;
  while (line[at] === space || line[at] === tab) at += 1;
  if (line[at] !== colon) return undefined;
  return new TextDecoder().decode(line.subarray(at + 1, at + 513)).trim();
}
