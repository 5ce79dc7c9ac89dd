import type { ConversationReport, Verdict } from "#talk";
import type { LineEvent, LineReport } from "./protocol.ts";
import { repairWav } from "./recorder.ts";

type Turn = ConversationReport["turns"][number];

/** Keeps what a line told, so that a call whose worker died still has an honest, if partial, report. */
export class LostReport {
  readonly #recordingPath: string | undefined;
  readonly #turns: Turn[] = [];
  #verdict: Verdict | undefined;
  #firstWordMs: number | null = null;
  #messageLeft = false;

  constructor(recordingPath: string | undefined) {
    this.#recordingPath = recordingPath;
  }

  note(event: LineEvent): void {
    if (event.type !== "conversation") return;
    const told = event.event;
    if (told.type === "turn-finished") this.#turns.push(told.turn);
    if (told.type === "verdict-reached") this.#verdict = told.verdict;
    if (told.type === "first-word") this.#firstWordMs = told.afterAnswerMs;
    if (told.type === "voicemail-message-left") this.#messageLeft = true;
  }

  /** Mends the recording's header, which only a recorder that closes writes. */
  async report(reason: string): Promise<LineReport> {
    return {
      conversation: {
        verdict: this.#verdict ?? { kind: "unknown", by: "timeout", atMs: 0, evidence: reason },
        turns: this.#turns,
        result: {
          success: false,
          output: {},
          summary: `The call was cut off by a failure of this program: ${reason}.`,
          followUp: false,
          doNotCall: false,
        },
        endedBy: "operator",
        voicemailMessageLeft: this.#messageLeft,
        firstWordMs: this.#firstWordMs,
      },
      recordedMs: await this.#recordedMs(),
      media: {},
    };
  }

  async #recordedMs(): Promise<number> {
    if (this.#recordingPath === undefined) return 0;
    try {
      return await repairWav(this.#recordingPath);
    } catch {
      return 0; // It never began, or holds nothing playable.
    }
  }
}
