import type { Clock, Entropy } from "#base";
import { createTasks, hashes, localAddressTowards, type Log } from "#host";
import { startTicker } from "#lines";
import { openSipEndpoint } from "#trunks";
import { takeCall } from "./callee-call.ts";
import type { CarrierEvent } from "./carrier-event.ts";
import { languageOf, wordsOf, type PhraseName } from "./phrases.ts";
import { murmur, type Voice } from "./voice.ts";

export interface CarrierOptions {
  readonly address: string;
  /** 0: any free port. */
  readonly port: number;
  readonly clock: Clock;
  readonly entropy: Entropy;
  readonly log: Log;
  /** Undefined: the callees murmur. */
  readonly voice: Voice | undefined;
  readonly onEvent?: (event: CarrierEvent) => void;
}

export interface Carrier {
  readonly address: string;
  readonly port: number;
  /** Ends its calls and frees the port. */
  close(): Promise<void>;
}

/** A telephone network on one UDP port: real SIP and RTP, the dialled number chooses who answers. Rejects with `sip-port-busy`. */
export async function openCarrier(options: CarrierOptions): Promise<Carrier> {
  const { clock, entropy, log } = options;
  const tasks = createTasks(log);
  const ticker = startTicker({ now: () => clock.now() });
  const say = speaker(options.voice, log);
  const mediaAddress = addressFinder(options.address);
  const endpoint = await openSipEndpoint({
    address: options.address,
    port: options.port,
    clock,
    entropy,
    hashes,
    userAgentName: "outdial-sandbox",
    log,
    trusts: () => true, // Anyone may call the sandbox: it leads nowhere.
    onInvite: (call) => {
      tasks.spawn(`sandbox call ${call.sipCallId}`, () =>
        takeCall(call, { clock, entropy, log, ticker, mediaAddress, say, report: options.onEvent ?? ignore }),
      );
    },
  }).catch((error: unknown) => {
    ticker.close();
    throw error;
  });
  return { ...endpoint.local, close };

  async function close(): Promise<void> {
    await endpoint.close();
    await tasks[Symbol.asyncDispose]();
    ticker.close();
  }
}

/** Each phrase is spoken once and kept; a voice that fails is replaced by the murmur for that phrase. */
function speaker(
  voice: Voice | undefined,
  log: Log,
): (phrase: PhraseName, language: string) => Promise<Int16Array> {
  const kept = new Map<string, Promise<Int16Array>>();
  return (phrase, language) => {
    const key = `${language} ${phrase}`;
    const words = wordsOf(phrase, language);
    let speech = kept.get(key);
    if (speech === undefined) {
      speech = (voice?.say(words, languageOf(language)) ?? Promise.resolve(murmur(words))).catch(
        (error: unknown) => {
          log.warn("the sandbox murmurs, its voice failed", { error: String(error) });
          return murmur(words);
        },
      );
      kept.set(key, speech);
    }
    return speech;
  };
}

/** A wildcard address cannot be offered: then it is the one that leads to the caller. */
function addressFinder(bound: string): (remote: string) => Promise<string> {
  const isWildcard = bound === "0.0.0.0" || bound === "::";
  return isWildcard ? localAddressTowards : () => Promise.resolve(bound);
}

function ignore(): void {
  // Nobody keeps a log.
}
