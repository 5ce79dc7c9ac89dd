import { paths } from "#host";
import { expect, test } from "vitest";

test("OUTDIAL_HOME puts everything under one directory", () => {
  const all = Object.values(paths({ OUTDIAL_HOME: "/x/home" }));
  expect(all.every((path) => path.startsWith("/x/home"))).toBe(true);
});

test("a home too deep for a socket address keeps its socket in a short, own place", () => {
  const home = `/x/${"deep/".repeat(30)}`;
  const { socketPath, databaseFile } = paths({ OUTDIAL_HOME: home });
  expect(socketPath.length).toBeLessThan(100);
  expect(socketPath).not.toBe(paths({ OUTDIAL_HOME: `${home}other` }).socketPath);
  expect(databaseFile.startsWith(home)).toBe(true);
});

test("OUTDIAL_SOCKET names the socket itself", () => {
  expect(paths({ OUTDIAL_HOME: "/x", OUTDIAL_SOCKET: "/y/s" }).socketPath).toBe("/y/s");
});

test("XDG variables are honoured", () => {
  const found = paths({
    XDG_CONFIG_HOME: "/c",
    XDG_DATA_HOME: "/d",
    XDG_STATE_HOME: "/s",
    XDG_RUNTIME_DIR: "/r",
  });
  expect(found).toMatchObject({
    configFile: "/c/outdial/config.toml",
    databaseFile: "/d/outdial/outdial.db",
    logFile: "/s/outdial/daemon.log",
    socketPath: "/r/outdial/daemon.sock",
  });
});
