/** RFC 3261 17.1.1.1: estimate of the round trip, ms. */
export const T1_MS = 500;
/** Longest interval between two sendings of a request or of a final response, ms. */
export const T2_MS = 4_000;
/** How long a datagram may stay in the network, ms. */
export const T4_MS = 5_000;
/** Timers B, D, F, H, J, L and M: how long a transaction waits for the other side, ms. */
export const GIVE_UP_MS = 64 * T1_MS;
