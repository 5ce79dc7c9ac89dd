/** A session description (RFC 8866) as far as calls need it: times, bandwidths, keys and contact data are not kept. */
export interface SessionDescription {
  readonly origin?: SdpOrigin;
  /** `-` when the session has no name. */
  readonly name: string;
  readonly connection?: SdpAddress;
  readonly attributes: readonly SdpAttribute[];
  readonly media: readonly MediaDescription[];
}

/** RFC 8866 5.2. Id and version are numbers of up to 64 bits, or what a careless peer wrote there: they stay text. */
export interface SdpOrigin {
  readonly username: string;
  readonly sessionId: string;
  readonly sessionVersion: string;
  readonly address: SdpAddress;
}

export interface SdpAddress {
  readonly family: "IP4" | "IP6";
  /** An address, or a host name; multicast suffixes (`/127`) are cut off. */
  readonly host: string;
}

export interface SdpAttribute {
  readonly name: string;
  /** Absent: a flag. */
  readonly value?: string;
}

/** One `m=` section. */
export interface MediaDescription {
  /** `audio`, `text`, `video`, `image`, … */
  readonly kind: string;
  /** 0 to 65535; 0: refused or unused. */
  readonly port: number;
  /** `RTP/AVP`, … */
  readonly protocol: string;
  readonly formats: readonly string[];
  readonly connection?: SdpAddress;
  readonly attributes: readonly SdpAttribute[];
}
