import { parsePlaybookFile, plainTrunkSip } from "#domain";
import { expect, test } from "vitest";
import { planOf } from "../../src/daemon/plan-of.ts";
import type { CallRow } from "../../src/daemon/ports.ts";

const parsed = parsePlaybookFile("---\nname: x\nopening: Hello.\nrtt: true\n---\n");
if (!parsed.ok) throw new Error(parsed.problem.message);
const settings = parsed.value;
const call = {
  params: { first_name: "Ana" },
  options: { voiceId: "6", voiceModel: "human", language: "es", interrupt: false },
  timezone: "Atlantic/Canary",
} as unknown as CallRow;

test("a plain trunk keeps the playbook's real-time text, one that must be encrypted does not offer it", () => {
  expect(planOf({ call, settings }, { sip: plainTrunkSip }).settings.rtt).toBe(true);
  const secure = { ...plainTrunkSip, transport: "tls", srtp: "required" } as const;
  expect(planOf({ call, settings }, { sip: secure }).settings.rtt).toBe(false);
});

test("the plan carries how the call is held, its parameters and the contact's time zone", () => {
  expect(planOf({ call, settings }, { sip: plainTrunkSip })).toMatchObject({
    params: { first_name: "Ana" },
    voiceId: "6",
    language: "es",
    interrupt: false,
    timezone: "Atlantic/Canary",
  });
});
