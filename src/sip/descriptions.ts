import { answerTo, offerOf, type LineMedia, type LocalMedia } from "./sdp.ts";

/** Our side of the session so far: the description sent last and its version (RFC 3264 8). */
export interface LocalSession {
  readonly local: LocalMedia;
  readonly id: number;
  readonly version: number;
  readonly sdp: string;
}

/** Our descriptions of one session. The version grows only when the text differs from the one sent last. */
export interface Descriptions {
  offer(local: LocalMedia): string;
  /** Undefined: nothing could be agreed. */
  answer(offer: string, local: LocalMedia): { readonly sdp: string; readonly media: LineMedia } | undefined;
}

export function createDescriptions(start: LocalSession): Descriptions {
  const { id } = start;
  let { version, sdp } = start;

  return {
    offer: (local) => describe((at) => ({ sdp: offerOf(local, { id, version: at }) }))?.sdp ?? sdp,
    answer: (offer, local) =>
      describe((at) => {
        const made = answerTo(offer, local, { id, version: at });
        return made.ok ? made : undefined;
      }),
  };

  function describe<Made extends { readonly sdp: string }>(
    make: (version: number) => Made | undefined,
  ): Made | undefined {
    const same = make(version);
    if (same === undefined || same.sdp === sdp) return same;
    const made = make(version + 1);
    if (made === undefined) return undefined;
    version += 1;
    sdp = made.sdp;
    return made;
  }
}
