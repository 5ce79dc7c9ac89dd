import { SrtpReceiver, SrtpSender, type SrtpKey, type SrtpSuite } from "#media";
import type { LineMedia } from "./line-media.ts";
import type { RtpReceiver } from "./rtp-receiver.ts";
import type { RtpSender } from "./rtp-sender.ts";
import { srtpCrypto } from "./srtp-crypto.ts";

type Srtp = LineMedia["audio"]["srtp"];

/**
 * Puts the streams under the keys agreed on, or in the clear when there are none. A key that stays keeps its roll-over
 * counter and its list of packets seen (RFC 3711 3.3.1): a new agreement with the same key is no new stream.
 */
export function secureStreams(
  streams: { readonly sender: RtpSender; readonly receiver: RtpReceiver },
  before: Srtp,
  next: Srtp,
): void {
  const { sender, receiver } = streams;
  if (next === undefined) {
    sender.guard = undefined;
    receiver.guard = undefined;
    return;
  }
  const { suite, localKey, remoteKey } = next;
  const sameSuite = before?.suite === suite;
  if (!sameSuite || before.localKey !== localKey)
    sender.guard = new SrtpSender(keyOf(suite, localKey), srtpCrypto);
  if (!sameSuite || before.remoteKey !== remoteKey)
    receiver.guard = new SrtpReceiver(keyOf(suite, remoteKey), srtpCrypto);
}

function keyOf(suite: SrtpSuite, base64: string): SrtpKey {
  return { suite, key: Buffer.from(base64, "base64") };
}
