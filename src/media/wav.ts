import { accept, reject, type Decoded } from "#base";

/** Octets before the first sample in a file of ours. */
export const wavHeaderBytes = 44;

/** 16-bit PCM in a RIFF file. */
export interface WavFormat {
  readonly sampleRateHz: number;
  readonly channels: number;
}

/** Where the sound is in a WAV file. */
export interface WavContent extends WavFormat {
  readonly dataOffset: number;
  /** As the header says; the file may hold more or less. */
  readonly dataBytes: number;
}

/** The 44 octets before `dataBytes` of sound. */
export function wavHeader(format: WavFormat, dataBytes: number): Uint8Array {
  const header = new Uint8Array(wavHeaderBytes);
  const view = new DataView(header.buffer);
  const frameBytes = 2 * format.channels;
  put(header, 0, "RIFF");
  view.setUint32(4, Math.min(0xffff_ffff, wavHeaderBytes - 8 + dataBytes), true);
  put(header, 8, "WAVEfmt ");
  view.setUint32(16, 16, true);
  view.setUint16(20, 1, true);
  view.setUint16(22, format.channels, true);
  view.setUint32(24, format.sampleRateHz, true);
  view.setUint32(28, format.sampleRateHz * frameBytes, true);
  view.setUint16(32, frameBytes, true);
  view.setUint16(34, 16, true);
  put(header, 36, "data");
  view.setUint32(40, Math.min(0xffff_ffff, dataBytes), true);
  return header;
}

/** Reads the header at the start of `file`: 16-bit PCM only, chunks of other kinds are stepped over. */
export function readWavHeader(file: Uint8Array): Decoded<WavContent> {
  const view = new DataView(file.buffer, file.byteOffset, file.byteLength);
  if (file.length < 12 || !has(file, 0, "RIFF") || !has(file, 8, "WAVE")) {
    return reject("", "this is not a WAV file: it does not begin with RIFF and WAVE");
  }
  let format: WavFormat | undefined;
  for (let at = 12; at + 8 <= file.length;) {
    const size = view.getUint32(at + 4, true);
    if (has(file, at, "fmt ") && at + 24 <= file.length) {
      if (view.getUint16(at + 8, true) !== 1 || view.getUint16(at + 22, true) !== 16) {
        return reject("fmt", "only 16-bit PCM can be read");
      }
      format = { channels: view.getUint16(at + 10, true), sampleRateHz: view.getUint32(at + 12, true) };
      if (format.channels === 0 || format.sampleRateHz === 0) {
        return reject("fmt", "channels and sample rate must be above zero");
      }
    } else if (has(file, at, "data")) {
      if (format === undefined) return reject("data", "the format must come before the sound");
      return accept({ ...format, dataOffset: at + 8, dataBytes: size });
    }
    at += 8 + size + (size & 1);
  }
  return reject("data", "the file holds no sound");
}

function put(octets: Uint8Array, at: number, tag: string): void {
  for (let i = 0; i < tag.length; i++) octets[at + i] = tag.charCodeAt(i);
}

function has(octets: Uint8Array, at: number, tag: string): boolean {
  for (let i = 0; i < tag.length; i++) if (octets[at + i] !== tag.charCodeAt(i)) return false;
  return true;
}
