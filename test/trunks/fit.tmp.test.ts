import type { Telephony, LegEvent as A } from "../../src/daemon/ports.ts";
import type { SipEndpoint } from "#trunks";
import type { LegEvent as B } from "#sip";
export const f = (e: SipEndpoint): Telephony => e;
export const g = (a: A): B => a;
export const h = (a: B): A => a;
