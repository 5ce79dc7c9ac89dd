import { writeFile } from "node:fs/promises";
import { expect, it } from "vitest";
import { RecordingServer } from "../support/recording-server.ts";
import { runCli } from "../support/run-cli.ts";
import { TempHome } from "../support/temp-home.ts";

const error = { severity: "error", where: "voice", message: '"9" is no voice', line: 4, column: 8 };
const warning = { severity: "warning", where: "{{x}}", message: "{{x}} is left empty", line: 5, column: 2 };

async function lint(findings: readonly object[], argv: readonly string[] = [], target = "HOME/welcome.md") {
  await using home = await TempHome.create();
  await using server = await RecordingServer.onSocket(home.socketPath, {
    lintPlaybook: () => ({ body: findings }),
    getPlaybook: ({ params }) =>
      params["ref"] === "welcome"
        ? { body: { name: "welcome", source: "applied" } }
        : { status: 404, body: { error: { code: "playbook-not-found", message: "No playbook" } } },
  });
  const path = target.replace("HOME", home.directory);
  await writeFile(home.path("welcome.md"), "source of the file");
  const result = await runCli(["playbook", "lint", path, ...argv], { home: home.directory });
  return { ...result, server, path };
}

it("prints findings as editors read them, and exits 9 for errors", async () => {
  const { code, stdout, stderr, path, server } = await lint([error, warning], ["--param", "x=1"]);
  expect(code).toBe(9);
  expect(stdout).toBe(
    `${path}:4:8: error: voice "9" is no voice\n${path}:5:2: warning: {{x}} is left empty\n`,
  );
  expect(stderr).toContain("1 error, 1 warning");
  expect(server.of("lintPlaybook")[0]?.body).toEqual({ source: "source of the file", params: ["x"] });
});

it("lets warnings pass, unless it is to be strict", async () => {
  expect((await lint([warning])).code).toBe(0);
  expect((await lint([warning], ["--strict"])).code).toBe(9);
  expect(await lint([])).toMatchObject({ code: 0, stdout: "" });
});

it("gives programs rows", async () => {
  const { stdout, path } = await lint([error], ["--json"]);
  expect(JSON.parse(stdout)).toEqual([{ file: path, ...error }]);
});

it("takes a playbook that is applied by its name, and says when there is neither", async () => {
  const { server, stdout } = await lint([error], [], "welcome");
  expect(server.of("lintPlaybook")[0]?.body).toEqual({ source: "applied", params: [] });
  expect(stdout).toMatch(/^welcome\.md:4:8: /);
  expect((await lint([], [], "nothing")).code).toBe(5);
  expect((await lint([], [], "no/file.md")).code).toBe(2);
});
