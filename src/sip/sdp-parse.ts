import { accept, reject, type Decoded } from "#base";
import { isToken, readNumber } from "./scan.ts";
import type {
  MediaDescription,
  SdpAddress,
  SdpAttribute,
  SdpOrigin,
  SessionDescription,
} from "./sdp-session.ts";

/** Most `m=` lines read. */
const MAX_MEDIA = 100;
/** Longest description read, in characters: far beyond any of a telephone's. */
const MAX_LENGTH = 32_768;

/**
 * Reads a session description (RFC 8866 5); never throws. Strict on the lines it understands (`v o c m a`), on their numbers and on the
 * form of every line; tolerant of LF line ends, of lines missing or out of order within a section, and of line types it does not know.
 */
export function parseSdp(text: string): Decoded<SessionDescription> {
  if (text.length > MAX_LENGTH)
    return reject("sdp", `A description must have at most ${MAX_LENGTH} characters.`);
  const lines = text.split("\n").map((line) => (line.endsWith("\r") ? line.slice(0, -1) : line));
  if (lines[0] !== "v=0") return reject("sdp", 'The first line must be "v=0".', { line: 1 });
  const sessionPart: Draft["session"] = { attributes: [] };
  const draft: Draft = { session: sessionPart, media: [], current: sessionPart };
  for (const [index, line] of lines.entries()) {
    const problem = line === "" ? undefined : readLine(draft, line);
    if (problem !== undefined) return reject("sdp", problem, { line: index + 1 });
  }
  const { origin, name, connection, attributes } = sessionPart;
  return accept({
    ...(origin === undefined ? {} : { origin }),
    name: name ?? "-",
    ...(connection === undefined ? {} : { connection }),
    attributes,
    media: draft.media,
  });
}

interface Section {
  connection?: SdpAddress;
  attributes: SdpAttribute[];
}

interface Draft {
  readonly session: Section & { origin?: SdpOrigin; name?: string };
  readonly media: (MediaDescription & Section)[];
  /** The session part or the latest media section. */
  current: Section;
}

/** Puts one line into the draft; returns what is wrong with it. */
function readLine(draft: Draft, line: string): string | undefined {
  if (line.charAt(1) !== "=") return 'A line must have the form "type=value".';
  const value = line.slice(2);
  switch (line.charAt(0)) {
    case "v":
      return value === "0" ? undefined : "The version must be 0.";
    case "o":
      return readOrigin(draft, value);
    case "s":
      draft.session.name ??= value.trim() === "" ? "-" : value;
      return undefined;
    case "c":
      return readConnection(draft, value);
    case "a":
      return readAttribute(draft, value);
    case "m":
      return readMedia(draft, value);
    default:
      return undefined;
  }
}

function readOrigin(draft: Draft, value: string): string | undefined {
  const [username = "", sessionId = "", sessionVersion = "", ...rest] = words(value);
  const address = readAddress(rest);
  if (address === undefined) return 'The origin must be "username id version IN IP4|IP6 address".';
  draft.session.origin ??= { username, sessionId, sessionVersion, address };
  return undefined;
}

function readConnection(draft: Draft, value: string): string | undefined {
  const address = readAddress(words(value));
  if (address === undefined) return 'The connection must be "IN IP4|IP6 address".';
  draft.current.connection ??= address;
  return undefined;
}

function readAttribute(draft: Draft, value: string): string | undefined {
  const colon = value.indexOf(":");
  const name = colon < 0 ? value.trim() : value.slice(0, colon);
  if (name === "") return "The attribute has no name.";
  draft.current.attributes.push(colon < 0 ? { name } : { name, value: value.slice(colon + 1) });
  return undefined;
}

function readMedia(draft: Draft, value: string): string | undefined {
  if (draft.media.length >= MAX_MEDIA) return `There must be at most ${MAX_MEDIA} media.`;
  const [kind = "", ports = "", protocol = "", ...formats] = words(value);
  const slash = ports.indexOf("/");
  const port = readNumber(slash < 0 ? ports : ports.slice(0, slash), 65_535);
  const count = slash < 0 ? 1 : readNumber(ports.slice(slash + 1), 65_535);
  if (!isToken(kind) || port === undefined || count === undefined || protocol === "")
    return 'A media line must be "kind port protocol formats", the port 0 to 65535.';
  const media = { kind, port, protocol, formats, attributes: [] };
  draft.media.push(media);
  draft.current = media;
  return undefined;
}

function readAddress([network, family, host = "", ...rest]: readonly string[]): SdpAddress | undefined {
  if (network !== "IN" || (family !== "IP4" && family !== "IP6") || rest.length > 0) return undefined;
  const slash = host.indexOf("/");
  const name = slash < 0 ? host : host.slice(0, slash);
  return name === "" ? undefined : { family, host: name };
}

function words(value: string): string[] {
  return value.split(" ").filter((word) => word !== "");
}
