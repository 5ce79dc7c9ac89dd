import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Entropy } from "#base";
import type { SipAddress } from "#sip";
import { createServerLocator, orderBySrv, type ServerQuery } from "../../src/trunks/locate.ts";
import { systemNames, type NameService, type SrvRecord } from "../../src/trunks/name-service.ts";
import { createServers } from "../../src/trunks/servers.ts";
import { seededChance } from "../support/simulated-network.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { DnsServer, type Zone } from "./dns-server.ts";

function entropyOf(seed: number): Entropy {
  const chance = seededChance(seed);
  return { bytes: (length) => Uint8Array.from({ length }, () => Math.floor(chance() * 256)) };
}

const srv = (priority: number, weight: number, name: string, port = 5060): SrvRecord => ({
  priority,
  weight,
  port,
  name,
});

describe("SRV records", () => {
  it("are all tried, lower priorities first", () => {
    const record = fc.record({
      priority: fc.integer({ min: 0, max: 3 }),
      weight: fc.integer({ min: 0, max: 65_535 }),
      port: fc.integer({ min: 1, max: 65_535 }),
      name: fc.string(),
    });
    fc.assert(
      fc.property(fc.array(record, { maxLength: 12 }), fc.integer(), (records, seed) => {
        const ordered = orderBySrv(records, entropyOf(seed));
        expect(new Set(ordered)).toEqual(new Set(records));
        expect(ordered).toHaveLength(records.length);
        const priorities = ordered.map(({ priority }) => priority);
        expect(priorities).toEqual(priorities.toSorted((a, b) => a - b));
      }),
    );
  });

  it("of one priority come first as often as their weights say, those of weight 0 hardly ever", () => {
    const entropy = entropyOf(7);
    const records = [srv(1, 0, "none"), srv(1, 10, "light"), srv(1, 30, "heavy"), srv(1, 60, "heaviest")];
    const firsts = new Map<string, number>();
    for (let n = 0; n < 10_000; n++) {
      const name = orderBySrv(records, entropy)[0]!.name;
      firsts.set(name, (firsts.get(name) ?? 0) + 1);
    }
    // One lot of 101 falls on the record of weight 0 (RFC 2782).
    const expected = { none: 99, light: 990, heavy: 2_970, heaviest: 5_941 };
    for (const [name, count] of Object.entries(expected)) {
      const most = 5 * Math.sqrt(count) + 20;
      expect({ name, within: Math.abs((firsts.get(name) ?? 0) - count) < most }).toEqual({
        name,
        within: true,
      });
    }
  });

  it("without weights are in no fixed order either, when they all have one", () => {
    const entropy = entropyOf(3);
    const records = [srv(1, 1, "a"), srv(1, 1, "b")];
    const firsts = new Set(Array.from({ length: 50 }, () => orderBySrv(records, entropy)[0]!.name));
    expect(firsts.size).toBe(2);
  });
});

async function located(zone: Zone, query: ServerQuery, family: 4 | 6 = 4) {
  await using dns = await DnsServer.open(zone);
  const locator = createServerLocator({
    names: systemNames({ servers: [dns.at] }),
    clock: new VirtualClock(),
    entropy: entropyOf(1),
    family,
  });
  const servers = await locator.locate(query).catch((error: unknown) => String(error));
  return { servers, asked: [...dns.asked] };
}

const addresses = {
  "A one.trunk.test": [{ address: "10.0.0.1" }],
  "A two.trunk.test": [{ address: "10.0.0.2" }],
  "A trunk.test": [{ address: "10.0.0.9" }, { address: "10.0.0.8" }],
  "AAAA trunk.test": [{ address: "2001:db8::9" }],
};
const domain = "trunk.test";

describe("the servers of a target, by DNS", () => {
  it("are found by NAPTR, SRV and A, best first, with the domain as the name to check", async () => {
    const zone: Zone = {
      ...addresses,
      "NAPTR trunk.test": [
        { order: 20, preference: 1, flags: "s", service: "SIP+D2U", replacement: "_sip._udp.trunk.test" },
        { order: 10, preference: 2, flags: "s", service: "SIP+D2T", replacement: "_sip._tcp.trunk.test" },
        {
          order: 10,
          preference: 1,
          flags: "s",
          service: "SIPS+D2T",
          replacement: "_sips._tcp.elsewhere.test",
        },
        { order: 1, preference: 1, flags: "s", service: "SIP+D2W", replacement: "_ws.trunk.test" },
        { order: 1, preference: 1, flags: "u", service: "E2U+sip", replacement: "" },
      ],
      "SRV _sips._tcp.elsewhere.test": [
        srv(20, 1, "two.trunk.test", 5061),
        srv(10, 1, "one.trunk.test", 5063),
      ],
    };
    const { servers } = await located(zone, { host: "trunk.test" });
    expect(servers).toEqual([
      { address: "10.0.0.1", port: 5063, transport: "tls", domain },
      { address: "10.0.0.2", port: 5061, transport: "tls", domain },
    ]);
  });

  it("are found by SRV of the usual names where there is no NAPTR, UDP before TCP before TLS", async () => {
    const names = ["_sip._udp", "_sip._tcp", "_sips._tcp"] as const;
    const transports = [undefined, "tcp", "tls"];
    for (const [i, name] of names.entries()) {
      const offered = names
        .slice(i)
        .map((other) => [`SRV ${other}.trunk.test`, [srv(1, 1, "one.trunk.test", 5080)]]);
      const { servers, asked } = await located(
        { ...addresses, ...Object.fromEntries(offered) },
        { host: "trunk.test" },
      );
      const transport = transports[i];
      const carried = transport === undefined ? {} : { transport };
      expect(servers).toEqual([{ address: "10.0.0.1", port: 5080, ...carried, domain }]);
      expect(asked).toContain(`SRV ${name}.trunk.test`);
    }
  });

  it("keep to the transport that was set, and to the name to check", async () => {
    const zone: Zone = {
      ...addresses,
      "SRV _sip._udp.trunk.test": [srv(1, 1, "two.trunk.test")],
      "SRV _sips._tcp.trunk.test": [srv(1, 1, "one.trunk.test", 5062)],
    };
    const { servers, asked } = await located(zone, {
      host: "trunk.test",
      transport: "tls",
      domain: "pbx.test",
    });
    expect(servers).toEqual([{ address: "10.0.0.1", port: 5062, transport: "tls", domain: "pbx.test" }]);
    expect(asked).not.toContain("NAPTR trunk.test");
  });

  it("are the name's own addresses where there is no SRV, at the usual port", async () => {
    const { servers } = await located(addresses, { host: "trunk.test", transport: "tls" });
    expect(servers).toEqual([
      { address: "10.0.0.9", port: 5061, transport: "tls", domain },
      { address: "10.0.0.8", port: 5061, transport: "tls", domain },
    ]);
    expect((await located(addresses, { host: "trunk.test" }, 6)).servers).toEqual([
      { address: "2001:db8::9", port: 5060, domain },
    ]);
  });

  it("ask for addresses only when the port is set, and for nothing when the address is", async () => {
    const zone: Zone = { ...addresses, "SRV _sip._udp.trunk.test": [srv(1, 1, "one.trunk.test")] };
    const { asked, servers } = await located(zone, { host: "trunk.test", port: 5070 });
    expect(asked).toEqual(["A trunk.test"]);
    expect(servers).toMatchObject([{ port: 5070 }, { port: 5070 }]);
    const literal = await located(zone, { host: "10.1.1.1", transport: "tcp" });
    expect(literal).toEqual({ asked: [], servers: [{ address: "10.1.1.1", port: 5060, transport: "tcp" }] });
  });

  it("leave out names that are dead, and services that are not offered", async () => {
    const zone: Zone = {
      ...addresses,
      "SRV _sip._udp.trunk.test": [srv(1, 1, "dead.trunk.test"), srv(2, 1, "one.trunk.test")],
      "SRV _sip._tcp.trunk.test": [srv(0, 0, ".")],
    };
    expect((await located(zone, { host: "trunk.test" })).servers).toMatchObject([{ address: "10.0.0.1" }]);
    const tcp = await located(zone, { host: "trunk.test", transport: "tcp" });
    expect(tcp.servers).toMatchObject([{ address: "10.0.0.9", transport: "tcp" }, { address: "10.0.0.8" }]);
  });

  it("are none for a name that does not exist", async () => {
    expect((await located(addresses, { host: "nowhere.test" })).servers).toContain("nowhere.test");
  });

  it("are asked for once by many at a time, and again when the answer is too old", async () => {
    await using dns = await DnsServer.open({ "A trunk.test": [{ address: "10.0.0.9", ttl: 5 }] });
    const clock = new VirtualClock();
    const names = systemNames({ servers: [dns.at] });
    const locator = createServerLocator({ names, clock, entropy: entropyOf(1), family: 4 });
    const ask = () => locator.resolve("trunk.test");
    expect(await Promise.all([ask(), ask(), ask()])).toEqual(["10.0.0.9", "10.0.0.9", "10.0.0.9"]);
    expect(dns.asked).toHaveLength(1);
    clock.advance(4_999);
    await ask();
    expect(dns.asked).toHaveLength(1);
    dns.zone = { "A trunk.test": [{ address: "10.0.0.7", ttl: 500 }] };
    clock.advance(1);
    expect(await ask()).toBe("10.0.0.7");
    clock.advance(30_000);
    await ask();
    expect(dns.asked).toHaveLength(3);
  });

  it("come from the hosts file, too, when the system is asked", async () => {
    const locator = createServerLocator({
      names: systemNames(),
      clock: new VirtualClock(),
      entropy: entropyOf(1),
      family: 4,
    });
    expect(await locator.resolve("localhost")).toBe("127.0.0.1");
    expect(await locator.resolve("::1")).toBe("::1");
    await expect(locator.resolve("nowhere.invalid")).rejects.toThrow("nowhere.invalid");
  });
});

describe("a search for a server", () => {
  const one: SipAddress = { address: "10.0.0.1", port: 5060, transport: "tcp" };
  const two: SipAddress = { address: "10.0.0.2", port: 5060, transport: "tcp" };
  const udp: SipAddress = { address: "10.0.0.3", port: 5060 };

  function searching(found: readonly SipAddress[], open: readonly SipAddress[]) {
    const clock = new VirtualClock();
    const servers = createServers({
      clock,
      locator: { locate: () => Promise.resolve(found), resolve: (host) => Promise.resolve(host) },
      streams: {
        connect: (to) =>
          open.includes(to) ? Promise.resolve() : Promise.reject(new Error(`${to.address} is closed.`)),
      },
    });
    return { clock, servers };
  }

  it("passes over those that no connection leads to, and tries them last the next time", async () => {
    const { servers, clock } = searching([one, two, udp], [two]);
    const first = await servers.search({ host: "x" });
    expect([first.size, await first.next(), first.more]).toEqual([3, two, true]);
    const second = await servers.search({ host: "x" });
    expect([await second.next(), await second.next(), await second.next()]).toEqual([two, udp, undefined]);
    expect(second.problem).toBe("10.0.0.1 is closed.");
    clock.advance(60_000);
    const third = await servers.search({ host: "x" });
    expect([await third.next(), third.problem]).toEqual([two, "10.0.0.1 is closed."]);
  });

  it("puts a server that failed behind its like, and the preferred one in front", async () => {
    const { servers } = searching([one, two, udp], [one, two]);
    const first = await servers.search({ host: "x" }, udp);
    expect(await first.next()).toBe(udp);
    first.failed();
    expect(await (await servers.search({ host: "x" }, udp)).next()).toBe(one);
  });

  it("of an unknown name finds none and says so", async () => {
    const names: NameService = {
      naptr: () => Promise.resolve([]),
      srv: () => Promise.resolve([]),
      addresses: () => Promise.resolve([]),
    };
    const clock = new VirtualClock();
    const locator = createServerLocator({ names, clock, entropy: entropyOf(1), family: 4 });
    const servers = createServers({ clock, locator, streams: { connect: () => Promise.resolve() } });
    const search = await servers.search({ host: "nowhere.test" });
    expect([await search.next(), search.problem]).toEqual([
      undefined,
      "The name nowhere.test cannot be found.",
    ]);
  });
});
