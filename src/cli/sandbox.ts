import type { Context, Input } from "./handler.ts";
import { runForeground } from "./daemon.ts";
import { views } from "./views.ts";

/** The numbers of the simulated carrier, `+999 000 0nnn`, and what each does. */
export const sandboxNumbers: readonly { readonly number: string; readonly behaviour: string }[] = [
  { number: "+9990000001", behaviour: "answers and goes along with everything" },
  { number: "+9990000002", behaviour: "voicemail: a greeting and a beep" },
  { number: "+9990000003", behaviour: "busy (486)" },
  { number: "+9990000004", behaviour: "rings, nobody answers" },
  { number: "+9990000005", behaviour: "rings, then declines (603)" },
  { number: "+9990000006", behaviour: "no such number (404)" },
  { number: "+9990000007", behaviour: "trunk in trouble (503)" },
  { number: "+9990000008", behaviour: "answers and hangs up in the middle of a sentence" },
  { number: "+9990000009", behaviour: "asks never to be called again" },
  { number: "+9990000010", behaviour: "answers and stays silent" },
  { number: "+9990000011", behaviour: "interrupts all the time" },
  { number: "+9990000012", behaviour: "a menu: press 1, press 2" },
  { number: "+9990000013", behaviour: "rings for a long time, then answers" },
  { number: "+9990000014", behaviour: "answers, but sends no audio" },
  ...["00", "05", "30"].map((seconds) => ({
    number: `+99900001${seconds}`,
    behaviour: `answers after ${Number(seconds)} s (last two digits: seconds, 00 to 99)`,
  })),
];

/** `outdial sandbox numbers`. */
export async function listNumbers(context: Context): Promise<void> {
  await context.print.list(views.sandboxNumber, sandboxNumbers);
}

/** `outdial sandbox serve`. */
export function serveSandbox(context: Context, input: Input): Promise<number> {
  return runForeground(context, ["sandbox", "--listen", input.text("listen") ?? "127.0.0.1:5070"]);
}
