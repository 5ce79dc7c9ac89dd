import type { PlaybookSettings, Script } from "#domain";
import { steadyClock, systemEntropy } from "#host";
import type { ConversationPlan } from "#talk";
import { onTestFinished } from "vitest";
import { AudioLine } from "../../src/lines/audio-line.ts";
import type { LineAddress, LineMedia } from "../../src/lines/line-media.ts";
import { startTicker } from "../../src/lines/ticker.ts";

/** A plan with nothing but a script in English. */
export function scriptPlan(script: Script, changes: Partial<PlaybookSettings> = {}): ConversationPlan {
  const settings: PlaybookSettings = {
    name: "test",
    language: "en",
    voice: undefined,
    interrupt: false,
    opening: undefined,
    script,
    prompt: undefined,
    voicemail: { action: "hang-up", message: undefined },
    output: undefined,
    success: undefined,
    rtt: false,
    speakers: { agent: "Assistant", callee: "Customer" },
    silence: { promptAfterMs: 6000, maxPrompts: 1, prompt: undefined },
    goodbye: undefined,
    maxCallMs: 60_000,
    ...changes,
  };
  return { settings, params: {}, language: "en", voiceId: "6", voiceModel: "fast", interrupt: false };
}

/** What two lines on this machine agree on, as seen by the one that talks to `remote`. */
export function mediaTo(remote: LineAddress): LineMedia {
  return {
    audio: {
      remote: { address: remote.address, port: remote.audioPort, rtcpPort: remote.audioPort + 1 },
      codec: "PCMU",
      payloadType: 0,
      dtmfPayloadType: 101,
      direction: "sendrecv",
    },
    ...(remote.textPort === undefined
      ? {}
      : {
          text: {
            remote: { address: remote.address, port: remote.textPort },
            payloadType: 98,
            redPayloadType: 100,
          },
        }),
  };
}

/** A callee on a clock of the test's own thread. */
export async function openPeer(withText = false): Promise<AudioLine> {
  const now = (): number => steadyClock.now();
  const peer = await AudioLine.open({ address: "127.0.0.1", withText, now, entropy: systemEntropy });
  const ticker = startTicker({ now });
  ticker.register(peer);
  onTestFinished(async () => {
    ticker.close();
    await peer.close();
  });
  return peer;
}

/** Something the speech detector takes for a voice: noise that swells like syllables. */
export function babble(ms: number): Int16Array {
  let seed = 7;
  return Int16Array.from({ length: ms * 8 }, (_, i) => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    const swell = 0.55 + 0.45 * Math.sin((2 * Math.PI * 5 * i) / 8000);
    return swell * 6000 * (seed / 1_073_741_824 - 1);
  });
}
