/**
 * Vendors behind the ports of talk. The embedded voice needs neither a key nor a network; it runs in a process of its
 * own (it would block a clock, and eSpeak NG is a GPL program) and is restarted when that ends. Providers on the network
 * hear, think and speak as the configuration says, each with another behind it that takes over when it fails.
 */
export { openEspeak } from "./espeak.ts";
export { decodeVoiceConfig } from "./provider-config.ts";
export { createSpeechCache } from "./speech-cache.ts";
export { openVoiceStack } from "./voice-stack.ts";
export { readVoiceSettings } from "./voice-settings.ts";
