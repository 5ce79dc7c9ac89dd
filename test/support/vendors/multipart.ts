/** The parts of a multipart/form-data body by name (RFC 7578). */
export function readMultipart(contentType: string, body: Buffer): Map<string, Buffer> {
  const boundary = `--${/boundary=([^;]+)/.exec(contentType)?.[1] ?? ""}`;
  const parts = new Map<string, Buffer>();
  for (let start = body.indexOf(boundary); start >= 0;) {
    const end = body.indexOf(`\r\n${boundary}`, start);
    const header = body.indexOf("\r\n\r\n", start);
    if (end < 0 || header < 0) break;
    const name = /name="([^"]*)"/.exec(body.toString("utf8", start, header))?.[1];
    if (name !== undefined) parts.set(name, body.subarray(header + 4, end));
    start = end + 2;
  }
  return parts;
}
