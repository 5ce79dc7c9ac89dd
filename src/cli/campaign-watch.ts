import type { CampaignView } from "#wire";
import { programFile } from "#host";
import { campaignPath } from "./campaign.ts";
import { CommandError } from "./command-error.ts";
import type { Context, Input, Server } from "./handler.ts";
import { shortSpan } from "./durations.ts";
import { fieldValue, plainValue, type Row } from "./fields.ts";
import { Interrupted } from "./interrupted.ts";
import { pause } from "./io.ts";
import { instantOf } from "./times.ts";
import {
  campaignLine,
  isOver,
  withEndedCall,
  withFigures,
  type CampaignModel,
  type EndedCall,
} from "./ui/campaign-model.ts";
import type * as CampaignViewModule from "./ui/campaign-view.tsx";

export interface WatchedCampaign {
  readonly id: string;
  /** Undefined: as long as it takes. */
  readonly timeoutMs: number | undefined;
}

/** How the state of a campaign is shown: a live screen, or lines. */
interface Display {
  show(model: CampaignModel, figures: CampaignView): Promise<void>;
  close(): Promise<void>;
}

const pollMs = 500;
/** At least this long between two lines of a log. */
const lineEveryMs = 1000;

/** `outdial campaign watch`. */
export async function watchCampaign(context: Context, input: Input): Promise<void> {
  const server = await context.server();
  await followCampaign(context, server, { id: input.arg("id"), timeoutMs: input.durationMs("timeout") });
}

/** Shows a campaign until it is over. */
export async function followCampaign(
  context: Context,
  server: Server,
  target: WatchedCampaign,
): Promise<void> {
  await untilOver(context, server, target, await openDisplay(context));
}

/** Waits for a campaign to be over and prints nothing. */
export async function awaitCampaign(
  context: Context,
  server: Server,
  target: WatchedCampaign,
): Promise<void> {
  await untilOver(context, server, target, { show: async () => undefined, close: async () => undefined });
}

async function untilOver(
  context: Context,
  server: Server,
  target: WatchedCampaign,
  display: Display,
): Promise<void> {
  const { io, notes, signal } = context;
  const stop = new AbortController();
  const ended: EndedCall[] = [];
  const reading = readEnds(context, server, target.id, {
    ended,
    signal: AbortSignal.any([signal, stop.signal]),
  });
  const giveUpAt = target.timeoutMs === undefined ? Infinity : io.steady.now() + target.timeoutMs;
  let model: CampaignModel | undefined;
  try {
    for (;;) {
      const figures = await server.client.get<CampaignView>(campaignPath(target.id));
      model = withFigures(model, figures, io.clock.now());
      for (const call of ended.splice(0)) model = withEndedCall(model, call);
      await display.show(model, figures);
      if (isOver(model)) return;
      const leftMs = giveUpAt - io.steady.now();
      if (leftMs <= 0) throw notOverYet(target, model);
      await pause(io.steady, Math.min(pollMs, leftMs), signal);
    }
  } catch (error) {
    if (error instanceof Interrupted) {
      await display.close();
      notes.say(`stopped watching; the campaign goes on      (end it: outdial campaign stop ${target.id})`);
    }
    throw error;
  } finally {
    stop.abort();
    await display.close();
    await reading;
  }
}

function notOverYet(target: WatchedCampaign, model: CampaignModel): CommandError {
  return new CommandError("pending", `the campaign is not over after ${shortSpan(target.timeoutMs ?? 0)}`, {
    why: `${model.finished} of ${model.total} calls are`,
    fix: `outdial campaign watch ${target.id}`,
    ref: target.id,
  });
}

/** Collects the calls that end. Never rejects: the figures come from elsewhere. */
async function readEnds(
  context: Context,
  server: Server,
  id: string,
  into: { readonly ended: EndedCall[]; readonly signal: AbortSignal },
): Promise<void> {
  while (!into.signal.aborted) {
    try {
      for await (const event of server.client.lines("/admin/events", { campaign: id }, into.signal)) {
        if (event["type"] === "call-ended") into.ended.push(endedCall(event, context.io.clock.now()));
      }
    } catch {
      // The stream broke; the daemon may be restarting. Asking for the figures tells.
    }
    await pause(context.io.steady, 1000, into.signal).catch(() => undefined);
  }
}

function endedCall(event: Row, now: number): EndedCall {
  return {
    id: plainValue(event["call_id"]),
    to: plainValue(fieldValue(event, "data.to") ?? ""),
    at: instantOf(event["at"]) ?? now,
    state: plainValue(fieldValue(event, "data.state")),
    durationS: Number(fieldValue(event, "data.duration") ?? 0),
    success: fieldValue(event, "data.success") === true,
  };
}

async function openDisplay(context: Context): Promise<Display> {
  const { print, settings } = context;
  const plain = settings.format !== undefined || !print.interactive || context.io.env["TERM"] === "dumb";
  const view = plain ? undefined : await loadView();
  return view === undefined ? lineDisplay(context) : screenDisplay(context, view);
}

type ViewModule = typeof CampaignViewModule;

/** Loaded only on a terminal: it costs more than everything else together. */
async function loadView(): Promise<ViewModule | undefined> {
  const file = programFile("cli/ui/campaign-view", "tsx").href;
  try {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own file, by an address the bundler leaves alone
    return (await import(file)) as ViewModule;
  } catch (error) {
    // Run from source, Node itself does not read .tsx; lines say the same.
    if (error instanceof Error && "code" in error && error.code === "ERR_UNKNOWN_FILE_EXTENSION")
      return undefined;
    throw error;
  }
}

function screenDisplay(context: Context, view: ViewModule): Display {
  let screen: CampaignViewModule.CampaignScreen | undefined;
  let closed = false;
  return {
    show: async (model) => {
      if (screen === undefined) screen = view.openCampaignScreen(context.io.stdout, model);
      else screen.show(model);
    },
    close: async () => {
      if (closed) return;
      closed = true;
      await screen?.close();
    },
  };
}

/** A line whenever something changed; the daemon's figures as JSON lines for a machine. */
function lineDisplay(context: Context): Display {
  const machine = context.settings.format === "json" || context.settings.format === "jsonl";
  let shown = "";
  let shownAt = -Infinity;
  return {
    show: async (model, figures) => {
      const fingerprint = JSON.stringify([model.status, model.finished, model.live, model.counts]);
      const now = context.io.steady.now();
      if (fingerprint === shown || (now - shownAt < lineEveryMs && !isOver(model))) return;
      shown = fingerprint;
      shownAt = now;
      if (machine) await context.print.event({ ...figures }, "");
      else await context.print.text(campaignLine(model));
    },
    close: async () => undefined,
  };
}
