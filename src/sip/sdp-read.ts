import { isUnicastAddress, isUnspecified } from "./address.ts";
import { readNumber } from "./scan.ts";
import { narrower, type Codec, type Direction, type LineMedia, type LocalMedia } from "./sdp-media.ts";
import type { MediaDescription, SdpAddress, SdpAttribute, SessionDescription } from "./sdp-session.ts";

/** A payload type of an RTP media line and what it stands for. */
export interface Payload {
  readonly type: number;
  /** Upper case, as encoding names compare without case (RFC 8866 6.6). */
  readonly encoding: string;
  readonly clockHz: number;
}

/** The payloads of a media line in its order; the static ones of RFC 3551 need no `a=rtpmap`, others without one are left out. */
export function payloadsOf(media: MediaDescription): readonly Payload[] {
  const mapped = new Map<number, Payload>();
  for (const value of valuesOf(media.attributes, "rtpmap")) {
    const [number = "", encoding = ""] = value.split(" ").filter((word) => word !== "");
    const [name = "", clock = "", channels = "1"] = encoding.split("/");
    const type = readNumber(number, 127);
    const clockHz = readNumber(clock, 0xffff_ffff);
    if (type === undefined || clockHz === undefined || channels !== "1" || mapped.has(type)) continue;
    mapped.set(type, { type, encoding: name.toUpperCase(), clockHz });
  }
  return media.formats.flatMap((format) => {
    const type = readNumber(format, 127);
    if (type === undefined) return [];
    const encoding = STATIC.get(type);
    return mapped.get(type) ?? (encoding === undefined ? [] : { type, encoding, clockHz: 8000 });
  });
}

/** RFC 3551 6: static payload types of telephony, all at 8000 Hz in their RTP clock. */
const STATIC: ReadonlyMap<number, string> = new Map([
  [0, "PCMU"],
  [3, "GSM"],
  [4, "G723"],
  [8, "PCMA"],
  [9, "G722"],
  [13, "CN"],
  [15, "G728"],
  [18, "G729"],
]);

/** The audio a peer's description lets us have, its first codec among ours, still without keys; or why there is none. */
export function readAudio(
  session: SessionDescription,
  media: MediaDescription,
  local: Pick<LocalMedia, "codecs" | "direction" | "srtp">,
): LineMedia["audio"] | string {
  const { codecs, srtp } = local;
  if (media.port === 0) return "the audio was refused (port 0)";
  const profile = srtp === undefined ? "RTP/AVP" : "RTP/SAVP";
  if (!isProfile(media, profile)) return `the audio protocol ${media.protocol} is not ${profile}`;
  const address = addressOf(session, media);
  if (address === undefined) return "the audio has no usable address";
  const payloads = payloadsOf(media);
  const codec = payloads.flatMap((payload) => codecOf(payload, codecs) ?? [])[0];
  if (codec === undefined) return `none of ${codecs.join(", ")} is among the codecs`;
  const dtmf = payloads.find(({ encoding, clockHz }) => encoding === "TELEPHONE-EVENT" && clockHz === 8000);
  return {
    remote: { address, port: media.port, rtcpPort: rtcpPortOf(media) },
    ...codec,
    ...(dtmf === undefined ? {} : { dtmfPayloadType: dtmf.type }),
    direction: narrower(ourDirection(session, media, address), local.direction),
  };
}

/** The real-time text (RFC 4103) a peer's description lets us have. */
export function readText(session: SessionDescription, media: MediaDescription): LineMedia["text"] {
  const address = addressOf(session, media);
  const payloads = payloadsOf(media).filter(({ clockHz }) => clockHz === 1000);
  const t140 = payloads.find(({ encoding }) => encoding === "T140");
  const red = payloads.find(({ encoding }) => encoding === "RED");
  if (media.kind !== "text" || media.port === 0 || !isProfile(media, "RTP/AVP")) return undefined;
  if (address === undefined || isUnspecified(address) || t140 === undefined) return undefined;
  return {
    remote: { address, port: media.port },
    payloadType: t140.type,
    ...(red === undefined ? {} : { redPayloadType: red.type }),
  };
}

/** `a=lang` (RFC 8866 6.12) of the media, else of the session. */
export function languageOf(session: SessionDescription, media: MediaDescription): string | undefined {
  const [value] = [...valuesOf(media.attributes, "lang"), ...valuesOf(session.attributes, "lang")];
  return value?.trim();
}

function valuesOf(attributes: readonly SdpAttribute[], name: string): string[] {
  return attributes.flatMap((attribute) => (attribute.name === name ? (attribute.value ?? []) : []));
}

function codecOf(
  payload: Payload,
  codecs: readonly Codec[],
): { codec: Codec; payloadType: number } | undefined {
  const codec = codecs.find((name) => name === payload.encoding);
  return codec === undefined || payload.clockHz !== 8000 ? undefined : { codec, payloadType: payload.type };
}

/** The feedback profiles differ in RTCP only (RFC 4585, RFC 5124). */
function isProfile(media: MediaDescription, profile: "RTP/AVP" | "RTP/SAVP"): boolean {
  const protocol = media.protocol.toUpperCase();
  return protocol === profile || protocol === `${profile}F`;
}

/** Where the peer wants its media. A host name is no such place: nothing in the audio path may wait for a name server. */
function addressOf(session: SessionDescription, media: MediaDescription): string | undefined {
  const connection: SdpAddress | undefined = media.connection ?? session.connection;
  return connection !== undefined && isUnicastAddress(connection.host) ? connection.host : undefined;
}

/** `a=rtcp` (RFC 3605), else the port above (RFC 3550 11). */
function rtcpPortOf(media: MediaDescription): number {
  const [value = ""] = valuesOf(media.attributes, "rtcp");
  const [port = ""] = value.trim().split(" ");
  return readNumber(port, 65_535) ?? Math.min(media.port + 1, 65_535);
}

/** The mirror of the peer's direction. The address 0.0.0.0 is the hold of RFC 2543: it must not be sent to (RFC 3264 8.4). */
function ourDirection(session: SessionDescription, media: MediaDescription, address: string): Direction {
  const own = directionIn(media.attributes) ?? directionIn(session.attributes) ?? "sendrecv";
  const canReceive = (own === "sendrecv" || own === "recvonly") && !isUnspecified(address);
  const canSend = own === "sendrecv" || own === "sendonly";
  if (canReceive) return canSend ? "sendrecv" : "sendonly";
  return canSend ? "recvonly" : "inactive";
}

function directionIn(attributes: readonly SdpAttribute[]): Direction | undefined {
  for (const { name } of attributes) {
    if (name === "sendrecv" || name === "sendonly" || name === "recvonly" || name === "inactive") return name;
  }
  return undefined;
}
