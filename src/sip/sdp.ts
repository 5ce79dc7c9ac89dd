/** SDP (RFC 8866) and offer/answer (RFC 3264) for one audio stream and, optionally, real-time text. */
export type { LineMedia, LocalMedia } from "./sdp-media.ts";
export { answerTo, offerOf, readAnswer } from "./sdp-offer.ts";
export { parseSdp } from "./sdp-parse.ts";
export type { SessionDescription } from "./sdp-session.ts";
export { writeSdp } from "./sdp-write.ts";
