import { expect, test } from "vitest";
import { readArguments } from "../../src/daemon/arguments.ts";
import { configTables, daemonConfigOf, parseListen } from "../../src/daemon/config.ts";
import { callingHoursOf } from "../../src/daemon/hours.ts";

const read = (text: string) => daemonConfigOf(configTables(text, "c.toml"), "c.toml");

test("an empty file gives the defaults", () => {
  expect(read("")).toMatchObject({ host: "127.0.0.1", port: 8787, engine: "sqljs" });
});

test("values are read with their units resolved", () => {
  const text = '[daemon]\nlisten = "[::1]:9000"\nring_timeout_s = 20\nallowed_prefixes = ["+34"]\n';
  expect(read(text)).toMatchObject({
    host: "::1",
    port: 9000,
    ringTimeoutMs: 20_000,
    allowedPrefixes: ["+34"],
  });
});

test("tables of other parts of the program are left alone", () => {
  expect(read('[profile.prod]\nhost = "https://x"\n').port).toBe(8787);
});

test.each([
  ["[daemon]\nlisten = 8787", "daemon.listen is not accepted; it takes an address and a port"],
  ["[daemon]\nring_timeout_s = 1", "a whole number of seconds from 5 to 180"],
  ["[daemon]\nrin_timeout_s = 20", "it takes one of: listen,"],
  ["[daemon]\nallowed_prefixes = ['34']", "a list of prefixes with +"],
  ["daemon = 1", "daemon is not accepted; it takes a table"],
  ["[daemon\n", "c.toml:1:"],
])("%j is refused with what would be accepted", (text, message) => {
  expect(() => read(text)).toThrow(message);
});

test.each([
  ["127.0.0.1:80", { host: "127.0.0.1", port: 80 }],
  [":8787", { host: "127.0.0.1", port: 8787 }],
  ["[::]:1", { host: "::", port: 1 }],
  ["localhost:65536", undefined],
  ["localhost", undefined],
  ["a:b:1", undefined],
])("%s names an address, or does not", (text, address) => {
  expect(parseListen(text)).toEqual(address);
});

test("calling hours are read by day, with pauses", () => {
  expect(callingHoursOf("mon-tue 09:00-14:00,16:00-20:00; sat 10:00-13:00").days).toEqual({
    1: [
      { from: "09:00", to: "14:00" },
      { from: "16:00", to: "20:00" },
    ],
    2: [
      { from: "09:00", to: "14:00" },
      { from: "16:00", to: "20:00" },
    ],
    6: [{ from: "10:00", to: "13:00" }],
  });
});

test.each(["", "mon", "mon 9-17", "fri-mon 09:00-10:00", "mon 10:00-09:00", "mon 09:00-25:00"])(
  "calling hours %j are refused",
  (text) => {
    expect(() => callingHoursOf(text)).toThrow("cannot be read");
  },
);

test.each([
  [["run"], { type: "run", listen: undefined }],
  [["run", "--listen", ":1"], { type: "run", listen: { host: "127.0.0.1", port: 1 } }],
  [["sandbox"], { type: "sandbox", address: "127.0.0.1", port: 5060 }],
  [["sandbox", "--listen=0.0.0.0:5070"], { type: "sandbox", address: "0.0.0.0", port: 5070 }],
])("%j is understood", (argv, command) => {
  expect(readArguments(argv)).toEqual({ ok: true, value: command });
});

test.each([[[]], [["walk"]], [["run", "--fast"]], [["run", "--listen"]], [["run", "--listen", "x"]]])(
  "%j is refused in one sentence",
  (argv) => {
    expect(readArguments(argv)).toMatchObject({
      ok: false,
      problem: { message: expect.stringMatching(/\w/) },
    });
  },
);
