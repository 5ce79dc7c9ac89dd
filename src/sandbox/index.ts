/**
 * The built-in carrier: a real SIP and RTP callee on its own UDP port, whose behaviour the dialled number chooses.
 * It meets its callers on the wire only, so any SIP client may call it.
 */
export type { CarrierEvent } from "./carrier-event.ts";
export { startSandbox, type SandboxThread } from "./thread.ts";
