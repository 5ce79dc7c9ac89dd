import { expect, test } from "vitest";
import { createCapacity, type Place } from "../../src/daemon/capacity.ts";
import type { TrunkRow } from "../../src/daemon/ports.ts";

const trunk = { id: "t1", maxCalls: 2, callsPerSecond: 4 } as TrunkRow;
const at = (number: string, campaign?: Place["campaign"]): Place => ({ number, trunkId: "t1", campaign });

test("a trunk takes no more calls at once than its channels", () => {
  const capacity = createCapacity();
  capacity.enter(at("+1"), 0);
  expect(capacity.fullTrunks([trunk], 1_000)).toEqual([]);
  capacity.enter(at("+2"), 1_000);
  expect(capacity.fullTrunks([trunk], 5_000)).toEqual(["t1"]);
  capacity.leave(at("+1"));
  expect(capacity.fullTrunks([trunk], 5_000)).toEqual([]);
});

test("calls per second keep their distance, and the next moment is told", () => {
  const capacity = createCapacity();
  capacity.enter(at("+1"), 1_000);
  expect(capacity.fullTrunks([trunk], 1_249)).toEqual(["t1"]);
  expect(capacity.nextStartAt([trunk], 1_100)).toBe(1_250);
  expect(capacity.fullTrunks([trunk], 1_250)).toEqual([]);
  expect(capacity.nextStartAt([trunk], 1_250)).toBe(Infinity);
});

test("a full trunk has no next moment: only the end of a call makes room", () => {
  const capacity = createCapacity();
  capacity.enter(at("+1"), 0);
  capacity.enter(at("+2"), 10);
  expect(capacity.nextStartAt([trunk], 20)).toBe(Infinity);
});

test("a campaign with a limit of its own is full at that limit", () => {
  const capacity = createCapacity();
  const campaign = { id: "c1", maxConcurrent: 1 };
  capacity.enter(at("+1", campaign), 0);
  expect(capacity.fullCampaigns()).toEqual(["c1"]);
  capacity.leave(at("+1", campaign));
  expect(capacity.fullCampaigns()).toEqual([]);
});

test("a number in a call is busy until it has left", () => {
  const capacity = createCapacity();
  capacity.enter(at("+1"), 0);
  expect(capacity.busyNumbers()).toEqual(["+1"]);
  capacity.leave(at("+1"));
  expect(capacity.busyNumbers()).toEqual([]);
});
