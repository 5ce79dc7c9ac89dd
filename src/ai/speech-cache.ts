/** What makes two utterances the same sound. */
interface SpeechKey {
  readonly engine: string;
  readonly voice: string;
  readonly lang: string;
  readonly speed: number;
  readonly text: string;
}

/** Rendered sound (8 kHz) of sentences said before; the least recently used goes first. */
export interface SpeechCache {
  find(key: SpeechKey): Int16Array | undefined;
  /** Keeps the array itself: it must not change afterwards. Longer than a quarter of the cache: not kept. */
  keep(key: SpeechKey, pcm: Int16Array): void;
  readonly bytes: number;
}

/** 32 MiB hold 35 minutes of speech. */
const defaultBytes = 32 * 1024 * 1024;

export function createSpeechCache(maxBytes: number = defaultBytes): SpeechCache {
  // A Map iterates in order of insertion: its first entry is the least recently used one.
  const entries = new Map<string, Int16Array>();
  let bytes = 0;

  return {
    find,
    keep,
    get bytes(): number {
      return bytes;
    },
  };

  function find(key: SpeechKey): Int16Array | undefined {
    const name = nameOf(key);
    const pcm = entries.get(name);
    if (pcm === undefined) return undefined;
    entries.delete(name);
    entries.set(name, pcm);
    return pcm;
  }

  function keep(key: SpeechKey, pcm: Int16Array): void {
    if (pcm.byteLength > maxBytes / 4) return;
    const name = nameOf(key);
    forget(name);
    entries.set(name, pcm);
    bytes += pcm.byteLength;
    for (const oldest of entries.keys()) {
      if (bytes <= maxBytes) return;
      forget(oldest);
    }
  }

  function forget(name: string): void {
    bytes -= entries.get(name)?.byteLength ?? 0;
    entries.delete(name);
  }
}

function nameOf(key: SpeechKey): string {
  return JSON.stringify([key.engine, key.voice, key.lang, key.speed, key.text]);
}
