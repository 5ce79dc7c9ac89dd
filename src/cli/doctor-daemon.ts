import { version } from "#host";
import type { StatusView } from "#wire";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { Check } from "./doctor-check.ts";
import { shortSpan } from "./durations.ts";
import type { Context } from "./handler.ts";
import { objectOf } from "./json.ts";
import { instantOf } from "./times.ts";

export function checkDaemon(status: StatusView | undefined): Check {
  const check = "daemon";
  if (status === undefined)
    return { check, state: "skipped", finding: "not running; a command that needs it starts it" };
  if (status.version !== version) {
    const finding = `version ${status.version} runs, this is ${version}`;
    return { check, state: "warning", finding, fix: "outdial daemon stop, then outdial daemon start" };
  }
  return { check, state: "ok", finding: `${status.state}, pid ${status.pid}, room for ${status.room} calls` };
}

/** Whether there is a way into the telephone network, and whether it works. */
export function checkTrunks(status: StatusView | undefined): Check {
  const check = "trunks";
  if (status === undefined) return { check, state: "skipped", finding: "the daemon knows" };
  const real = status.trunks.filter(({ kind }) => kind !== "sandbox");
  if (real.length === 0) {
    const finding = "only the sandbox: no person can be called";
    return { check, state: "warning", finding, fix: "outdial trunk add" };
  }
  const ill = real.filter(({ health }) => health !== "ready");
  if (ill.length === 0) return { check, state: "ok", finding: real.map(({ name }) => name).join(", ") };
  const finding = ill.map((trunk) => `${trunk.name}: ${trunk.health_reason ?? trunk.health}`).join("; ");
  return {
    check,
    state: ill.length === real.length ? "failed" : "warning",
    finding,
    fix: `outdial trunk test ${ill[0]?.name ?? ""}`,
  };
}

/** A running daemon must answer where it listens; for one that is to be started the ports must be free. */
export async function checkPorts(
  context: Context,
  status: StatusView | undefined,
): Promise<readonly Check[]> {
  if (status !== undefined) return [await checkApi(context, status)];
  const table = await daemonTable(context.paths.configFile);
  const listen = placeOf(table["listen"]) ?? { host: "127.0.0.1", port: 8787 };
  const sip = placeOf(table["sip_listen"]);
  return [
    await checkFree("api port", listen, tryTcp),
    ...(sip === undefined || sip.port === 0 ? [] : [await checkFree("sip port", sip, tryUdp)]),
  ];
}

async function checkApi({ io }: Context, { api, started_at: startedAt }: StatusView): Promise<Check> {
  const check = "api port";
  const host = api.address === "0.0.0.0" ? "127.0.0.1" : api.address === "::" ? "::1" : api.address;
  const url = `http://${host.includes(":") ? `[${host}]` : host}:${api.port}/health`;
  try {
    const { request } = await import("undici");
    const reply = await request(url, { headersTimeout: 3_000, bodyTimeout: 3_000, reset: true });
    await reply.body.dump();
    if (reply.statusCode === 200) {
      const up = shortSpan(io.clock.now() - (instantOf(startedAt) ?? io.clock.now()));
      return { check, state: "ok", finding: `${api.address}:${api.port} answers, up ${up}` };
    }
    return {
      check,
      state: "failed",
      finding: `${url} answers ${reply.statusCode}`,
      fix: "outdial daemon logs",
    };
  } catch {
    return { check, state: "failed", finding: `${url} does not answer`, fix: "outdial daemon logs" };
  }
}

interface Place {
  readonly host: string;
  readonly port: number;
}

async function checkFree(
  check: string,
  { host, port }: Place,
  bind: (place: Place) => Promise<void>,
): Promise<Check> {
  try {
    await bind({ host, port });
    return { check, state: "ok", finding: `${host}:${port} is free` };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "";
    const why =
      code === "EADDRINUSE"
        ? "is taken by another program"
        : code === "EADDRNOTAVAIL"
          ? "is no address of this machine"
          : `cannot be used (${code})`;
    const key = check === "sip port" ? "sip_listen" : "listen";
    return {
      check,
      state: "failed",
      finding: `${host}:${port} ${why}`,
      fix: `set ${key} in [daemon] of config.toml`,
    };
  }
}

async function tryTcp({ host, port }: Place): Promise<void> {
  const server = createServer();
  try {
    server.listen({ host, port, exclusive: true });
    await once(server, "listening");
  } finally {
    server.close();
  }
}

async function tryUdp({ host, port }: Place): Promise<void> {
  const socket = createSocket(host.includes(":") ? "udp6" : "udp4");
  try {
    socket.bind({ address: host, port, exclusive: true });
    await once(socket, "listening");
  } finally {
    socket.close();
  }
}

async function daemonTable(file: string): Promise<Readonly<Record<string, unknown>>> {
  const text = await readFile(file, "utf8").catch(() => "");
  const { parse } = await import("smol-toml");
  try {
    return objectOf(parse(text)["daemon"]);
  } catch {
    return {};
  }
}

function placeOf(value: unknown): Place | undefined {
  const match = /^(?:\[([0-9a-f:.]+)\]|([^:[\]\s]*)):(\d{1,5})$/i.exec(
    typeof value === "string" ? value : "",
  );
  if (match === null) return undefined;
  return { host: match[1] ?? (match[2] || "127.0.0.1"), port: Number(match[3]) };
}
