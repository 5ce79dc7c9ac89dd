import { openRecorder, type Recorder, type RecorderOptions } from "./recorder.ts";

/** A recorder whose file appears with the first frame: calls that nobody answers leave none. */
export function lateRecorder(path: string, options: RecorderOptions): Recorder {
  let opened: Recorder | undefined;
  return {
    write(agent, callee) {
      opened ??= openRecorder(path, options);
      opened.write(agent, callee);
    },
    get recordedMs(): number {
      return opened?.recordedMs ?? 0;
    },
    get failure(): Error | undefined {
      return opened?.failure;
    },
    close: async () => opened?.close(),
  };
}
