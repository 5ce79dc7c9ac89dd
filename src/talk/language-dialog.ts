import { toolsFor, useTool, type SchemaCheck } from "./agent-tools.ts";
import type { ConversationPlan } from "./plan.ts";
import type {
  DialogAct,
  DialogModel,
  DialogNotes,
  DialogTurn,
  LanguageModel,
  Message,
  ToolCall,
} from "./ports.ts";
import { messagesFor } from "./prompt.ts";
import { SentenceCutter } from "./sentence-cutter.ts";
import { speakable, ThoughtFilter } from "./speakable.ts";

export interface LanguageDialogOptions {
  readonly model: LanguageModel;
  readonly plan: ConversationPlan;
  /** Epoch milliseconds. */
  readonly now: () => number;
  /** Judges the model's `output`; default: checkSchema. */
  readonly check?: SchemaCheck;
}

/** A model that only uses tools is asked to go on so often. */
const mostRounds = 3;
const mostCalls = 4;
/** About a minute of speech: whoever says more in one turn is not cut by anybody. */
const mostSpokenChars = 1200;
const mostTokens = 400;

/**
 * A dialog held by a language model after the playbook's prompt. It keeps no place: each answer is made of the turn
 * alone. The model can speak and use the tools of agent-tools, nothing else. Rejects when it gives nothing at all.
 */
export function languageDialog(options: LanguageDialogOptions): DialogModel {
  const { plan } = options;
  return { revocable: true, answer };

  async function* answer(turn: DialogTurn, signal: AbortSignal): AsyncGenerator<DialogAct> {
    if (turn.cue.type === "silence") yield { type: "pass" };
    else if (turn.cue.type === "start" && plan.settings.opening !== undefined) yield giveFloor;
    else yield* new Answer(options, turn, signal).acts();
  }
}

const giveFloor: DialogAct = { type: "ask", text: "", digits: [] };

/** One answer: what the model says and does until it leaves the floor to the callee or hangs up. */
class Answer {
  readonly #options: LanguageDialogOptions;
  readonly #signal: AbortSignal;
  readonly #now: number;
  #messages: readonly Message[];
  #notes: DialogNotes;
  #spokenChars = 0;

  constructor(options: LanguageDialogOptions, turn: DialogTurn, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#now = options.now();
    this.#messages = messagesFor(options.plan, turn, this.#now);
    this.#notes = turn.notes ?? {};
  }

  async *acts(): AsyncGenerator<DialogAct> {
    for (let round = 0; round < mostRounds; round++) {
      const calls: ToolCall[] = [];
      const written = yield* this.#listen(calls);
      const results: Message[] = [];
      for (const call of calls.slice(0, mostCalls)) {
        const { plan, check } = this.#options;
        const outcome = useTool({ plan, check, now: this.#now, notes: this.#notes }, call);
        for (const act of outcome.acts) {
          if (act.type === "note") this.#notes = { ...this.#notes, ...act.note };
          yield act;
        }
        if (outcome.ends) return;
        results.push({ role: "tool", callId: call.id, text: outcome.answer });
      }
      if (this.#spokenChars > 0) return yield giveFloor;
      if (results.length === 0) break;
      const toolCalls = calls.slice(0, mostCalls);
      this.#messages = [...this.#messages, { role: "assistant", text: written, toolCalls }, ...results];
    }
    throw new Error("the dialog model gave no answer");
  }

  /** One streamed answer of the model: its sentences as they come; answers what it wrote. */
  async *#listen(calls: ToolCall[]): AsyncGenerator<DialogAct, string> {
    const { model, plan } = this.#options;
    const cutter = new SentenceCutter(plan.language);
    const thoughts = new ThoughtFilter();
    const request = { messages: this.#messages, tools: toolsFor(plan), maxTokens: mostTokens };
    let written = "";
    let begun = false;
    for await (const delta of model.stream(request, this.#signal)) {
      this.#signal.throwIfAborted();
      if (delta.type === "finish") break;
      if (!begun) yield { type: "begin" };
      begun = true;
      if (delta.type === "tool-call") {
        calls.push(delta.call);
        continue;
      }
      written += delta.text;
      yield* this.#say(cutter.push(thoughts.push(delta.text)));
      if (this.#spokenChars >= mostSpokenChars) return written;
    }
    yield* this.#say([...cutter.push(thoughts.flush()), ...cutter.flush()]);
    return written;
  }

  *#say(sentences: readonly string[]): Generator<DialogAct> {
    for (const sentence of sentences) {
      const text = speakable(sentence);
      if (text === "" || this.#spokenChars >= mostSpokenChars) continue;
      const continues = this.#spokenChars > 0;
      this.#spokenChars += text.length;
      yield { type: "say", text, answerable: true, continues };
    }
  }
}
