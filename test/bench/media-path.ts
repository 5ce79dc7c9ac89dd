/*
 * What one 20 ms frame of one call costs, in nanoseconds and as a multiple of a plain loop over 160 samples measured in
 * the same run, so that figures of different machines can be compared: `node test/bench/media-path.ts`.
 */
import { srtpCrypto } from "../../src/lines/srtp-crypto.ts";
import { AudioDecoder, AudioEncoder } from "../../src/media/codec.ts";
import { createRtpHeader, readRtp, rtpHeaderBytes, writeRtpHeader } from "../../src/media/rtp.ts";
import { decodeG711, encodeG711 } from "../../src/media/g711.ts";
import { JitterBuffer } from "../../src/media/jitter-buffer.ts";
import { SrtpReceiver, SrtpSender } from "../../src/media/srtp.ts";
import { srtpKeyBytes, srtpTagBytes } from "../../src/media/srtp-suite.ts";
import { SpeechDetector } from "../../src/media/level.ts";
import { Resampler } from "../../src/media/resample.ts";
import { ToneDetector } from "../../src/media/tone-detector.ts";
import { speechLike } from "../media/signals.ts";

const rounds = 7;
const framesPerRound = 20_000;
const voice = speechLike(20_000);
const frame = new Int16Array(160);
const heard = new Int16Array(160);
const stereo = new Int16Array(320);
const packet = new Uint8Array(rtpHeaderBytes + 160);
const header = createRtpHeader();
let sink = 0;

const baselineNs = measure(() => {
  let sum = 0;
  for (let i = 0; i < 160; i++) sum += (frame[i] ?? 0) * (frame[i] ?? 0);
  sink += sum;
});
console.log(`${"baseline: one loop over a frame".padEnd(50)}${format(baselineNs)}  ×1`);

report("encode and write the header", (index) => {
  encodeG711("PCMA", frame, packet, rtpHeaderBytes);
  header.sequence = index & 0xffff;
  header.timestamp = (index * 160) >>> 0;
  writeRtpHeader(packet, header);
});
report("read the header and decode", () => {
  if (readRtp(packet, header)) sink += decodeG711("PCMA", packet, heard, header);
});
report(
  "jitter buffer, nothing lost",
  playThrough(() => true),
);
report(
  "jitter buffer, every tenth packet lost",
  playThrough((index) => index % 10 !== 3),
);
report("mix to stereo", () => {
  for (let i = 0; i < 160; i++) {
    stereo[2 * i] = frame[i] ?? 0;
    stereo[2 * i + 1] = heard[i] ?? 0;
  }
});
const detector = new SpeechDetector();
report("speech detector", () => (sink += detector.push(frame) ? 1 : 0));
const tones = new ToneDetector();
report("tone detector", () => (sink += tones.push(frame) === undefined ? 0 : 1));
const resampler = new Resampler(8000, 16_000);
const wide = new Int16Array(400);
report("resample 8 to 16 kHz", () => (sink += resampler.into(frame, wide)));
const narrow = new Resampler(22_050, 8000);
const spoken = new Int16Array(441);
report("resample 22.05 to 8 kHz", () => (sink += narrow.into(spoken, wide)));
const wideEncoder = new AudioEncoder();
const wideDecoder = new AudioDecoder();
report("encode G.722 from 8 kHz", () => (sink += wideEncoder.encode("G722", frame, packet, rtpHeaderBytes)));
report("decode G.722 to 8 kHz", () => {
  sink += wideDecoder.decode("G722", packet, heard, { offset: rtpHeaderBytes, length: 160 });
});
for (const suite of ["AES_CM_128_HMAC_SHA1_80", "AES_CM_128_HMAC_SHA1_32", "AEAD_AES_128_GCM"] as const) {
  const key = { suite, key: new Uint8Array(srtpKeyBytes(suite)).fill(7) };
  let sender = new SrtpSender(key, srtpCrypto);
  let receiver = new SrtpReceiver(key, srtpCrypto);
  const room = new Uint8Array(packet.length + srtpTagBytes);
  report(`encrypt and decrypt, ${suite}`, (index) => {
    if (index === 0) {
      sender = new SrtpSender(key, srtpCrypto);
      receiver = new SrtpReceiver(key, srtpCrypto);
    }
    header.sequence = index & 0xffff;
    writeRtpHeader(room, header);
    const length = sender.protect(room, packet.length);
    sink += receiver.unprotect(room.subarray(0, length)) === undefined ? 1e9 : 1;
  });
}
const whole = playThrough(() => true);
report("the whole path: encode, decode, buffer, VAD, mix", (index) => {
  encodeG711("PCMA", frame, packet, rtpHeaderBytes);
  whole(index);
  sink += detector.push(heard) ? 1 : 0;
  for (let i = 0; i < 160; i++) {
    stereo[2 * i] = frame[i] ?? 0;
    stereo[2 * i + 1] = heard[i] ?? 0;
  }
});
console.log(`\n(${sink === 0 ? "nothing was done" : "the sums were kept"})`);

function playThrough(arrives: (index: number) => boolean): (index: number) => void {
  const buffer = new JitterBuffer();
  return (index) => {
    if (arrives(index)) {
      decodeG711("PCMA", packet, heard, { offset: rtpHeaderBytes, length: 160 });
      buffer.push(index & 0xffff, (index * 160) >>> 0, heard, 160);
    }
    buffer.pull(heard);
  };
}

function report(name: string, work: (index: number) => void): void {
  const ns = measure(work);
  console.log(`${name.padEnd(50)}${format(ns)}  ×${(ns / baselineNs).toFixed(1)}`);
}

/** The best of several rounds, ns a frame; frames of a voice, one after the other. */
function measure(work: (index: number) => void): number {
  let best = Infinity;
  let index = 0;
  for (let round = 0; round < rounds; round++) {
    const start = process.hrtime.bigint();
    for (let i = 0; i < framesPerRound; i++) {
      const at = (index % 999) * 160;
      frame.set(voice.subarray(at, at + 160));
      work(index++);
    }
    best = Math.min(best, Number(process.hrtime.bigint() - start) / framesPerRound);
  }
  return best;
}

function format(ns: number): string {
  return `${Math.round(ns)} ns`.padStart(10);
}
