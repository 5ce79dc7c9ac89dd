import { describe, expect, test } from "vitest";
import { callStates } from "../../src/domain/call.ts";
import {
  callStatus,
  isFinal,
  listStatus,
  listStatuses,
  statesOfListStatus,
} from "../../src/domain/status.ts";
import { callManner, versionForCall } from "../../src/domain/version.ts";
import { playbookOf } from "../support/memory-service.ts";

describe("published statuses", () => {
  test("each filter value stands for exactly the states that show it, and no state is left out", () => {
    const all = listStatuses.flatMap((status) => {
      const states = statesOfListStatus(status) ?? [];
      for (const state of states) expect(listStatus(state)).toBe(status);
      return states;
    });
    expect(all.toSorted()).toEqual(callStates.toSorted());
  });

  test.each(["", "completed", "no-answer", "__proto__", "Open"])("%j is no filter", (status) => {
    expect(statesOfListStatus(status)).toBeUndefined();
  });

  test("a number that rings shows as ringing only by itself", () => {
    expect([callStatus("ringing"), listStatus("ringing")]).toEqual(["ringing", "open"]);
  });

  test("a call that waits for its recall is not over", () => {
    expect([isFinal("recall-scheduled"), isFinal("wrapping"), isFinal("manual"), isFinal("busy")]).toEqual([
      false,
      false,
      true,
      true,
    ]);
  });
});

describe("the version of a call", () => {
  const playbook = { id: "p", productionVersionId: "v1" };

  test.each([
    ["the one asked for", playbook, { id: "v2", playbookId: "p" }, "v2"],
    ["production when none is asked for", playbook, undefined, "v1"],
    [
      "production when the one asked for is another playbook's",
      playbook,
      { id: "v2", playbookId: "q" },
      "v1",
    ],
    ["none when the playbook has no versions", { id: "p", productionVersionId: null }, undefined, null],
  ])("is %s", (_, of, asked, version) => {
    expect(versionForCall(of, asked)).toBe(version);
  });
});

describe("how a call is held", () => {
  const { settings } = playbookOf("p");

  test("by the request, then by the playbook, then by the contract's defaults", () => {
    expect(callManner({}, { ...settings, language: "" })).toEqual({
      voiceId: "6",
      voiceModel: "human",
      language: "es",
      interrupt: false,
    });
    const own = { ...settings, voice: "2", language: "pt-BR", interrupt: true } as const;
    expect(callManner({}, own)).toMatchObject({ voiceId: "2", language: "pt-br", interrupt: true });
    expect(callManner({ voiceId: "1", voiceModel: "fast", language: "EN", interrupt: false }, own)).toEqual({
      voiceId: "1",
      voiceModel: "fast",
      language: "en",
      interrupt: false,
    });
  });
});
