import type { AccountId, CallId, Clock } from "#base";
import type { SipMessageRow, TrunkRow } from "./ports.ts";

/** A message as the SIP endpoint shows it: credentials and media keys are taken out already. */
export interface SipTraceEntry {
  readonly at: number;
  readonly direction: SipMessageRow["direction"];
  readonly transport: SipMessageRow["transport"];
  readonly local: Place;
  readonly remote: Place;
  readonly sipCallId: string;
  readonly firstLine: string;
  readonly text: string;
}

interface Place {
  readonly address: string;
  readonly port: number;
}

/** An attempt whose messages are followed. */
export interface TracedAttempt {
  readonly callId: CallId;
  readonly n: number;
  readonly trunk: TrunkRow;
  readonly publish: (type: string, data: Readonly<Record<string, unknown>>) => void;
}

export interface SipTrace {
  /** Bounded: the first and the last messages, what does not fit is left out of the middle. */
  messages(): readonly SipMessageRow[];
  /** What comes later belongs to no attempt. */
  close(): void;
}

export interface SipTraces {
  readonly take: (entry: SipTraceEntry) => void;
  readonly follow: (sipCallId: string, attempt: TracedAttempt) => SipTrace;
  /** Of the attempt under way, which is not stored yet. */
  readonly live: (callId: CallId) => readonly SipMessageRow[];
}

export interface SipTraceParts {
  readonly clock: Clock;
  /** Every trunk of every account. */
  readonly trunks: () => Promise<readonly TrunkRow[]>;
  /** Tells of a message that belongs to no attempt: registering, probing. */
  readonly publish: (accountId: AccountId, type: string, data: Readonly<Record<string, unknown>>) => void;
}

/** Half of what is kept of an attempt is its beginning, half its end. */
const halfBytes = 32 * 1024;
/** Of one message; none of ours is a tenth of it. */
const messageBytes = 8 * 1024;
/** Trunks seldom change, and strangers may send as much as they like. */
const trunksForMs = 5_000;
const mostPeers = 1_000;

/** Tells what is on the wire to whoever reads along, and keeps it for the attempt it belongs to. */
export function createSipTraces(parts: SipTraceParts): SipTraces {
  const followed = new Map<string, TracedAttempt & { readonly kept: Kept }>();
  /** Where we said we are, by who was told; for a socket that listens on all addresses. */
  const ours = new Map<string, string>();
  let known: { readonly trunks: Promise<readonly TrunkRow[]>; readonly until: number } | undefined;

  return {
    take(shownEntry) {
      const entry = withOwnAddress(shownEntry, ours);
      const attempt = followed.get(entry.sipCallId);
      if (attempt === undefined) return void tellTrunks(entry).catch(() => undefined);
      const seq = attempt.kept.next();
      attempt.kept.add(rowOf(entry, attempt, seq));
      attempt.publish("sip-message", { attempt: attempt.n, seq, ...shown(entry, attempt.trunk) });
    },
    follow(sipCallId, attempt) {
      const kept = createKept();
      followed.set(sipCallId, { ...attempt, kept });
      return { messages: kept.all, close: () => void followed.delete(sipCallId) };
    },
    live: (callId) => [...followed.values()].find((one) => one.callId === callId)?.kept.all() ?? [],
  };

  async function tellTrunks(entry: SipTraceEntry): Promise<void> {
    for (const trunk of await trunks())
      if (isOf(entry, trunk)) parts.publish(trunk.accountId, "sip-message", shown(entry, trunk));
  }

  function trunks(): Promise<readonly TrunkRow[]> {
    const now = parts.clock.now();
    if (known === undefined || known.until <= now)
      known = { trunks: parts.trunks(), until: now + trunksForMs };
    return known.trunks;
  }
}

/** The address in the Via of our own requests stands for the wildcard (RFC 3261 18.1.1). */
function withOwnAddress(entry: SipTraceEntry, ours: Map<string, string>): SipTraceEntry {
  const { direction, local, remote, text } = entry;
  if (local.address !== "0.0.0.0" && local.address !== "::") return entry;
  const via = /^(?:via|v)[ \t]*:[ \t]*SIP\/2\.0\/\w+[ \t]+(\[[^\]\s]+\]|[^;:\s,]+)/im.exec(text)?.[1];
  if (direction === "sent" && via !== undefined && !text.startsWith("SIP/"))
    ours.set(remote.address, via.replace(/^\[|\]$/g, ""));
  if (ours.size > mostPeers) ours.delete([...ours.keys()][0] ?? "");
  const address = ours.get(remote.address);
  return address === undefined ? entry : { ...entry, local: { ...local, address } };
}

function shown(entry: SipTraceEntry, trunk: TrunkRow): Readonly<Record<string, unknown>> {
  return {
    at: new Date(Math.trunc(entry.at)).toISOString(),
    trunk: trunk.name,
    sip_call_id: entry.sipCallId,
    direction: entry.direction,
    transport: entry.transport,
    local: placeText(entry.local),
    remote: placeText(entry.remote),
    first_line: entry.firstLine,
    text: entry.text,
  };
}

/** By its address, or, for a trunk known by its name, by the host of To. */
function isOf({ remote, text }: SipTraceEntry, { host, port, sip }: TrunkRow): boolean {
  if (remote.address === host && (port === 0 || remote.port === port)) return true;
  const to = /^(?:to|t)[ \t]*:.*?sips?:(?:[^@>;\s]*@)?([^>;:\s]+)/im.exec(text)?.[1]?.toLowerCase();
  return to !== undefined && [host, sip.domain].includes(to);
}

function rowOf(entry: SipTraceEntry, { callId, n }: TracedAttempt, seq: number): SipMessageRow {
  const { direction, transport, text } = entry;
  return {
    callId,
    n,
    seq,
    at: Math.trunc(entry.at),
    direction,
    transport,
    local: placeText(entry.local),
    remote: placeText(entry.remote),
    text: text.length <= messageBytes ? text : `${text.slice(0, messageBytes)}\r\n[cut]`,
  };
}

function placeText({ address, port }: Place): string {
  return address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`;
}

interface Kept {
  /** Number of the next message. */
  readonly next: () => number;
  readonly add: (message: SipMessageRow) => void;
  readonly all: () => readonly SipMessageRow[];
}

function createKept(): Kept {
  const first: SipMessageRow[] = [];
  const last: SipMessageRow[] = [];
  let count = 0;
  let firstLeft = halfBytes;
  let lastBytes = 0;
  return {
    next: () => ++count,
    add(message) {
      const size = sizeOf(message);
      if (last.length === 0 && size <= firstLeft) {
        firstLeft -= size;
        first.push(message);
        return;
      }
      last.push(message);
      lastBytes += size;
      for (let oldest = last[0]; lastBytes > halfBytes && oldest !== undefined; oldest = last[0]) {
        lastBytes -= sizeOf(oldest);
        last.shift();
      }
    },
    all: () => [...first, ...last],
  };
}

function sizeOf({ text }: SipMessageRow): number {
  return Buffer.byteLength(text);
}
