import type { SdpAddress, SdpAttribute, SessionDescription } from "./sdp-session.ts";

/** The description as text (RFC 8866 5, with CRLF), permanent (`t=0 0`). */
export function writeSdp(session: SessionDescription): string {
  const { origin, connection } = session;
  const lines = ["v=0"];
  if (origin !== undefined) {
    const { username, sessionId, sessionVersion } = origin;
    lines.push(`o=${username} ${sessionId} ${sessionVersion} ${addressText(origin.address)}`);
  }
  lines.push(`s=${session.name}`);
  if (connection !== undefined) lines.push(`c=${addressText(connection)}`);
  lines.push("t=0 0", ...session.attributes.map(attributeLine));
  for (const media of session.media) {
    lines.push(`m=${[media.kind, media.port, media.protocol, ...media.formats].join(" ")}`);
    if (media.connection !== undefined) lines.push(`c=${addressText(media.connection)}`);
    lines.push(...media.attributes.map(attributeLine));
  }
  return `${lines.join("\r\n")}\r\n`;
}

function addressText({ family, host }: SdpAddress): string {
  return `IN ${family} ${host}`;
}

function attributeLine({ name, value }: SdpAttribute): string {
  return value === undefined ? `a=${name}` : `a=${name}:${value}`;
}
