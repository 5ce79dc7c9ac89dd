/** Messages of Deepgram's live interfaces, as the vendor documents them. */

interface Heard {
  readonly text: string;
  readonly start: number;
  readonly duration: number;
  readonly isFinal?: boolean;
  readonly speechFinal?: boolean;
  readonly fromFinalize?: boolean;
}

/** A `Results` message of /v1/listen; times in seconds of the stream. */
export function results(heard: Heard): object {
  const { text, start, duration } = heard;
  const names = text.split(" ").filter((word) => word !== "");
  const each = duration / Math.max(1, names.length);
  const words = names.map((word, index) => ({
    word: word.toLowerCase(),
    punctuated_word: word,
    start: start + index * each,
    end: start + (index + 1) * each,
    confidence: 0.98,
  }));
  return {
    type: "Results",
    channel_index: [0, 1],
    start,
    duration,
    is_final: heard.isFinal ?? false,
    speech_final: heard.speechFinal ?? false,
    from_finalize: heard.fromFinalize ?? false,
    channel: { alternatives: [{ transcript: text, confidence: 0.97, words }] },
    metadata: { request_id: "r", model_info: { name: "n", version: "1", arch: "a" }, model_uuid: "u" },
  };
}

/** A `TurnInfo` message of /v2/listen. */
export function turnInfo(event: string, text: string, window: readonly [number, number] = [0, 1]): object {
  const names = text.split(" ").filter((word) => word !== "");
  return {
    type: "TurnInfo",
    request_id: "r",
    sequence_id: 1,
    event,
    turn_index: 0,
    audio_window_start: window[0],
    audio_window_end: window[1],
    transcript: text,
    words: names.map((word) => ({ word, confidence: 0.9 })),
    end_of_turn_confidence: 0.5,
  };
}
