import { fieldValue, plainValue, type Row } from "./fields.ts";
import { followEvents } from "./follow-events.ts";
import type { Context, Server } from "./handler.ts";
import type { Tail } from "./tail-display.ts";
import { passes, wantedTypes, type TailFilter } from "./tail-filter.ts";
import { instantOf, zonedTime } from "./times.ts";

/** Where to go on after the connection broke. */
interface Place {
  since: number | undefined;
  /** The run of the daemon whose numbers these are; undefined before it answered. */
  stream: string | undefined;
  /** Nothing was seen yet of what happened before: what is gone of it was no loss of ours. */
  replaying: boolean;
}

/** Shows the events of the daemon; after a break it goes on where it was. Exit 6 when the daemon stays away. */
export async function tailDaemon(context: Context, server: Server, tail: Tail): Promise<void> {
  const { filter, campaignId, follow } = tail;
  const replaying = filter.since !== undefined || !follow;
  const place: Place = { since: replaying ? 0 : undefined, stream: undefined, replaying };
  await followEvents(context, server, {
    mayEnd: !follow,
    query: () => ({
      campaign: campaignId,
      since: place.since,
      types: wantedTypes(filter),
      ...(follow ? {} : { follow: false }),
    }),
    take: (event) => take(context, tail, place, event),
  });
}

async function take(context: Context, tail: Tail, place: Place, event: Row): Promise<"go-on" | "anew"> {
  const { filter, display } = tail;
  const seq = Number(event["seq"] ?? 0);
  if (event["type"] === "heartbeat") return greet(context, filter, place, event);
  place.since = seq;
  if (event["type"] === "events-lost") {
    if (!place.replaying) await display.lost(event);
    return "go-on";
  }
  if (place.replaying && seq > 1) tellBeginning(context, filter.since, instantOf(event["at"]));
  place.replaying = false;
  if (passes(filter, event)) await display.show(event);
  return "go-on";
}

/** A heartbeat says where the daemon is, and whether it is the one of before. */
function greet(context: Context, filter: TailFilter, place: Place, event: Row): "go-on" | "anew" {
  const seq = Number(event["seq"] ?? 0);
  const stream = plainValue(fieldValue(event, "data.stream"));
  const before = place.stream;
  place.stream = stream;
  if (before === undefined) tellBeginning(context, filter.since, instantOf(stream));
  if (before !== undefined && before !== stream) {
    context.notes.warn("the daemon was started anew; what the one before had not told yet is lost");
    if (seq > 0) {
      place.since = 0;
      return "anew";
    }
  }
  place.since = seq;
  return "go-on";
}

function tellBeginning(context: Context, since: number | undefined, from: number | undefined): void {
  if (since === undefined || from === undefined || from <= since) return;
  const time = zonedTime(from, context.settings.zone);
  context.notes.say(`nothing is held of the time before ${time}      (outdial call list shows the calls)`);
}
