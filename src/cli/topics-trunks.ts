import { code, terms, text, type TopicText } from "./topic-text.ts";
import { trunkPresets } from "./trunk-presets.ts";

export const trunksTopic: TopicText = [
  text("A trunk is a way into the telephone network. A preset begins with what is known of a provider:"),
  terms(...trunkPresets.map(({ name, summary }) => [name, summary] as const)),
  code(
    "outdial trunk add main --preset telnyx --username clinic --caller-id +34910000000",
    "outdial trunk test main",
  ),
  text("What a provider may want otherwise:"),
  terms(
    ["--username", "it asks for a password; without it, it knows us by our address"],
    ["--register", "it wants to be told where we are; calls wait until it took that"],
    ["--transport tls", "encrypts signalling; the certificate must bear --domain, or else the server's name"],
    ["--srtp required", "encrypts audio; a call without encryption does not take place"],
    ["--number-format", "+{e164}, {e164}, 00{e164}, or as dialled in a country: {national:FR}"],
    ["--caller-id-header", "where it looks for the caller id, when not in From"],
    ["--proxy", "where everything goes first"],
  ),
  text(
    "A call that names no trunk takes the default one, else the one with the smallest --priority that takes calls at that moment.",
  ),
  terms(
    ["ready", "takes calls"],
    [
      "waiting",
      "too many calls failed, or it is not registered now; it is tried again by itself, after one minute and then twice as long each time, a quarter of an hour at most",
    ],
    ["held", "it refuses us; calls wait until trunk edit changes something or trunk test finds it well"],
  ),
];
