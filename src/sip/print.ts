import type { SipMessage } from "./message.ts";

/**
 * The message in octets, ready to send; Content-Length is computed (one among the headers is left out).
 * A line break inside a value goes out as a space: no value can forge a header or end the message.
 */
export function printMessage(message: SipMessage): Uint8Array {
  const lines = [startLine(message)];
  for (const { name, value } of message.headers) {
    if (name.toLowerCase() !== "content-length") lines.push(`${name}: ${value}`);
  }
  lines.push(`Content-Length: ${message.body.length}`);
  const head = ENCODER.encode(`${lines.map(onOneLine).join("\r\n")}\r\n\r\n`);
  const bytes = new Uint8Array(head.length + message.body.length);
  bytes.set(head);
  bytes.set(message.body, head.length);
  return bytes;
}

const ENCODER = new TextEncoder();

function startLine(message: SipMessage): string {
  return message.type === "request"
    ? `${message.method} ${message.uri} SIP/2.0`
    : `SIP/2.0 ${message.status} ${message.reason}`;
}

function onOneLine(line: string): string {
  return line.includes("\n") || line.includes("\r") ? line.replaceAll(/[\r\n]/g, " ") : line;
}
