import { sampleRateHz } from "./frame.ts";

const rampSamples = 16; // 2 ms: no clicks
const defaultDb = -16; // dBFS of each tone, RMS
const lowHz = [697, 770, 852, 941];
const highHz = [1209, 1336, 1477, 1633];
const keypad = ["123A", "456B", "789C", "*0#D"];

/** One or more sines added, `ms` long, each at `levelDb` (RMS, dBFS), with soft edges. */
export function sineTone(frequenciesHz: readonly number[], ms: number, levelDb = defaultDb): Int16Array {
  const pcm = new Int16Array(Math.round((ms * sampleRateHz) / 1000));
  const amplitude = 32_768 * Math.SQRT2 * 10 ** (levelDb / 20);
  for (let i = 0; i < pcm.length; i++) {
    let sum = 0;
    for (const hz of frequenciesHz) sum += Math.sin((2 * Math.PI * hz * i) / sampleRateHz);
    const edge = Math.min(1, (i + 1) / rampSamples, (pcm.length - i) / rampSamples);
    pcm[i] = Math.max(-32_768, Math.min(32_767, Math.round(sum * amplitude * edge)));
  }
  return pcm;
}

/** A voicemail's beep; by default 1 kHz for 400 ms. */
export function beepTone(
  beep: { readonly frequencyHz?: number; readonly durationMs?: number } = {},
): Int16Array {
  return sineTone([beep.frequencyHz ?? 1000], beep.durationMs ?? 400);
}

/** European ringback: 425 Hz, 1 s in 4, until `ms` are full. */
export function ringbackTone(ms: number): Int16Array {
  const pcm = silence(ms);
  const burst = sineTone([425], 1000);
  for (let at = 0; at < pcm.length; at += 4 * sampleRateHz) {
    pcm.set(burst.subarray(0, pcm.length - at), at);
  }
  return pcm;
}

/** The tone pair of a key (ITU-T Q.23); empty for anything else. */
export function dtmfTone(key: string, ms: number): Int16Array {
  const row = keypad.findIndex((keys) => keys.includes(key.toUpperCase()));
  const column = keypad[row]?.indexOf(key.toUpperCase()) ?? -1;
  const low = lowHz[row];
  const high = highHz[column];
  return key.length !== 1 || low === undefined || high === undefined
    ? new Int16Array(0)
    : sineTone([low, high], ms);
}

export function silence(ms: number): Int16Array {
  return new Int16Array(Math.round((ms * sampleRateHz) / 1000));
}
