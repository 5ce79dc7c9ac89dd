import { isUuid, newId } from "#base";
import fc from "fast-check";
import { expect, test } from "vitest";

const noChance = { bytes: (length: number) => new Uint8Array(length).fill(0xff) };

test("an id is a UUID of version 7 that carries its time", () => {
  const id = newId(0x0123456789ab, noChance);
  expect(id).toBe("01234567-89ab-7fff-bfff-ffffffffffff");
  expect(isUuid(id)).toBe(true);
});

test("ids sort by time", () => {
  const times = fc.integer({ min: 0, max: 2 ** 47 });
  fc.assert(
    fc.property(times, times, (a, b) => {
      expect(newId(a, noChance) < newId(b, noChance)).toBe(a < b);
    }),
  );
});

test.each(["", "x", "01234567-89ab-7fff-bfff-fffffffffff", "01234567-89ab-7fff-bfff-ffffffffffff0"])(
  "%j is no UUID",
  (text) => {
    expect(isUuid(text)).toBe(false);
  },
);
