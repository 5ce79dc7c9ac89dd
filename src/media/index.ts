/**
 * Sound and text in 20 ms frames: G.711, RTP and RTCP, jitter buffer with concealment, telephone events,
 * tones, voice activity, resampling, WAV headers, real-time text, pacing arithmetic.
 * Pure and hot: typed arrays, nothing allocated per packet or per sample; time comes in as an argument.
 * PCM is 16 bit, mono, 8 kHz unless a name says otherwise.
 */
export { DtmfReceiver, DtmfSender, isDialString, type DtmfTiming } from "./dtmf.ts";
export { decodeG711, encodeG711, type G711Codec } from "./g711.ts";
export { frameMs, frameSamples, sampleRateHz } from "./frame.ts";
export { JitterBuffer, type FrameOrigin } from "./jitter-buffer.ts";
export { levelDb, SpeechDetector, type SpeechOptions } from "./level.ts";
export { Pacer } from "./pacer.ts";
export { ReceptionStats } from "./reception.ts";
export { resample, Resampler } from "./resample.ts";
export {
  ntpMiddle,
  readRtcp,
  rtcpDelayMs,
  writeBye,
  writeReport,
  type ReportBlock,
  type RtcpPacket,
  type SenderFacts,
} from "./rtcp.ts";
export { createRtpHeader, readRtp, rtpHeaderBytes, writeRtpHeader, type RtpHeader } from "./rtp.ts";
export { TextReceiver } from "./text-receiver.ts";
export { TextSender } from "./text-sender.ts";
export { applyText } from "./text.ts";
export { beepTone, dtmfTone, ringbackTone, silence, sineTone } from "./tone-generator.ts";
export { ToneDetector, type ToneFound } from "./tone-detector.ts";
export { encodeWav, readWavHeader, wavHeader, wavHeaderBytes, type WavFormat } from "./wav.ts";
