const packetsToLearn = 3;
const learningMs = 5000;

/** A transport address of the peer. */
export interface Endpoint {
  readonly address: string;
  readonly port: number;
}

/**
 * Decides whose packets are heard and where ours go (symmetric RTP, RFC 4961). The signalled address is trusted from
 * its first packet on and for good. Behind a NAT the peer sends from elsewhere: three valid packets in a row from one
 * address make it the peer, once; only the signalled address can take that back. Nobody else is ever heard.
 */
export class SourceLock {
  readonly #signalled: Endpoint;
  #peer: Endpoint | undefined;
  #candidateAddress = "";
  #candidatePort = 0;
  #candidatePackets = 0;
  #candidateSince = 0;

  constructor(signalled: Endpoint) {
    this.#signalled = signalled;
  }

  /** Where to send. */
  get target(): Endpoint {
    return this.#peer ?? this.#signalled;
  }

  /** Whether a packet that is valid in all else comes from the peer. */
  admits(address: string, port: number, now: number): boolean {
    const peer = this.#peer;
    if (peer !== undefined && peer.port === port && peer.address === address) return true;
    if (port === this.#signalled.port && address === this.#signalled.address) {
      this.#peer = this.#signalled;
      return true;
    }
    if (peer !== undefined) return false;
    return this.#learn(address, port, now);
  }

  #learn(address: string, port: number, now: number): boolean {
    const same = address === this.#candidateAddress && port === this.#candidatePort;
    if (!same || now - this.#candidateSince > learningMs) {
      this.#candidateAddress = address;
      this.#candidatePort = port;
      this.#candidatePackets = 0;
      this.#candidateSince = now;
    }
    if (++this.#candidatePackets < packetsToLearn) return false;
    this.#peer = { address, port };
    return true;
  }
}
