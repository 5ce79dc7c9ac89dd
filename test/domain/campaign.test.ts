import { describe, expect, test } from "vitest";
import { callStates } from "../../src/domain/call.ts";
import { campaignProgress, launchMessage, planCampaign } from "../../src/domain/campaign.ts";

const contact = (phone: string) => ({ phone, callable: phone.startsWith("+"), fields: {}, customFields: {} });

describe("a campaign's plan", () => {
  test("spreads the calls from the launch on, in the order of the contacts; wrong numbers take no slot", () => {
    const plan = planCampaign([contact("+1"), contact("x"), contact("+2"), contact("+3")], 5_000, 1_000);
    expect(plan.calls.map(({ plannedAt, state }) => [plannedAt, state])).toEqual([
      [5_000, "scheduled"],
      [5_000, "wrong-number"],
      [5_100, "scheduled"],
      [5_200, "scheduled"],
    ]);
    expect(plan).toMatchObject({ scheduled: true, launchAt: 5_000, scheduledCalls: 3, errorCalls: 1 });
  });

  test("starts now without a launch time", () => {
    const plan = planCampaign([contact("+1")], undefined, 1_000);
    expect(plan).toMatchObject({ scheduled: false, launchAt: 1_000 });
    expect(plan.calls[0]).toMatchObject({ plannedAt: 1_000, state: "queued" });
  });

  test("a launch a moment ago is scheduled, but its calls are due", () => {
    const plan = planCampaign([contact("+1")], 900, 1_000);
    expect([plan.scheduled, plan.calls[0]?.state]).toEqual([true, "queued"]);
  });

  test("a hundred thousand contacts are spread over no more than an hour", () => {
    const plan = planCampaign(
      Array.from({ length: 100_000 }, () => contact("+1")),
      undefined,
      0,
    );
    expect(plan.calls.at(-1)?.plannedAt).toBeLessThanOrEqual(3_600_000);
    expect(plan.calls.at(-1)?.plannedAt).toBeGreaterThan(3_000_000);
  });
});

describe("a campaign's counts", () => {
  test("each state counts once, as waiting, live or finished", () => {
    const ones = Object.fromEntries(callStates.map((state) => [state, 1]));
    expect(campaignProgress(ones)).toEqual({ waiting: 3, live: 4, finished: 8 });
    expect(campaignProgress({ queued: 2, "recall-scheduled": 3, busy: 4 })).toEqual({
      waiting: 5,
      live: 0,
      finished: 4,
    });
  });
});

describe("the sentence that answers a launch", () => {
  test.each([
    [{ scheduledCalls: 1, errorCalls: 0 }, undefined, "Campaign started with 1 call"],
    [{ scheduledCalls: 2, errorCalls: 0 }, "01/12/2026 09:00", "2 calls scheduled for 01/12/2026 09:00"],
    [
      { scheduledCalls: 0, errorCalls: 2 },
      undefined,
      "Campaign started with 0 calls; 2 could not be created because of the phone number",
    ],
  ])("%j %s", (plan, when, text) => {
    expect(launchMessage(plan, when)).toBe(text);
  });
});
