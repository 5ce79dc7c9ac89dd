import { createTasks, type Log, type Tasks } from "#host";
import { levelDb } from "#media";
import type { HeardFrame, HearEvent, TranscriberSession } from "#talk";
import type { EarsProtocol, Heard } from "./ears-protocol.ts";
import type { Endpoint } from "./endpoint.ts";
import { bytesPerMs, FrameEncoder } from "./frame-encoder.ts";
import { HearQueue } from "./hear-queue.ts";
import { isObject, parseJson } from "./json-value.ts";
import { pause } from "./patience.ts";
import { providerError, type ProviderError } from "./provider-error.ts";
import { openSocket, type Socket, type SocketEnd } from "./socket.ts";
import { StreamTimeline } from "./stream-timeline.ts";

export interface EarsOptions {
  readonly endpoint: Endpoint;
  /** A fresh one for each connection. */
  readonly protocol: () => EarsProtocol;
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** 20 ms as they go to the provider. */
interface Packet {
  readonly octets: Uint8Array;
  readonly atMs: number;
  sent: boolean;
}

/** A connection and how far it is. */
interface Link {
  readonly socket: Socket;
  readonly protocol: EarsProtocol;
  readonly timeline: StreamTimeline;
  flowing: boolean;
  heard: boolean;
}

const frameMs = 20;
/** What is kept to be said again on a new connection. */
const replayMs = 10_000;
const dropSilenceAboveMs = 2000;
const tooMuchUnsentMs = 8000;
const silenceDb = -50;
const readyLimitMs = 5000;
const reconnectPausesMs = [250, 1000];
/** Close codes after which another try would end the same way: what we sent was not accepted. */
const finalCloseCodes = [1003, 1007, 1008, 1009];

/** Opens a streaming transcriber's session; rejects with a `provider-…` error when the first connection fails. */
export async function openEarsSession(options: EarsOptions): Promise<TranscriberSession> {
  const session = new EarsSession(options);
  await session.connect();
  return session;
}

/**
 * A transcriber behind a WebSocket. Writing never waits: above 2 s of unsent audio silence is left out, above 8 s the
 * connection is given up. A lost one is replaced twice in a row and hears again what had no final text yet.
 */
class EarsSession implements TranscriberSession {
  readonly #options: EarsOptions;
  readonly #tasks: Tasks;
  readonly #queue = new HearQueue();
  readonly #closing = new AbortController();
  readonly #encoder: FrameEncoder;
  readonly #bytesPerMs: number;
  #recent: Packet[] = [];
  #bundle: Uint8Array[] = [];
  #link: Link | undefined;
  #ready = Promise.withResolvers<void>();
  #setbacks = 0;
  #keepAlive: Disposable | undefined;
  #lastSentAt = 0;

  constructor(options: EarsOptions) {
    this.#options = options;
    this.#tasks = createTasks(options.log);
    const { audio } = options.protocol();
    this.#encoder = new FrameEncoder(audio);
    this.#bytesPerMs = bytesPerMs(audio);
    options.signal.addEventListener("abort", this.#aborted, { once: true });
  }

  get events(): AsyncIterable<HearEvent> {
    return this.#queue;
  }

  get bufferedMs(): number {
    const waiting = this.#recent.reduce((count, packet) => count + (packet.sent ? 0 : 1), 0) * frameMs;
    return waiting + this.#unsentMs();
  }

  write(frame: HeardFrame): void {
    if (this.#queue.ended) return;
    const octets = this.#encoder.encode(frame);
    const unsentMs = this.#unsentMs();
    if (unsentMs > dropSilenceAboveMs && levelDb(frame.pcm) < silenceDb) return;
    this.#recent.push({ octets, atMs: frame.atMs, sent: false });
    if (this.#recent.length * frameMs > replayMs) this.#recent.shift();
    if (unsentMs > tooMuchUnsentMs) this.#giveUp("it takes the audio too slowly");
    else this.#flow();
  }

  finalize(): void {
    const link = this.#link;
    if (link === undefined || !link.flowing) return;
    this.#sendBundle(link);
    this.#say(link, link.protocol.finalize);
    if (link.protocol.finalizeStopsAudio) link.flowing = false;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const link = this.#link;
    if (link?.protocol.goodbye !== undefined) this.#say(link, [link.protocol.goodbye]);
    this.#unlink();
    this.#queue.end();
    this.#options.signal.removeEventListener("abort", this.#aborted);
    this.#closing.abort(new DOMException("The session is closed", "AbortError"));
    await this.#tasks[Symbol.asyncDispose]();
  }

  /** Resolves when audio may flow. */
  async connect(): Promise<void> {
    const { endpoint, signal } = this.#options;
    const either = AbortSignal.any([signal, this.#closing.signal]);
    const protocol = this.#options.protocol();
    const ready = (this.#ready = Promise.withResolvers<void>());
    ready.promise.catch(() => undefined); // Nobody waits for it on protocols that are ready at once.
    const timeline = new StreamTimeline();
    const early: string[] = [];
    let link: Link | undefined;
    let ended: SocketEnd | undefined;
    // The first message, and the end, may come before the socket is ours.
    const owner = {
      onText: (text: string): void => {
        if (link === undefined) early.push(text);
        else this.#take(link, text);
      },
      onClose: (end: SocketEnd): void => {
        ended = end;
        if (link !== undefined) this.#closed(link, end);
      },
    };
    const socket = await openSocket(endpoint, protocol.address, owner, either);
    link = { socket, protocol, timeline, flowing: !protocol.waitsForReady, heard: false };
    this.#link = link;
    this.#say(link, protocol.hello);
    for (const text of early) this.#take(link, text);
    if (ended !== undefined) this.#closed(link, ended);
    if (protocol.waitsForReady) await this.#awaitReady(ready.promise);
    this.#watchSilence(link);
    this.#flow();
  }

  readonly #aborted = (): void => {
    this.#queue.abort(this.#options.signal.reason);
    this.#unlink();
  };

  async #awaitReady(ready: Promise<void>): Promise<void> {
    const { endpoint } = this.#options;
    const late = providerError("provider-timeout", `${endpoint.name} did not begin the session in time`);
    using _limit = endpoint.clock.alarm(endpoint.clock.now() + readyLimitMs, () => this.#ready.reject(late));
    try {
      await ready;
    } catch (error) {
      this.#link?.socket.close();
      this.#unlink();
      throw error;
    }
  }

  #unsentMs(): number {
    const link = this.#link;
    if (link === undefined) return 0;
    return link.socket.unsentBytes / (this.#bytesPerMs * link.protocol.overhead);
  }

  /** Sends what has not been sent on this connection. */
  #flow(): void {
    const link = this.#link;
    if (link === undefined || !link.flowing) return;
    for (const packet of this.#recent) {
      if (packet.sent) continue;
      packet.sent = true;
      link.timeline.sent(packet.atMs, frameMs);
      this.#bundle.push(packet.octets);
      if (this.#bundle.length * frameMs >= link.protocol.packetMs) this.#sendBundle(link);
    }
  }

  #sendBundle(link: Link): void {
    if (this.#bundle.length === 0) return;
    link.socket.send(link.protocol.packet(Buffer.concat(this.#bundle)));
    this.#bundle = [];
    this.#lastSentAt = this.#options.endpoint.clock.now();
  }

  #say(link: Link, texts: readonly string[]): void {
    for (const text of texts) link.socket.send(text);
  }

  #watchSilence(link: Link): void {
    const { clock } = this.#options.endpoint;
    const { keepAlive } = link.protocol;
    if (keepAlive === undefined || link !== this.#link) return;
    this.#keepAlive?.[Symbol.dispose]();
    this.#keepAlive = clock.alarm(clock.now() + keepAlive.everyMs, () => {
      if (clock.now() - this.#lastSentAt >= keepAlive.everyMs) this.#say(link, [keepAlive.say]);
      this.#watchSilence(link);
    });
  }

  #take(link: Link, text: string): void {
    if (link !== this.#link) return;
    const message = parseJson(text);
    if (!isObject(message)) return;
    for (const heard of link.protocol.read(message, link.timeline)) this.#heard(link, heard);
  }

  #heard(link: Link, heard: Heard): void {
    switch (heard.type) {
      case "ready":
        link.flowing = true;
        this.#ready.resolve();
        break;
      case "resume":
        this.#say(link, heard.say);
        link.flowing = true;
        this.#flow();
        break;
      case "failed":
        this.#failed(heard.words, heard.passing);
        break;
      case "final":
        this.#recent = this.#recent.filter((packet) => !packet.sent || packet.atMs >= heard.endMs);
        this.#pass(link, heard);
        break;
      case "speech-started":
      case "partial":
      case "turn-ending":
      case "turn-resumed":
      case "turn-ended":
      case "degraded":
        this.#pass(link, heard);
    }
  }

  #pass(link: Link, event: HearEvent): void {
    link.heard = true;
    this.#setbacks = 0;
    this.#queue.push(event);
  }

  #failed(words: string, passing: boolean): void {
    const { endpoint } = this.#options;
    const said = endpoint.quote(words);
    this.#ready.reject(providerError("provider-refused", `${endpoint.name} refused the session: ${said}`));
    if (passing) this.#giveUp(said);
    else this.#lost(said);
  }

  #closed(link: Link, end: SocketEnd): void {
    const { endpoint } = this.#options;
    const why = end.reason === "" ? `code ${end.code}` : `${end.code}: ${end.reason}`;
    this.#ready.reject(
      providerError("provider-unreachable", `${endpoint.name} closed the connection (${why})`),
    );
    if (link !== this.#link) return;
    if (finalCloseCodes.includes(end.code)) this.#lost(`it closed the connection (${why})`);
    else this.#giveUp(`it closed the connection (${why})`);
  }

  /** Leaves this connection and tries another. */
  #giveUp(reason: string): void {
    this.#link?.socket.close();
    this.#unlink();
    if (this.#queue.ended) return;
    this.#queue.push({ type: "degraded", reason, recoverable: true });
    this.#tasks.spawn("transcriber connection", async () => this.#reconnect(reason));
  }

  async #reconnect(reason: string): Promise<void> {
    const { endpoint, signal, log } = this.#options;
    const either = AbortSignal.any([signal, this.#closing.signal]);
    let why = reason;
    while (!either.aborted && this.#setbacks < reconnectPausesMs.length) {
      try {
        await pause(endpoint.clock, reconnectPausesMs[this.#setbacks++] ?? 0, either);
        for (const packet of this.#recent) packet.sent = false;
        await this.connect();
        log.info("transcriber connected again", { provider: endpoint.name });
        return;
      } catch (error) {
        if (either.aborted) return;
        why = error instanceof Error ? error.message : why;
        if (!isPassing(error)) break;
      }
    }
    this.#lost(why);
  }

  #lost(reason: string): void {
    this.#link?.socket.close();
    this.#unlink();
    this.#queue.push({ type: "degraded", reason, recoverable: false });
    this.#queue.end();
  }

  #unlink(): void {
    this.#keepAlive?.[Symbol.dispose]();
    this.#link = undefined;
    this.#bundle = [];
  }
}

function isPassing(error: unknown): error is ProviderError {
  return error instanceof Error && "retryable" in error && error.retryable === true;
}
