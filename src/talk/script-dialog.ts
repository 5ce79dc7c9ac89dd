import type { Script } from "#domain";
import type { ConversationPlan } from "./plan.ts";
import type { DialogAct, DialogModel, DialogTurn } from "./ports.ts";
import { scriptStart, scriptStep } from "./script-steps.ts";

/**
 * A dialog model that follows a script to the letter, for one call. Without a script it is an announcement: the
 * opening is all there is to say.
 */
export function scriptDialog(script: Script | undefined, plan: ConversationPlan): DialogModel {
  let place = scriptStart;
  return { answer };

  async function* answer(turn: DialogTurn, signal: AbortSignal): AsyncIterable<DialogAct> {
    if (script === undefined) {
      yield announcementOver;
      return;
    }
    const step = scriptStep({ script, plan }, place, turn.cue);
    for (const act of step.acts) {
      if (signal.aborted) return; // An answer nobody wants leaves the place where it was.
      yield act;
    }
    place = step.place;
  }
}

const announcementOver: DialogAct = {
  type: "end",
  result: { success: true, output: {}, summary: "", followUp: false, doNotCall: false },
};
