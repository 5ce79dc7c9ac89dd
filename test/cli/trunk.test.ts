import { writeFile } from "node:fs/promises";
import { adminRoutes } from "#wire";
import { Value } from "typebox/value";
import { describe, expect, it } from "vitest";
import { trunkPresets } from "../../src/cli/trunk-presets.ts";
import { RecordingServer, type Answers } from "../support/recording-server.ts";
import { runCli, type CliOptions } from "../support/run-cli.ts";
import { TempHome } from "../support/temp-home.ts";

const trunk = {
  id: "0197",
  name: "main",
  kind: "digest",
  host: "sip.example.com",
  port: 0,
  username: "ana",
  caller_id: "+34910000000",
  codecs: ["PCMA"],
  max_calls: 10,
  calls_per_second: 1,
  default: true,
  transport: "tls",
  domain: null,
  outbound_proxy: null,
  register_expires_s: 600,
  srtp: "off",
  from_user: null,
  number_format: null,
  caller_id_header: "from",
  display_name: null,
  privacy: false,
  headers: {},
  priority: 10,
  allow_transfer: false,
  ca_certificate: null,
  health: "held",
  health_reason: "The registration was refused: 403 Forbidden.",
  retry_at: null,
  registration: "refused",
  created_at: "2026-11-21T09:00:00.000Z",
};
const answers: Answers = {
  createTrunk: () => ({ status: 201, body: trunk }),
  getTrunk: () => ({ body: trunk }),
  listTrunks: () => ({ body: [trunk] }),
  editTrunk: () => ({ body: trunk }),
};
const pem = "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n";

async function run(argv: readonly string[], options: Partial<CliOptions> = {}, more: Answers = {}) {
  await using home = await TempHome.create();
  await writeFile(home.path("ca.pem"), pem);
  await using server = await RecordingServer.onSocket(home.socketPath, { ...answers, ...more });
  const words = argv.map((word) => word.replace("$HOME", home.directory));
  const result = await runCli(words, { home: home.directory, ...options });
  return { ...result, created: server.of("createTrunk")[0]?.body, edited: server.of("editTrunk")[0]?.body };
}

it("the trunk of these tests is one that the daemon could send", () => {
  expect([...Value.Errors(adminRoutes.getTrunk.success.schema!, trunk)]).toEqual([]);
});

describe("trunk add", () => {
  it("hands every SIP setting over as it was given", async () => {
    const line =
      "trunk add main --server sip.example.com --username ana --password-stdin --transport tls --domain example.com " +
      "--proxy sip:edge.example.com;lr --register --register-expires 5m --srtp required --codecs g722,pcma --from-user 42 " +
      "--number-format 00{e164} --caller-id-header p-asserted-identity --privacy --header X-A=1 --header X-B=a=b " +
      "--priority 3 --ca-file $HOME/ca.pem";
    const { code, created } = await run([...line.split(" "), "--display-name", "Clínica Sol"], {
      stdin: "p\n",
    });
    expect(code).toBe(0);
    expect(created).toEqual({
      name: "main",
      kind: "register",
      host: "sip.example.com",
      username: "ana",
      password: "p",
      transport: "tls",
      domain: "example.com",
      outbound_proxy: "sip:edge.example.com;lr",
      register_expires_s: 300,
      srtp: "required",
      codecs: ["G722", "PCMA"],
      from_user: "42",
      number_format: "00{e164}",
      caller_id_header: "p-asserted-identity",
      privacy: true,
      headers: { "X-A": "1", "X-B": "a=b" },
      priority: 3,
      ca_certificate: pem,
      display_name: "Clínica Sol",
    });
  });

  it("begins with a preset, and flags say otherwise", async () => {
    const ovh = ["trunk", "add", "fr", "--preset", "ovh", "--username", "0033123456789", "--password-stdin"];
    expect((await run(ovh, { stdin: "p" })).created).toEqual({
      name: "fr",
      kind: "register",
      host: "siptrunk.ovh.net",
      port: 5060,
      username: "0033123456789",
      password: "p",
      transport: "udp",
      codecs: ["PCMA", "PCMU"],
      number_format: "{national:FR}",
      register_expires_s: 1800,
    });
    const other = [
      ...ovh,
      "--no-register",
      "--server",
      "sip5.ovh.fr",
      "--codecs",
      "PCMU",
      "--number-format",
      "",
    ];
    expect((await run(other, { stdin: "p" })).created).toMatchObject({
      kind: "digest",
      host: "sip5.ovh.fr",
      codecs: ["PCMU"],
      number_format: null,
    });
  });

  it.each(trunkPresets.map((preset) => [preset.name, preset] as const))(
    "preset %s makes a trunk that the daemon's table takes",
    async (name, preset) => {
      const server = preset.server === undefined ? ["--server", "sip.example.com"] : [];
      const user = preset.register === true ? ["--username", "u", "--password-stdin"] : [];
      const { code, created } = await run(["trunk", "add", "t", "--preset", name, ...server, ...user], {
        stdin: "p",
      });
      expect(code).toBe(0);
      expect(created).toMatchObject({ name: "t", kind: preset.register === true ? "register" : "ip" });
    },
  );

  it.each([
    [["--preset", "twilio"], "Termination URI"],
    [["--preset", "ovh"], "--username"],
    [["--preset", "none", "--server", "h"], "none"],
    [["--server", "h", "--register"], "--username"],
    [["--server", "h", "--transport", "sctp"], "sctp"],
    [["--server", "h", "--header", "X"], "name=value"],
    [["--server", "h", "--priority", "2000"], "up to 1000"],
    [["--server", "h", "--register-expires", "5s"], "60s to 1d"],
    [["--server", "h", "--ca-file", "$HOME/.config/none"], "none"],
    [["--sandbox", "--transport", "tls"], "does not go with --sandbox"],
    [["--sandbox", "--preset", "generic"], "does not go with --sandbox"],
    [["--sandbox", "--no-register"], "does not go with --sandbox"],
  ])("%j is refused with 2", async (more, says) => {
    const { code, stderr, created } = await run(["trunk", "add", "x", ...more]);
    expect(code).toBe(2);
    expect(stderr).toContain(says);
    expect(created).toBeUndefined();
  });

  it("says in one sentence what the daemon refuses", async () => {
    const message = "SRTP needs --transport tls: over udp the keys could be read on the way";
    const { code, stderr } = await run(
      ["trunk", "add", "x", "--server", "h", "--srtp", "required"],
      {},
      {
        createTrunk: () => ({ status: 400, body: { error: { code: "bad-sip-settings", message } } }),
      },
    );
    expect(code).toBe(2);
    expect(stderr).toContain(message);
  });
});

describe("trunk edit", () => {
  it("sends what was given and nothing else; an empty value takes a setting back", async () => {
    const { edited } = await run(["trunk", "edit", "main", "--domain", "", "--header", "", "--no-privacy"]);
    expect(edited).toEqual({ domain: null, headers: {}, privacy: false });
    expect((await run(["trunk", "edit", "main", "--rename", "spare"])).edited).toEqual({ name: "spare" });
  });

  it("makes it the kind that its user name and its registering make it", async () => {
    expect((await run(["trunk", "edit", "main", "--register"])).edited).toEqual({ kind: "register" });
    expect((await run(["trunk", "edit", "main", "--username", ""])).edited).toEqual({
      kind: "ip",
      username: null,
    });
    const plain: Answers = { getTrunk: () => ({ body: { ...trunk, kind: "ip", username: null } }) };
    const named = ["trunk", "edit", "main", "--username", "ana", "--password-stdin"];
    expect((await run(named, { stdin: "new" }, plain)).edited).toEqual({
      kind: "digest",
      username: "ana",
      password: "new",
    });
    expect((await run(["trunk", "edit", "main", "--password-stdin"], { stdin: "new" })).edited).toEqual({
      password: "new",
    });
  });

  it.each([
    [[], "nothing to change"],
    [["--username", "", "--register"], "--username"],
    [["--username", "", "--password-stdin"], "--username"],
  ])("%j is refused with 2", async (more, says) => {
    const { code, stderr, edited } = await run(["trunk", "edit", "main", ...more], { stdin: "p" });
    expect(code).toBe(2);
    expect(stderr).toContain(says);
    expect(edited).toBeUndefined();
  });
});

describe("trunk test", () => {
  const checks = [
    { check: "options", result: "ok", detail: "192.0.2.1:5060 over udp answered 200 in 3 ms.", advice: null },
    { check: "registration", result: "failed", detail: "Refused: 403.", advice: "Check the password." },
  ];

  it("prints what was found, the advice beside it, and exits with 9 when something is wrong", async () => {
    const { code, stdout, stderr } = await run(
      ["trunk", "test", "main"],
      {},
      {
        testTrunk: () => ({ body: { ok: false, checks } }),
      },
    );
    expect(code).toBe(9);
    expect(stdout).toContain("registration\tfailed\tRefused: 403.");
    expect(stderr).toContain("registration: Check the password.");
    const json = await run(
      ["trunk", "test", "main", "--json"],
      {},
      {
        testTrunk: () => ({ body: { ok: true, checks: checks.slice(0, 1) } }),
      },
    );
    expect(json.code).toBe(0);
    expect(JSON.parse(json.stdout)).toMatchObject([{ check: "options", result: "ok" }]);
  });
});

describe("trunk list, trunk view and status", () => {
  it("show transport, registration and health", async () => {
    const { stdout } = await run(["trunk", "list"], { columns: 200 });
    expect(stdout).toContain("by DNS");
    expect(stdout).toContain("tls");
    expect(stdout).toMatch(/refused\s+held\s+The registration was refused/);
    expect((await run(["trunk", "view", "main", "--json", "transport,registration,health"])).stdout).toBe(
      `${JSON.stringify({ transport: "tls", registration: "refused", health: "held" })}\n`,
    );
  });
});
