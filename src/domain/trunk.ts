import { numberFormatFault } from "./number-format.ts";

/** Which header tells the provider who calls; `from` is what most want. */
export type CallerIdHeader = (typeof callerIdHeaders)[number];

export const callerIdHeaders = [
  "from",
  "p-asserted-identity",
  "p-preferred-identity",
  "remote-party-id",
] as const;

/** `ip`: known by our address; `digest`: asks for a password; `register`: also wants to know where we are. */
export const trunkKinds = ["ip", "digest", "register", "sandbox"] as const;
export type TrunkKind = (typeof trunkKinds)[number];

export const trunkTransports = ["udp", "tcp", "tls"] as const;

/** How a trunk wants to be spoken to. */
export interface TrunkSip {
  readonly transport: (typeof trunkTransports)[number];
  /** Name that stands in SIP addresses and in the TLS certificate; null: the host. */
  readonly domain: string | null;
  /** `host`, `host:port` or `sip:…;lr` that requests go through; null: straight to the host. */
  readonly outboundProxy: string | null;
  readonly register: boolean;
  readonly registerExpiresS: number;
  readonly srtp: "off" | "required";
  /** User of From; null: the caller id. */
  readonly fromUser: string | null;
  /** How a number is dialled, e.g. `00{e164}`; null: `+{e164}`. */
  readonly numberFormat: string | null;
  readonly callerIdHeader: CallerIdHeader;
  readonly displayName: string | null;
  /** The caller id is told to the provider, but not to the called person (RFC 3323). */
  readonly privacy: boolean;
  /** Further headers of the INVITE. */
  readonly headers: Readonly<Record<string, string>>;
  /** Of several trunks the smallest is taken first. */
  readonly priority: number;
  /** Whether calls may be handed on by REFER. */
  readonly allowTransfer: boolean;
  /** Further certificate authorities to trust over TLS, PEM; null: those of the system. */
  readonly caCertificate: string | null;
}

/** A trunk of which nothing special is known. */
export const plainTrunkSip: TrunkSip = {
  transport: "udp",
  domain: null,
  outboundProxy: null,
  register: false,
  registerExpiresS: 600,
  srtp: "off",
  fromUser: null,
  numberFormat: null,
  callerIdHeader: "from",
  displayName: null,
  privacy: false,
  headers: {},
  priority: 10,
  allowTransfer: false,
  caCertificate: null,
};

const hostName = /^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/i;
const proxy = /^(?:sips?:)?(?:\[[0-9a-f:.]+\]|[a-z0-9.-]{1,253})(?::\d{1,5})?(?:;[a-z0-9=;.-]*)?$/i;
const sipUser = /^\+?[A-Za-z0-9._*-]{1,64}$/;
const headerName = /^[A-Za-z][A-Za-z0-9-]{0,63}$/;
/** Headers that are ours to write: the protocol depends on them, or another setting says them. */
const ownHeaders: ReadonlySet<string> = new Set(
  [
    "accept allow authorization call-id contact content-disposition content-encoding content-language content-length",
    "content-type cseq event expires from identity max-forwards mime-version min-se p-asserted-identity",
    "p-preferred-identity privacy proxy-authorization proxy-require rack record-route refer-to remote-party-id",
    "replaces require route rseq session-expires subscription-state supported to user-agent via",
    "a b c d e f i j k l m n o r s t u v x y",
  ].flatMap((names) => names.split(" ")),
);

/** What keeps these settings from being used, in one sentence; undefined when nothing does. */
export function trunkSipFault(sip: TrunkSip): string | undefined {
  if (sip.srtp === "required" && sip.transport !== "tls") {
    return `SRTP needs --transport tls: over ${sip.transport} the keys could be read on the way`;
  }
  if (sip.domain !== null && (sip.domain.length > 253 || !hostName.test(sip.domain)))
    return `"${sip.domain}" is no domain name`;
  if (sip.outboundProxy !== null && !proxy.test(sip.outboundProxy))
    return `"${sip.outboundProxy}" is no address of a proxy`;
  if (sip.fromUser !== null && !sipUser.test(sip.fromUser))
    return `"${sip.fromUser}" cannot stand in a SIP address: letters, digits and . _ * -`;
  if (sip.displayName !== null && (sip.displayName.length > 80 || hasControls(sip.displayName)))
    return "A display name has at most 80 characters, none of them a control character";
  if (sip.caCertificate !== null && !isPem(sip.caCertificate))
    return "The file of the certificate authority holds no certificate in PEM form";
  return (
    headersFault(sip.headers) ?? (sip.numberFormat === null ? undefined : numberFormatFault(sip.numberFormat))
  );
}

function headersFault(headers: TrunkSip["headers"]): string | undefined {
  for (const [name, value] of Object.entries(headers)) {
    if (!headerName.test(name)) return `"${name}" is no name of a header`;
    if (ownHeaders.has(name.toLowerCase())) return `${name} is not for you to set: outdial writes it itself`;
    if (value.length > 512 || hasControls(value)) {
      return `The value of ${name} must be one line of at most 512 characters`;
    }
  }
  return Object.keys(headers).length > 20 ? "A trunk has at most 20 headers of its own" : undefined;
}

const isPem = (text: string): boolean =>
  text.length <= 65_536 && /-----BEGIN CERTIFICATE-----[\s\S]+-----END CERTIFICATE-----/.test(text);

// oxlint-disable-next-line no-control-regex -- control characters are what is looked for
const hasControls = (text: string): boolean => /[\u0000-\u001f\u007f]/.test(text);
