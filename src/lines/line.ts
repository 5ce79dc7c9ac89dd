import type { LineAddress, LineMedia } from "./line-media.ts";
import type { LineEndedBy, LineReport } from "./protocol.ts";

/** The audio side of one call, as the main thread sees it. */
export interface Line {
  readonly local: LineAddress;
  /** It rings: the dialog starts thinking and the first words are rendered. May be left out. */
  prepare(): void;
  /** Answered: audio flows, the conversation starts. */
  connect(media: LineMedia): void;
  changeMedia(media: LineMedia): void;
  /** A digit that came by SIP INFO. */
  pressed(digit: string): void;
  /** Ends audio, recording and, if it still runs, the conversation, as ended by `endedBy` (default: the callee). Idempotent, never rejects. */
  close(endedBy?: LineEndedBy): Promise<LineReport>;
}
