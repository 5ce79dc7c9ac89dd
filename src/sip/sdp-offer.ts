import { cryptoAttribute, cryptoAttributes, readCrypto, type CryptoLine } from "./sdp-crypto.ts";
import type { Codec, Direction, LineMedia, LocalMedia, SdesKey, SdpSession } from "./sdp-media.ts";
import { languageOf, payloadsOf, readAudio, readText } from "./sdp-read.ts";
import { parseSdp } from "./sdp-parse.ts";
import type { MediaDescription, SdpAttribute, SessionDescription } from "./sdp-session.ts";
import { writeSdp } from "./sdp-write.ts";

/** Our offer: one audio line with telephone-event, encrypted if it must be, and, with a text port, one text line. */
export function offerOf(local: LocalMedia, session: SdpSession): string {
  const media = [
    audioLine(
      local.audioPort,
      local.codecs.map((codec) => ({ codec, type: STATIC_TYPE[codec] })),
      {
        dtmfType: DTMF_TYPE,
        direction: local.direction ?? "sendrecv",
        crypto: local.srtp === undefined ? undefined : cryptoAttributes(local.srtp),
      },
    ),
  ];
  if (local.textPort !== undefined) media.push(textLine(local.textPort, T140_TYPE, RED_TYPE));
  return writeSdp(describe(local, session, media));
}

type AnswerReading =
  | { readonly ok: true; readonly media: LineMedia }
  | { readonly ok: false; readonly reason: string };

/** Reads the answer to our offer. Payload types may differ from those offered; only audio is needed, with keys if we asked for them. */
export function readAnswer(local: LocalMedia, answerSdp: string): AnswerReading {
  const answer = parseSdp(answerSdp);
  if (!answer.ok) return { ok: false, reason: answer.problem.message };
  const session = answer.value;
  const line = session.media.find(({ kind }) => kind === "audio");
  if (line === undefined) return { ok: false, reason: "there is no audio" };
  const plain = readAudio(session, line, local);
  if (typeof plain === "string") return { ok: false, reason: plain };
  const audio = local.srtp === undefined ? plain : answeredKeys(plain, readCrypto(line), local.srtp);
  if (typeof audio === "string") return { ok: false, reason: audio };
  const textLine =
    local.textPort === undefined ? undefined : session.media.find(({ kind }) => kind === "text");
  const text = textLine === undefined ? undefined : readText(session, textLine);
  return { ok: true, media: text === undefined ? { audio } : { audio, text } };
}

type OfferAnswer =
  | {
      readonly ok: true;
      /** Our answer. */
      readonly sdp: string;
      readonly media: LineMedia;
      readonly offered: Offered;
    }
  | { readonly ok: false; readonly status: 488; readonly reason: string };

interface Offered {
  /** Real-time text, whether we take it or not. */
  readonly text: boolean;
  readonly language?: string;
  /** Encoding names of the audio in the offer's order, upper case, without telephone-event and comfort noise. */
  readonly codecs: readonly string[];
}

/**
 * Answers an offer (RFC 3264 6): the first audio line we can take, with the first of its codecs we have; text when there is a text port;
 * every other line with port 0.
 */
export function answerTo(offerSdp: string, local: LocalMedia, session: SdpSession): OfferAnswer {
  const parsed = parseSdp(offerSdp);
  if (!parsed.ok) return { ok: false, status: 488, reason: parsed.problem.message };
  const offer = parsed.value;
  const agreed = agreeOn(offer, local);
  if (typeof agreed === "string") return { ok: false, status: 488, reason: agreed };
  const { audio, text } = agreed;
  const media = offer.media.map((line): MediaDescription => {
    // kind and protocol are the offerer's (RFC 3264 6.1)
    if (line === audio.line) return { ...acceptAudio(local.audioPort, audio), protocol: line.protocol };
    if (line !== text?.line || local.textPort === undefined) return refuse(line);
    const { payloadType, redPayloadType } = text.media;
    return { ...textLine(local.textPort, payloadType, redPayloadType), protocol: line.protocol };
  });
  return {
    ok: true,
    sdp: writeSdp(describe(local, session, media)),
    media: text === undefined ? { audio: audio.media } : { audio: audio.media, text: text.media },
    offered: offeredIn(offer, audio.line),
  };
}

const STATIC_TYPE: Readonly<Record<Codec, number>> = { PCMU: 0, PCMA: 8, G722: 9 };
const DTMF_TYPE = 101;
const T140_TYPE = 98;
const RED_TYPE = 99;

interface Agreed {
  readonly audio: AgreedAudio;
  readonly text?:
    | { readonly line: MediaDescription; readonly media: NonNullable<LineMedia["text"]> }
    | undefined;
}

interface AgreedAudio {
  readonly line: MediaDescription;
  readonly media: LineMedia["audio"];
  /** Our part of the keys, under the number the offer gave. */
  readonly crypto?: CryptoLine | undefined;
}

function agreeOn(offer: SessionDescription, local: LocalMedia): Agreed | string {
  let refusal = "there is no audio";
  for (const line of offer.media) {
    if (line.kind !== "audio") continue;
    const media = readAudio(offer, line, local);
    const audio = typeof media === "string" ? media : offeredKeys({ line, media }, local.srtp);
    if (typeof audio !== "string") return { audio, text: agreeOnText(offer, local) };
    refusal = audio;
  }
  return refusal;
}

const NO_KEYS = "the audio has no crypto line that can be used";

/** The first crypto line of the offer with a suite of ours (RFC 4568 7.1.2). */
function offeredKeys(audio: AgreedAudio, keys: readonly SdesKey[] | undefined): AgreedAudio | string {
  if (keys === undefined) return audio;
  for (const { tag, suite, key: remoteKey } of readCrypto(audio.line)) {
    const own = keys.find((each) => each.suite === suite && each.key !== remoteKey);
    if (own === undefined) continue;
    const srtp = { suite, localKey: own.key, remoteKey };
    return { line: audio.line, media: { ...audio.media, srtp }, crypto: { tag, ...own } };
  }
  return NO_KEYS;
}

/** The crypto line that answers one of ours: its number and suite must fit, and our own key must not come back (RFC 4568 7.1.3). */
function answeredKeys(
  media: LineMedia["audio"],
  answered: readonly CryptoLine[],
  keys: readonly SdesKey[],
): LineMedia["audio"] | string {
  for (const { tag, suite, key: remoteKey } of answered) {
    const own = keys[tag - 1];
    if (own?.suite !== suite || own.key === remoteKey) continue;
    return { ...media, srtp: { suite, localKey: own.key, remoteKey } };
  }
  return NO_KEYS;
}

function agreeOnText(offer: SessionDescription, local: LocalMedia): Agreed["text"] {
  if (local.textPort === undefined) return undefined;
  for (const line of offer.media) {
    const media = readText(offer, line);
    if (media !== undefined) return { line, media };
  }
  return undefined;
}

function offeredIn(offer: SessionDescription, audio: MediaDescription): Offered {
  const language = languageOf(offer, audio);
  return {
    text: offer.media.some((line) => readText(offer, line) !== undefined),
    ...(language === undefined ? {} : { language }),
    codecs: payloadsOf(audio)
      .map(({ encoding }) => encoding)
      .filter((encoding) => encoding !== "TELEPHONE-EVENT" && encoding !== "CN"),
  };
}

function describe(
  local: LocalMedia,
  session: SdpSession,
  media: readonly MediaDescription[],
): SessionDescription {
  const address = { family: local.address.includes(":") ? "IP6" : "IP4", host: local.address } as const;
  return {
    origin: {
      username: session.username ?? "-",
      sessionId: String(session.id),
      sessionVersion: String(session.version),
      address,
    },
    name: "-",
    connection: address,
    attributes: local.language === undefined ? [] : [{ name: "lang", value: local.language }],
    media,
  };
}

function acceptAudio(port: number, { media, crypto }: AgreedAudio): MediaDescription {
  const { codec, payloadType, dtmfPayloadType: dtmfType, direction } = media;
  return audioLine(port, [{ codec, type: payloadType }], {
    dtmfType,
    direction,
    crypto: crypto === undefined ? undefined : [cryptoAttribute(crypto)],
  });
}

function audioLine(
  port: number,
  codecs: readonly { readonly codec: Codec; readonly type: number }[],
  options: {
    readonly dtmfType: number | undefined;
    readonly direction: Direction;
    readonly crypto: readonly SdpAttribute[] | undefined;
  },
): MediaDescription {
  const { dtmfType, direction, crypto } = options;
  const maps = codecs.map(({ codec, type }): SdpAttribute => rtpmap(type, `${codec}/8000`));
  const formats = codecs.map(({ type }) => String(type));
  if (dtmfType !== undefined) {
    formats.push(String(dtmfType));
    // the sixteen keys; flash (16) is no digit
    maps.push(rtpmap(dtmfType, "telephone-event/8000"), { name: "fmtp", value: `${dtmfType} 0-15` });
  }
  const attributes = [...maps, { name: "ptime", value: "20" }, { name: direction }, ...(crypto ?? [])];
  const protocol = crypto === undefined ? "RTP/AVP" : "RTP/SAVP";
  return { kind: "audio", port, protocol, formats, attributes };
}

/** RFC 4103 11: redundancy first, each packet repeating the two before it. */
function textLine(port: number, t140: number, red: number | undefined): MediaDescription {
  const attributes = [rtpmap(t140, "t140/1000")];
  const formats = [String(t140)];
  if (red !== undefined) {
    formats.unshift(String(red));
    attributes.push(rtpmap(red, "red/1000"), { name: "fmtp", value: `${red} ${t140}/${t140}/${t140}` });
  }
  return { kind: "text", port, protocol: "RTP/AVP", formats, attributes };
}

function rtpmap(type: number, encoding: string): SdpAttribute {
  return { name: "rtpmap", value: `${type} ${encoding}` };
}

/** RFC 3264 6: port 0, the formats as they came. */
function refuse({ kind, protocol, formats }: MediaDescription): MediaDescription {
  return { kind, port: 0, protocol, formats: formats.length === 0 ? ["0"] : formats, attributes: [] };
}
