/** A SIP message as data (RFC 3261 7). Header names are in their long, canonical spelling; values are unfolded and trimmed. */
export type SipMessage = SipRequest | SipResponse;

export interface SipRequest {
  readonly type: "request";
  readonly method: string;
  /** Request-URI as written. */
  readonly uri: string;
  readonly headers: readonly SipHeader[];
  readonly body: Uint8Array;
}

export interface SipResponse {
  readonly type: "response";
  /** 100..699 */
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly SipHeader[];
  readonly body: Uint8Array;
}

export interface SipHeader {
  readonly name: string;
  readonly value: string;
}
