import { expect, test } from "vitest";
import { reasonPhrase } from "../../src/sip/status.ts";

test.each([
  [180, "Ringing"],
  [486, "Busy Here"],
  [603, "Decline"],
  [608, "Rejected"],
  [299, "OK"],
  [499, "Bad Request"],
  [599, "Server Internal Error"],
  [699, "Busy Everywhere"],
  [999, "Unknown"],
])("%i is called %s", (status, phrase) => {
  expect(reasonPhrase(status)).toBe(phrase);
});
