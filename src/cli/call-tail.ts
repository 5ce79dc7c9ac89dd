import type { Context, Input } from "./handler.ts";
import { momentOption } from "./moment-option.ts";
import { campaignIdOf, playbookIdOf } from "./references.ts";
import { tailDaemon } from "./tail-daemon.ts";
import { createTailDisplay, type Tail } from "./tail-display.ts";
import { readTailFilter } from "./tail-filter.ts";
import { pollCalls } from "./tail-remote.ts";

/** `outdial call tail`: what happens in all calls, as it happens. */
export async function tailCalls(context: Context, input: Input): Promise<void> {
  const since = await momentOption(context, input, "since");
  readTailFilter(input, { playbookId: undefined, since }); // A wrong word is told before anything is asked.
  const server = await context.server();
  const playbook = input.text("playbook");
  const campaign = input.text("campaign");
  const tail: Tail = {
    filter: readTailFilter(input, {
      playbookId: playbook === undefined ? undefined : await playbookIdOf(server, playbook),
      since,
    }),
    campaignId: campaign === undefined ? undefined : await campaignIdOf(server, campaign),
    follow: !input.flag("no-follow"),
    display: createTailDisplay(context),
  };
  if (tail.follow && context.print.interactive) context.notes.say("following all calls; Ctrl-C ends");
  await (server.type === "local" ? tailDaemon(context, server, tail) : pollCalls(context, server, tail));
}
