import { access, writeFile } from "node:fs/promises";
import type { Context, Input } from "./handler.ts";
import { usageError } from "./command-error.ts";
import type { Row } from "./fields.ts";
import { applySource } from "./playbook.ts";
import { readWhole } from "./read-input.ts";
import { printStatus } from "./status.ts";
import { probeDaemon } from "./local-daemon.ts";

/** `outdial init`: starts the daemon and shows what is there. The daemon makes account and sandbox trunk itself. */
export async function init(context: Context, input: Input): Promise<void> {
  const { notes } = context;
  const { client } = await context.server();
  const file = input.text("example");
  if (file !== undefined) {
    await writeExample(context, file);
    await applySource(context, await readWhole(context.io, file), file, undefined);
  }
  const playbooks = await client.get<readonly Row[]>("/admin/playbooks");
  const status = await probeDaemon(context.socket, context.signal);
  if (status !== undefined) await printStatus(context, status);
  const first = playbooks[0]?.["name"];
  const name = typeof first === "string" ? first : "welcome";
  notes.say("");
  notes.say("Next:");
  if (first === undefined) notes.say("  outdial init --example welcome.md      a playbook to try");
  notes.say(`  outdial call start +9990000001 --playbook ${name} -f      a call in the sandbox`);
  notes.say("  outdial sandbox numbers      what the other sandbox numbers do");
  notes.say("  outdial trunk add --help      calls to real phones");
}

/** A file that is there already is the user's own: it is applied as it is. */
async function writeExample(context: Context, file: string): Promise<void> {
  if (file === "-") throw usageError("--example takes the name of a file to write");
  const present = await access(file).then(
    () => true,
    () => false,
  );
  if (present) {
    context.notes.say(`${file} is there already and stays as it is`);
    return;
  }
  await writeFile(file, examplePlaybook, { flag: "wx" });
  context.notes.say(`wrote ${file}`);
}

/** A playbook that needs no language model: a short dialog with keys and words. */
export const examplePlaybook = `---
name: welcome
language: en
opening: Hello, this is a call from Outdial.
script:
  ask:
    ask: Do you want to hear more? Press one for yes, two for no.
    digits: { 1: more, 2: enough }
    text: { yes|sure|please: more, no|not now: enough }
    otherwise: enough
    silence: enough
  more:
    say: Wonderful. We will send you a message with the details.
    end: { success: true, summary: Wants to hear more., output: { interested: true } }
  enough:
    say: No problem.
    end: { success: false, summary: Not interested., output: { interested: false } }
voicemail: Hello, this is Outdial. We will try again later.
goodbye: Thank you, goodbye.
success: The person wants to hear more.
---
You are a friendly agent. Greet the person, ask whether they want to hear more, and thank them.
`;
