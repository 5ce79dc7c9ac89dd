import { parseDuration } from "./durations.ts";
import type { Context, Input } from "./handler.ts";
import { parseMoment } from "./moment.ts";

/** An option such as `--since`: `2h` and `7d` mean so long ago, anything else is a moment. Epoch milliseconds. */
export async function momentOption(
  context: Context,
  input: Input,
  name: string,
): Promise<number | undefined> {
  const text = input.text(name);
  if (text === undefined) return undefined;
  const now = context.io.clock.now();
  const ago = /^\d/.test(text) && /[smhdw]$/.test(text) ? parseDuration(text) : undefined;
  return ago === undefined ? parseMoment(text, now, context.settings.zone) : now - ago;
}

/** The same with its offset, so that the account's zone plays no part. */
export async function isoOption(context: Context, input: Input, name: string): Promise<string | undefined> {
  const at = await momentOption(context, input, name);
  return at === undefined ? undefined : new Date(at).toISOString();
}
