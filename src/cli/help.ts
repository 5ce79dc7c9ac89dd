import { CommandError } from "./command-error.ts";
import { commands } from "./commands.ts";
import type { Context, Input } from "./handler.ts";
import { canonical } from "./find-command.ts";
import { commandHelp, generalHelp, nounHelp, topicHelp } from "./help-text.ts";
import { helpTopics } from "./help-topics.ts";

/** `outdial help [command or topic]`. */
export async function help(context: Context, input: Input): Promise<void> {
  const words = input.args("topic").map(canonical);
  const name = words.join(" ");
  if (name === "") return context.print.text(generalHelp());
  const spec = commands.find((one) => one.name === name);
  if (spec !== undefined) return context.print.text(commandHelp(spec));
  const topic = helpTopics.find((one) => one.name === name);
  if (topic !== undefined)
    return context.print.text(topicHelp(topic.name, topic.summary, await topic.load()));
  const noun = nounHelp(name);
  if (noun !== undefined) return context.print.text(noun);
  throw new CommandError("not-found", `there is no command or topic "${name}"`, {
    fix: `topics: ${helpTopics.map((one) => one.name).join(", ")}`,
  });
}
