import type { ConversationPlan } from "./plan.ts";
import { checkSchema } from "./schema-check.ts";
import type { DialogAct, DialogNotes, Tool, ToolCall } from "./ports.ts";

/*
 * Everything a language model can do in a call besides speaking. Its arguments are a stranger's: each is read for just
 * what it may be, and anything else is answered with what was wrong.
 */

/** Tells what of a value does not match a JSON Schema, in a sentence; undefined when it matches. */
export type SchemaCheck = (schema: Readonly<Record<string, unknown>>, value: unknown) => string | undefined;

export interface ToolDesk {
  readonly plan: ConversationPlan;
  /** Epoch milliseconds. */
  readonly now: number;
  readonly check?: SchemaCheck | undefined;
  readonly notes: DialogNotes;
}

/** What became of a tool call. */
export interface ToolOutcome {
  readonly acts: readonly DialogAct[];
  /** For the model, when it goes on. */
  readonly answer: string;
  /** Nothing more is to come of this answer. */
  readonly ends: boolean;
}

const anyObject = { type: "object", properties: {}, additionalProperties: true } as const;
const mostOutputChars = 16_000;
const mostDigits = 32;
const farthestCallbackMs = 90 * 86_400_000;

/** The tools for a call: a transfer only when the playbook names numbers. */
export function toolsFor(plan: ConversationPlan): readonly Tool[] {
  const numbers = listedNumbers(plan);
  const transfer: readonly Tool[] =
    numbers.length === 0
      ? []
      : [
          tool(
            "transfer",
            "The callee wants to speak to one of the playbook's numbers: note it; it is not dialled now.",
            {
              to: { type: "string", enum: [...numbers] },
            },
          ),
        ];
  return [
    tool(
      "end_call",
      "Hangs up after what you say in the same answer.",
      {
        reason: { type: "string", description: "Why the call ends, in a few words." },
        success: { type: "boolean", description: "Whether the purpose of the call was fulfilled." },
      },
      ["reason"],
    ),
    tool(
      "mark_result",
      "Writes down the result of the call as far as it is certain.",
      {
        success: { type: "boolean" },
        output: plan.settings.output ?? anyObject,
      },
      ["success"],
    ),
    tool("send_dtmf", "Presses telephone keys, for a menu that asks for them.", {
      digits: { type: "string", description: "0-9, * and #" },
    }),
    tool("ask_human", "Has a person look at this call and get in touch with the callee.", {
      reason: { type: "string" },
    }),
    tool("opt_out", "The callee does not want to be called again: ends the call and blocks the number.", {}),
    tool("schedule_callback", "The callee asks to be called at another time.", {
      at: { type: "string", description: "ISO 8601 with offset, e.g. 2026-11-23T17:00:00+01:00" },
    }),
    ...transfer,
  ];
}

/** Performs one call of the model's, as acts. Never throws. */
export function useTool(desk: ToolDesk, call: ToolCall): ToolOutcome {
  const given = fieldsOf(call.arguments);
  if (given === undefined) return refused("the arguments are no object");
  switch (call.name) {
    case "end_call":
      return endCall(desk, given);
    case "mark_result":
      return markResult(desk, given);
    case "send_dtmf":
      return sendDigits(given);
    case "ask_human":
      return noted({ followUp: true }, "a person will look at it");
    case "opt_out":
      return { ...noted({ doNotCall: true }, "blocked"), ends: true };
    case "schedule_callback":
      return scheduleCallback(desk, given);
    case "transfer":
      return transfer(desk, given);
    default:
      return refused("there is no such tool");
  }
}

/** Telephone numbers that stand in the playbook's own text, in E.164. */
export function listedNumbers(plan: ConversationPlan): readonly string[] {
  const found = (plan.settings.prompt ?? "").match(/\+\d[\d ().-]{5,22}\d/g) ?? [];
  const numbers = found.map((each) => `+${each.replace(/\D/g, "")}`);
  return [...new Set(numbers)].filter((each) => /^\+\d{7,15}$/.test(each));
}

function endCall({ notes }: ToolDesk, given: Fields): ToolOutcome {
  const success = typeof given["success"] === "boolean" ? given["success"] : (notes.success ?? false);
  const result = {
    success,
    output: notes.output ?? {},
    summary: "",
    followUp: notes.followUp ?? false,
    doNotCall: false,
  };
  return { acts: [{ type: "end", result }], answer: "", ends: true };
}

function markResult({ check = checkSchema, plan }: ToolDesk, given: Fields): ToolOutcome {
  const { success, output } = given;
  if (typeof success !== "boolean") return refused("success must be true or false");
  if (output === undefined) return noted({ success }, "written down");
  const value = plainObject(output);
  if (value === undefined) return refused("output must be an object of moderate size");
  const wrong = plan.settings.output === undefined ? undefined : check(plan.settings.output, value);
  return wrong === undefined
    ? noted({ success, output: value }, "written down")
    : refused(`output does not match its schema: ${wrong}`);
}

function sendDigits(given: Fields): ToolOutcome {
  const { digits } = given;
  if (typeof digits !== "string" || !/^[0-9*#]+$/.test(digits) || digits.length > mostDigits)
    return refused(`digits must be 1 to ${mostDigits} of 0-9, * and #`);
  return { acts: [{ type: "press", digits }], answer: "pressed", ends: false };
}

function scheduleCallback({ now }: ToolDesk, given: Fields): ToolOutcome {
  const { at } = given;
  const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?(Z|[+-]\d\d:\d\d)$/;
  const time = typeof at === "string" && iso.test(at) ? Date.parse(at) : Number.NaN;
  if (typeof at !== "string" || Number.isNaN(time)) return refused("at must be ISO 8601 with an offset");
  if (time <= now || time > now + farthestCallbackMs) return refused("at must lie within the next 90 days");
  return noted({ callbackAt: at }, "written down");
}

function transfer({ plan }: ToolDesk, given: Fields): ToolOutcome {
  const { to } = given;
  if (typeof to !== "string" || !listedNumbers(plan).includes(to))
    return refused("the playbook does not list this number");
  return noted({ transferTo: to, followUp: true }, "written down; a person will connect them later");
}

type Fields = Readonly<Record<string, unknown>>;

function fieldsOf(value: unknown): Fields | undefined {
  if (value === undefined || value === null) return {};
  return plainObject(value);
}

/** A copy that holds data and nothing else; undefined for anything but an object, and for one that is too large. */
function plainObject(value: unknown): Fields | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  try {
    const text = JSON.stringify(value);
    if (text.length > mostOutputChars) return undefined;
    const copy: unknown = JSON.parse(text, (key, each: unknown) => (key === "__proto__" ? undefined : each));
    return typeof copy === "object" && copy !== null ? { ...copy } : undefined;
  } catch {
    return undefined; // Circular, or with a toJSON of its own that fails.
  }
}

function noted(note: DialogNotes, answer: string): ToolOutcome {
  return { acts: [{ type: "note", note }], answer, ends: false };
}

function refused(why: string): ToolOutcome {
  return { acts: [], answer: `refused: ${why}`, ends: false };
}

function tool(
  name: string,
  description: string,
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[] = Object.keys(properties),
): Tool {
  return {
    name,
    description,
    parameters: { type: "object", properties, required, additionalProperties: false },
  };
}
