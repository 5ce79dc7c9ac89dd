import { Box, render, Text } from "ink";
import type { ReactElement } from "react";
import {
  isOver,
  progressBar,
  ratePerMinute,
  spanText,
  timeLeftMs,
  type CampaignModel,
  type EndedCall,
} from "./campaign-model.ts";

/** A part of the terminal that shows a campaign; what was shown last stays when it is closed. */
export interface CampaignScreen {
  show(model: CampaignModel): void;
  close(): Promise<void>;
}

/** Drawing costs more than the news is worth above this. */
const framesPerSecond = 8;
const barCells = 40;

const colors: Readonly<Record<string, string>> = {
  closed: "green",
  voicemail: "cyan",
  "no-answer": "yellow",
  busy: "yellow",
  "recall-scheduled": "blue",
  "wrong-number": "red",
  failed: "red",
  manual: "magenta",
};

/** Begins to draw below the cursor. Ctrl-C stays a signal: the keyboard is not touched. */
export function openCampaignScreen(stdout: NodeJS.WritableStream, first: CampaignModel): CampaignScreen {
  const app = render(<CampaignPanel model={first} />, {
    stdout,
    exitOnCtrlC: false,
    patchConsole: false,
    maxFps: framesPerSecond,
    interactive: true,
  });
  return {
    show: (model) => app.rerender(<CampaignPanel model={model} />),
    close: async () => {
      app.unmount();
      await app.waitUntilExit();
    },
  };
}

/** The whole picture for one moment. */
export function CampaignPanel({ model }: { readonly model: CampaignModel }): ReactElement {
  return (
    <Box flexDirection="column">
      <Box gap={2}>
        <Text bold>{model.name}</Text>
        <Text color={model.status === "running" ? "green" : "yellow"}>{model.status}</Text>
      </Box>
      <Text>
        {progressBar(model.finished, model.total, barCells)} {model.finished} of {model.total}
      </Text>
      <Text dimColor>{paceText(model)}</Text>
      <Box flexDirection="column" marginTop={1}>
        {model.counts.map(([state, count]) => (
          <Count key={state} state={state} count={count} total={model.total} />
        ))}
      </Box>
      {model.recent.length > 0 && (
        <Box flexDirection="column" marginTop={1}>
          <Text dimColor>last calls</Text>
          {model.recent.map((call, at) => (
            <Ended key={at} call={call} />
          ))}
        </Box>
      )}
      {!isOver(model) && <Text dimColor>Ctrl-C stops watching; the campaign goes on</Text>}
    </Box>
  );
}

function Count(props: {
  readonly state: string;
  readonly count: number;
  readonly total: number;
}): ReactElement {
  const share = props.total === 0 ? 0 : Math.round((props.count / props.total) * 100);
  const color = colors[props.state];
  return (
    <Box>
      <Box width={20}>
        <Text {...(color === undefined ? {} : { color })}>{props.state}</Text>
      </Box>
      <Text>{String(props.count).padStart(8)}</Text>
      <Text dimColor>{`${share} %`.padStart(7)}</Text>
    </Box>
  );
}

function Ended({ call }: { readonly call: EndedCall }): ReactElement {
  const color = colors[call.state];
  return (
    <Box gap={2}>
      <Text dimColor>{new Date(call.at).toISOString().slice(11, 19)}</Text>
      <Text>{call.to === "" ? call.id.slice(0, 18) : call.to}</Text>
      <Text {...(color === undefined ? {} : { color })}>{call.state}</Text>
      <Text dimColor>{call.durationS > 0 ? `${call.durationS} s` : ""}</Text>
      <Text>{call.success ? "objectives met" : ""}</Text>
    </Box>
  );
}

function paceText(model: CampaignModel): string {
  const rate = ratePerMinute(model);
  const left = timeLeftMs(model);
  return [
    `${model.live} live`,
    `${model.waiting} waiting`,
    ...(rate === undefined ? [] : [`${rate.toFixed(1)} a minute`]),
    ...(left === undefined || isOver(model) ? [] : [`${spanText(left)} left at this rate`]),
  ].join(" · ");
}
