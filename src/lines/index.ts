/**
 * Audio on real sockets. `openLines` gives the main thread its call workers: each carries the RTP, the recording and the
 * conversation of many calls on one 20 ms clock. The parts of a line are here for whoever paces lines of its own.
 */
export { AudioLine } from "./audio-line.ts";
export type { LineAddress, LineMedia } from "./line-media.ts";
export type { Line } from "./line.ts";
export { openLines } from "./open-lines.ts";
export type { LineEvent, LineReport } from "./protocol.ts";
export { openRecorder, repairWav } from "./recorder.ts";
export { startTicker } from "./ticker.ts";
