import { fieldValue, plainValue, type Row } from "./fields.ts";
import { isObject } from "./json.ts";
import { instantOf, zonedTime } from "./times.ts";

/** Causes of ITU-T Q.850 that telephone networks use. */
const q850Names: Readonly<Record<number, string>> = {
  1: "unallocated number",
  3: "no route to destination",
  16: "normal call clearing",
  17: "user busy",
  18: "no user responding",
  19: "no answer from user",
  20: "subscriber absent",
  21: "call rejected",
  22: "number changed",
  27: "destination out of order",
  28: "invalid number format",
  31: "normal, unspecified",
  34: "no circuit available",
  38: "network out of order",
  41: "temporary failure",
  42: "switching equipment congestion",
  47: "resource unavailable",
  50: "facility not subscribed",
  55: "incoming calls barred",
  57: "bearer capability not authorized",
  58: "bearer capability not available",
  63: "service not available",
  65: "bearer capability not implemented",
  79: "service not implemented",
  87: "user not member of group",
  88: "incompatible destination",
  102: "recovery on timer expiry",
  111: "protocol error",
  127: "interworking, unspecified",
};

/** `17 user busy`. */
export function q850Text(cause: unknown): string {
  if (typeof cause !== "number") return "";
  const name = q850Names[cause];
  return name === undefined ? String(cause) : `${cause} ${name}`;
}

/** A call record with the moments of its last attempt beside its own fields. */
export function withTimes(record: Row): Row {
  const last = attemptsOf(record).at(-1);
  return last === undefined ? record : { ...record, ...momentsOf(last) };
}

/** Every attempt in a line of its own, when there are several. */
export function attemptLines(record: Row, zone: string | undefined): readonly string[] {
  const attempts = attemptsOf(record);
  if (attempts.length < 2) return [];
  return attempts.map((attempt) => {
    const at = instantOf(attempt["started_at"]);
    const moments = momentsOf(attempt);
    const steps = (
      [
        ["first_ring_at", "ring"],
        ["early_media_at", "early media"],
        ["answered_at", "answer"],
        ["ended_at", "end"],
      ] as const
    ).flatMap(([field, name]) => {
      const after = sinceDial(moments[field], moments);
      return after === "" ? [] : [`${name} ${after}`];
    });
    const state = plainValue(fieldValue(attempt, "outcome.state") ?? attempt["state"]);
    const by = plainValue(moments["ended_by"]);
    const cause = q850Text(moments["q850"]);
    const end = [state, by === "" ? "" : `by ${by}`, cause === "" ? "" : `Q.850 ${cause}`];
    const dialled = at === undefined ? "" : zonedTime(at, zone);
    return [
      `attempt ${plainValue(attempt["n"])}`,
      dialled,
      [...steps, ...end].filter((text) => text !== "").join(", "),
    ].join("  ");
  });
}

/** `+2.4 s` after the INVITE left; empty when it did not happen. */
export function sinceDial(value: unknown, record: Row): string {
  const at = instantOf(value);
  const from = instantOf(record["dialled_at"]);
  if (at === undefined || from === undefined) return "";
  return `+${(Math.max(0, at - from) / 1000).toFixed(1)} s`;
}

function momentsOf(attempt: Row): Row {
  return {
    dialled_at: attempt["started_at"] ?? null,
    first_ring_at: attempt["ringing_at"] ?? null,
    early_media_at: fieldValue(attempt, "evidence.early_media_at") ?? null,
    answered_at: attempt["answered_at"] ?? null,
    ended_at: attempt["ended_at"] ?? null,
    ended_by: fieldValue(attempt, "outcome.hung_up_by") ?? null,
    sip_status: fieldValue(attempt, "outcome.sip_status") ?? null,
    q850: fieldValue(attempt, "outcome.q850") ?? null,
  };
}

function attemptsOf(record: Row): readonly Row[] {
  const attempts = record["attempts"];
  return Array.isArray(attempts) ? attempts.filter(isObject) : [];
}
