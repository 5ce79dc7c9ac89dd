import type { RemoteInfo, Socket } from "node:dgram";
import type { Entropy } from "#base";
import {
  DtmfSender,
  frameMs,
  frameSamples,
  isDialString,
  levelDb,
  SpeechDetector,
  ToneDetector,
  type DtmfTiming,
  type FrameOrigin,
} from "#media";
import type { LineAddress, LineMedia } from "./line-media.ts";
import { secureStreams } from "./line-security.ts";
import { Playout, type CutSegment } from "./playout.ts";
import type { PortDrain } from "./port-drain.ts";
import type { Recorder } from "./recorder.ts";
import { RtcpChannel } from "./rtcp-channel.ts";
import { openEvenPort, openPortPair, type PortRange } from "./rtp-port.ts";
import { RtpReceiver } from "./rtp-receiver.ts";
import { RtpSender } from "./rtp-sender.ts";
import { TextChannel } from "./text-channel.ts";

const echoMarginDb = 4; // while we speak, what comes back louder than the noise may be our echo

export interface AudioLineOptions {
  /** Local literal address to bind to. */
  readonly address: string;
  /** Also open a port for real-time text (RFC 4103). */
  readonly withText: boolean;
  /** Monotonic epoch milliseconds, fractional. */
  readonly now: () => number;
  readonly entropy: Entropy;
  readonly recorder?: Recorder;
  /** Default: any free port. */
  readonly portRange?: PortRange;
  /** Keeps the ports closed to new calls for a while after the end; default: they are free at once. */
  readonly drain?: PortDrain;
  /** Default 30 000. */
  readonly firstPacketTimeoutMs?: number;
  /** Default 15 000. */
  readonly packetTimeoutMs?: number;
}

/** What is known of a frame; one object a line, reused: copy what must be kept. */
export interface FrameInfo {
  /** Time of the tick, on the scale of `now`. */
  readonly at: number;
  /** Milliseconds since `connect`, counted in frames. */
  readonly elapsedMs: number;
  /** RMS level of the frame, dBFS. */
  readonly levelDb: number;
  /** `heard`: from the peer; `concealed`: a loss was filled; `silent`: nothing came. */
  readonly origin: FrameOrigin;
}

/** A tone that says what has answered; times since `connect`. */
export interface LineTone {
  readonly type: "fax";
  readonly frequencyHz: number;
  readonly atMs: number;
}

interface Sockets {
  readonly rtp: Socket;
  readonly rtcp: Socket;
  readonly text: Socket | undefined;
}

interface Streams {
  readonly sender: RtpSender;
  readonly receiver: RtpReceiver;
  readonly rtcp: RtcpChannel;
}

/**
 * The audio side of one call on its own ports. All callbacks come from within `tick`, so one that throws concerns
 * this line only. Nothing is heard or sent before `connect`.
 */
export class AudioLine {
  readonly local: LineAddress;
  /** 160 samples, reused: copy what must be kept. */
  onFrame: (pcm: Int16Array, speechActive: boolean, info: FrameInfo) => void = ignore;
  onPlayed: (segmentId: number) => void = ignore;
  onDtmf: (digit: string) => void = ignore;
  /** New text: "\b" erases one character, "\n" is a new line, U+FFFD marks a loss. */
  onText: (text: string) => void = ignore;
  /** `atMs` after `connect`: when the beep ended. */
  onBeep: (atMs: number) => void = ignore;
  onTone: (tone: LineTone) => void = ignore;
  /** Once: nothing came for too long although the peer may send; `first`: nothing ever came. */
  onMediaTimeout: (first: boolean) => void = ignore;
  /** While true the frames are searched for beeps and fax tones. */
  detectTones = false;
  readonly #options: AudioLineOptions;
  readonly #sockets: Sockets;
  readonly #playout = new Playout();
  readonly #dtmf = new DtmfSender();
  readonly #speech = new SpeechDetector();
  readonly #tones = new ToneDetector();
  readonly #heard = new Int16Array(frameSamples);
  readonly #said = new Int16Array(frameSamples);
  readonly #info = { at: 0, elapsedMs: 0, levelDb: 0, origin: "silent" as FrameOrigin };
  readonly #digits: string[] = [];
  readonly #played = (segmentId: number): void => this.onPlayed(segmentId);
  #media: LineMedia | undefined;
  #streams: Streams | undefined;
  #text: TextChannel | undefined;
  #frames = 0;
  /** Since when packets of the peer are to be expected. */
  #listeningSince = 0;
  #timedOut = false;
  #closing: Promise<void> | undefined;

  private constructor(options: AudioLineOptions, sockets: Sockets) {
    this.#options = options;
    this.#sockets = sockets;
    const audioPort = sockets.rtp.address().port;
    const textPort = sockets.text?.address().port;
    this.local = { address: options.address, audioPort, ...(textPort === undefined ? {} : { textPort }) };
    for (const socket of [sockets.rtp, sockets.rtcp, sockets.text]) socket?.on("error", ignore);
    sockets.rtp.on("message", (packet, from) => this.#takeAudio(packet, from));
    sockets.rtcp.on("message", (packet, from) =>
      this.#streams?.rtcp.take(packet, from.address, options.now()),
    );
    sockets.text?.on("message", (packet, from) => this.#text?.take(packet, from, options.now()));
  }

  /** Binds RTP to an even port and RTCP to the next; rejects OutdialError `no-media-port` when none is free. */
  static async open(options: AudioLineOptions): Promise<AudioLine> {
    const { address, entropy, portRange, withText } = options;
    const request = { address, entropy, ...(portRange === undefined ? {} : { range: portRange }) };
    const { rtp, rtcp } = await openPortPair(request);
    if (!withText) return new AudioLine(options, { rtp, rtcp, text: undefined });
    try {
      const { socket } = await openEvenPort(request);
      return new AudioLine(options, { rtp, rtcp, text: socket });
    } catch (error) {
      rtp.close();
      rtcp.close();
      throw error;
    }
  }

  /** What is queued to be said and not yet sent. */
  get queuedMs(): number {
    return this.#playout.queuedMs;
  }

  /** Answered: from the next tick on a packet goes out each 20 ms and what comes is heard. */
  connect(media: LineMedia): void {
    if (this.#streams !== undefined) return this.changeMedia(media);
    const { entropy, now } = this.#options;
    const { rtp, rtcp, text } = this.#sockets;
    const sender = new RtpSender(rtp, entropy);
    const receiver = new RtpReceiver(media.audio);
    secureStreams({ sender, receiver }, undefined, media.audio.srtp);
    this.#streams = { sender, receiver, rtcp: new RtcpChannel(rtcp, { sender, receiver }, entropy) };
    if (media.text !== undefined && text !== undefined)
      this.#text = new TextChannel(text, media.text, entropy);
    this.#media = media;
    this.#listeningSince = now();
  }

  /** Agreed anew: hold, resume, another codec, address or key. */
  changeMedia(media: LineMedia): void {
    const { entropy, now } = this.#options;
    const listened = this.#listens();
    if (this.#streams !== undefined) {
      secureStreams(this.#streams, this.#media?.audio.srtp, media.audio.srtp);
      this.#streams.receiver.change(media.audio);
    }
    this.#media = media;
    if (!listened && this.#listens()) this.#listeningSince = now();
    if (media.text === undefined || this.#sockets.text === undefined) this.#text = undefined;
    else if (this.#text !== undefined) this.#text.change(media.text);
    else this.#text = new TextChannel(this.#sockets.text, media.text, entropy);
  }

  /** Called by the ticker each 20 ms. */
  tick(now: number): void {
    if (this.#streams === undefined || this.#closing !== undefined) return;
    this.#hear(this.#streams, now);
    this.#say(this.#streams, now);
    this.#options.recorder?.write(this.#said, this.#heard);
    this.#frames++;
    this.#streams.rtcp.tick(now);
    const typed = this.#text?.tick(now) ?? "";
    if (typed !== "") this.onText(typed);
    for (let digit = this.#digits.shift(); digit !== undefined; digit = this.#digits.shift())
      this.onDtmf(digit);
    this.#watch(this.#streams, now);
  }

  /** Called by the ticker when so many ticks could not be made up for: both directions were silent. */
  skip(frames: number): void {
    if (this.#streams === undefined || this.#closing !== undefined) return;
    this.#streams.sender.advance(frames);
    this.#frames += frames;
    this.#said.fill(0);
    this.#heard.fill(0);
    for (let i = 0; i < frames; i++) this.#options.recorder?.write(this.#said, this.#heard);
  }

  /** Appends 8 kHz sound to the segment; `final` (default true) also ends it. Segments play in order of first appearance. */
  play(segmentId: number, pcm: Int16Array, options: { readonly final?: boolean } = {}): void {
    this.#playout.append(segmentId, pcm);
    if (options.final ?? true) this.#playout.finish(segmentId);
  }

  /** The sound is not copied: it must not be changed afterwards. */
  append(segmentId: number, pcm: Int16Array): void {
    this.#playout.append(segmentId, pcm);
  }

  finish(segmentId: number): void {
    this.#playout.finish(segmentId);
  }

  pause(): void {
    this.#playout.pause();
  }

  /** From the sample where it was paused. */
  resume(): void {
    this.#playout.resume();
  }

  /** Empties the queue and ends a pause; tells what of each unfinished segment was played. */
  clear(): readonly CutSegment[] {
    return this.#playout.clear();
  }

  /** False when telephone-event was not agreed or a character is no key: nothing is sent then. */
  sendDtmf(digits: string, timing: DtmfTiming = {}): boolean {
    if (this.#media?.audio.dtmfPayloadType === undefined || !isDialString(digits)) return false;
    this.#dtmf.press(digits, timing);
    return true;
  }

  /** False when text was not agreed: nothing is sent then. */
  sendText(text: string): boolean {
    this.#text?.type(text);
    return this.#text !== undefined;
  }

  /** Figures of both directions, RTCP's included; `mos` is the estimated quality of what is heard, 1 to 4.41. */
  stats(): Readonly<Record<string, number>> {
    if (this.#streams === undefined) return {};
    const { sender, receiver, rtcp } = this.#streams;
    return {
      packetsSent: sender.packets,
      octetsSent: sender.octets,
      sendErrors: sender.errors,
      maxSendGapMs: sender.largestGapMs,
      underruns: this.#playout.underruns,
      ...receiver.figures(rtcp.roundTripMs ?? 0),
      ...rtcp.figures(),
    };
  }

  /** Says goodbye, gives the ports up or to the drain, ends the recording. Idempotent; never rejects. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { drain, now, recorder } = this.#options;
    const rtcp = this.#streams?.rtcp;
    if (rtcp !== undefined) await new Promise<void>((left) => rtcp.close(now(), left));
    for (const socket of [this.#sockets.rtp, this.#sockets.rtcp, this.#sockets.text]) {
      if (drain === undefined) socket?.close();
      else if (socket !== undefined) drain.add(socket);
    }
    await recorder?.close();
  }

  #takeAudio(packet: Uint8Array, from: RemoteInfo): void {
    if (this.#closing !== undefined) return;
    const digit = this.#streams?.receiver.take(packet, from, this.#options.now());
    if (digit !== undefined) this.#digits.push(digit);
  }

  #hear({ receiver }: Streams, now: number): void {
    const pcm = this.#heard;
    let origin: FrameOrigin = "silent";
    if (this.#listens()) origin = receiver.pull(pcm);
    else pcm.fill(0);
    const speech = this.#speech.push(pcm);
    const elapsedMs = (this.#frames + 1) * frameMs;
    if (this.detectTones) this.#searchTones(pcm, elapsedMs);
    const info = this.#info;
    info.at = now;
    info.elapsedMs = elapsedMs;
    info.levelDb = levelDb(pcm);
    info.origin = origin;
    this.onFrame(pcm, speech, info);
  }

  #searchTones(pcm: Int16Array, elapsedMs: number): void {
    const tone = this.#tones.push(pcm);
    if (tone === undefined) return;
    const atMs = elapsedMs - tone.agoMs;
    if (tone.type === "beep") this.onBeep(atMs);
    else this.onTone({ type: "fax", frequencyHz: tone.frequencyHz, atMs });
  }

  #say({ sender, receiver }: Streams, now: number): void {
    const { direction, dtmfPayloadType } = receiver.media;
    const sends = direction === "sendrecv" || direction === "sendonly";
    if (!sends) {
      this.#said.fill(0);
      sender.interrupt();
    } else if (dtmfPayloadType !== undefined && this.#dtmf.next(sender.timestamp)) {
      this.#said.fill(0);
      sender.sendEvent(this.#dtmf, dtmfPayloadType, receiver.target, now);
    } else {
      const sounds = this.#playout.pull(this.#said, this.#played);
      this.#speech.extraMarginDb = sounds ? echoMarginDb : 0;
      sender.sendAudio(this.#said, receiver.media, receiver.target, now);
    }
    sender.advance(1);
  }

  #listens(): boolean {
    const direction = this.#media?.audio.direction;
    return direction === "sendrecv" || direction === "recvonly";
  }

  #watch({ receiver }: Streams, now: number): void {
    if (this.#timedOut || !this.#listens()) return;
    const first = receiver.heardAt === undefined;
    const { firstPacketTimeoutMs = 30_000, packetTimeoutMs = 15_000 } = this.#options;
    const since = Math.max(this.#listeningSince, receiver.heardAt ?? 0);
    if (now - since < (first ? firstPacketTimeoutMs : packetTimeoutMs)) return;
    this.#timedOut = true;
    this.onMediaTimeout(first);
  }
}

function ignore(): void {}
