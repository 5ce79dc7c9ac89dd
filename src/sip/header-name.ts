/** Long form of the compact header names (RFC 3261 7.3.3 and the IANA registry). */
const COMPACT: Readonly<Record<string, string>> = {
  a: "Accept-Contact",
  b: "Referred-By",
  c: "Content-Type",
  d: "Request-Disposition",
  e: "Content-Encoding",
  f: "From",
  i: "Call-ID",
  j: "Reject-Contact",
  k: "Supported",
  l: "Content-Length",
  m: "Contact",
  n: "Identity-Info",
  o: "Event",
  r: "Refer-To",
  s: "Subject",
  t: "To",
  u: "Allow-Events",
  v: "Via",
  x: "Session-Expires",
  y: "Identity",
};

const LONG = `
  Accept Accept-Encoding Accept-Language Alert-Info Allow Authentication-Info Authorization
  Call-Info Content-Disposition Content-Language Date Diversion Error-Info Expires Geolocation
  History-Info In-Reply-To Join Max-Forwards MIME-Version Min-Expires Min-SE Organization
  P-Access-Network-Info P-Asserted-Identity P-Associated-URI P-Called-Party-ID P-Charging-Vector
  P-Early-Media P-Preferred-Identity Path Priority Privacy Proxy-Authenticate Proxy-Authorization
  Proxy-Require RAck Reason Record-Route Recv-Info Refer-Sub Remote-Party-ID Replaces Reply-To
  Require Retry-After Route RSeq Server Service-Route SIP-ETag SIP-If-Match Subscription-State
  Target-Dialog Timestamp Unsupported User-Agent Warning WWW-Authenticate
`;

const CANONICAL: ReadonlyMap<string, string> = new Map([
  ...Object.entries(COMPACT),
  ...[...LONG.trim().split(/\s+/), ...Object.values(COMPACT)].map((name): [string, string] => [
    name.toLowerCase(),
    name,
  ]),
]);

/** The long, usual spelling of a header name in any form (`v`, `VIA`); names not known here stay as written. */
export function canonicalName(name: string): string {
  return CANONICAL.get(name.toLowerCase()) ?? name;
}
