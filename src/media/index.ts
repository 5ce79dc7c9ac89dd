/**
 * Sound and text in 20 ms frames: G.711, G.722, RTP, RTCP and their encryption, jitter buffer with concealment, comfort
 * noise, telephone events, tones, voice activity, quality, resampling, WAV headers, real-time text, pacing arithmetic.
 * Pure and hot: typed arrays, nothing allocated per packet or per sample; time comes in as an argument.
 * PCM is 16 bit, mono, 8 kHz unless a name says otherwise.
 */
export { AudioDecoder, AudioEncoder, type Codec } from "./codec.ts";
export { ComfortNoise, comfortNoiseType } from "./comfort-noise.ts";
export { DtmfReceiver, DtmfSender, isDialString, type DtmfTiming } from "./dtmf.ts";
export { decodeG711, encodeG711, type G711Codec } from "./g711.ts";
export { frameMs, frameSamples, sampleRateHz } from "./frame.ts";
export { JitterBuffer, type FrameOrigin } from "./jitter-buffer.ts";
export { levelDb, SpeechDetector } from "./level.ts";
export { Pacer } from "./pacer.ts";
export { estimateMos } from "./quality.ts";
export { ReceptionStats } from "./reception.ts";
export { resample, Resampler } from "./resample.ts";
export {
  ntpMiddle,
  readRtcp,
  rtcpDelayMs,
  writeBye,
  writeReport,
  type ReportBlock,
  type SenderFacts,
} from "./rtcp.ts";
export { createRtpHeader, readRtp, rtpHeaderBytes, writeRtpHeader, type RtpHeader } from "./rtp.ts";
export { SrtpReceiver, SrtpSender } from "./srtp.ts";
export { srtpTagBytes, type SrtpAead, type SrtpCrypto, type SrtpKey, type SrtpSuite } from "./srtp-suite.ts";
export { TextReceiver } from "./text-receiver.ts";
export { TextSender } from "./text-sender.ts";
export { beepTone } from "./tone-generator.ts";
export { ToneDetector } from "./tone-detector.ts";
export { readWavHeader, wavHeader, wavHeaderBytes } from "./wav.ts";
