/**
 * Vendors behind the ports of talk. Here: the embedded voice, which needs neither a key nor a network. It runs in a
 * process of its own (it would block a clock, and eSpeak NG is a GPL program) and is restarted when that ends.
 */
export { openEspeak } from "./espeak.ts";
export { createSpeechCache } from "./speech-cache.ts";
