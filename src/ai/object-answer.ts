import { OutdialError } from "#base";
import type { LanguageModel } from "#talk";
import { Ajv, type ValidateFunction } from "ajv";
import { parseJson } from "./json-value.ts";
import { providerError } from "./provider-error.ts";
import type { Message } from "./language-shapes.ts";

/** How a provider is made to answer with JSON, best first: it is bound to the schema, to JSON, or only asked. */
export type Rung = LanguageModel["capabilities"]["jsonSchema"];

export interface ObjectQuestion {
  /** Of the provider, for messages. */
  readonly name: string;
  readonly messages: readonly Message[];
  readonly schema: Readonly<Record<string, unknown>>;
  /** To try, best first. */
  readonly rungs: readonly Rung[];
  /** The model's text; undefined when the provider does not know this rung. */
  ask(rung: Rung, messages: readonly Message[]): Promise<string | undefined>;
  /** Called with the rung that worked. */
  onRung(rung: Rung): void;
}

/**
 * A JSON value that matches the schema. A wrong one is sent back once with what is wrong. Rejects with
 * `provider-bad-answer` when the second is wrong too, with `schema-invalid` when the schema is none.
 */
export async function answerObject(question: ObjectQuestion): Promise<unknown> {
  const validate = compile(question.schema);
  const messages = [...question.messages, instruction(question.schema)];
  const { rung, text } = await firstAnswer(question, messages);
  const value = jsonIn(text);
  const wrong = problems(validate, value);
  if (wrong === undefined) return value;
  const again = await question.ask(rung, [
    ...messages,
    { role: "assistant", text },
    {
      role: "user",
      text: `That does not match the schema: ${wrong}. Answer again, with the corrected JSON only.`,
    },
  ]);
  const second = jsonIn(again ?? "");
  const stillWrong = problems(validate, second);
  if (stillWrong === undefined) return second;
  throw providerError(
    "provider-bad-answer",
    `${question.name} did not keep to the schema, even when told: ${stillWrong}`,
    { hint: "Use a model that can answer with JSON, or a simpler schema." },
  );
}

async function firstAnswer(
  question: ObjectQuestion,
  messages: readonly Message[],
): Promise<{ rung: Rung; text: string }> {
  for (const rung of question.rungs) {
    const text = await question.ask(rung, messages);
    if (text === undefined) continue;
    question.onRung(rung);
    return { rung, text };
  }
  throw providerError("provider-refused", `${question.name} refused every way of asking for JSON`, {
    hint: "Check the model's name and what it can do.",
  });
}

/** In the messages on every rung: providers that are bound to the schema answer better when they have read it. */
function instruction(schema: Readonly<Record<string, unknown>>): Message {
  const text = `Answer with one JSON value that matches this JSON Schema, and with nothing else:\n${JSON.stringify(schema)}`;
  return { role: "system", text };
}

function compile(schema: Readonly<Record<string, unknown>>): ValidateFunction {
  try {
    return new Ajv({ strict: false, allErrors: true, validateFormats: false, logger: false }).compile(schema);
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : "";
    throw new OutdialError("schema-invalid", `The schema of the answer is no JSON Schema: ${why}`, { cause });
  }
}

function problems(validate: ValidateFunction, value: unknown): string | undefined {
  if (value === undefined) return "it is no JSON";
  if (validate(value)) return undefined;
  const found = (validate.errors ?? []).slice(0, 5);
  return found
    .map((error) => `${error.instancePath || "the value"} ${error.message ?? ""}`.trim())
    .join("; ");
}

/** The JSON in a text that may have a fence or some words around it. */
function jsonIn(text: string): unknown {
  const whole = parseJson(text);
  if (whole !== undefined) return whole;
  const fenced = /```(?:json)?\s*([\s\S]*?)```/i.exec(text)?.[1];
  const inFence = fenced === undefined ? undefined : parseJson(fenced);
  if (inFence !== undefined) return inFence;
  const start = text.search(/[[{]/);
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  return start >= 0 && end > start ? parseJson(text.slice(start, end + 1)) : undefined;
}
