import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { localAddressTo } from "../../src/trunks/local-address.ts";
import { isPortRefused } from "../../src/trunks/refused-port.ts";
import { RawPeer } from "./raw-peer.ts";

describe("our address as a peer is to see it", () => {
  it("is the bound one, unless a public one is set", () => {
    expect(localAddressTo("203.0.113.9", "10.0.0.7", undefined)).toBe("10.0.0.7");
    expect(localAddressTo("203.0.113.9", "10.0.0.7", "198.51.100.1")).toBe("198.51.100.1");
    expect(localAddressTo("trunk.test", "0.0.0.0", "198.51.100.1")).toBe("198.51.100.1");
  });

  it("is the loopback for a peer on it when we are bound to everything", () => {
    for (const peer of ["127.0.0.1", "127.9.9.9", "localhost"]) {
      expect(localAddressTo(peer, "0.0.0.0", "198.51.100.1")).toBe("127.0.0.1");
    }
    expect(localAddressTo("::1", "::", undefined)).toBe("::1");
  });

  it("is that of the interface in the peer's network when we are bound to everything", () => {
    const own = Object.values(networkInterfaces())
      .flatMap((addresses) => addresses ?? [])
      .filter((address) => address.family === "IPv4" && !address.internal);
    for (const { address } of own) expect(localAddressTo(address, "0.0.0.0", undefined)).toBe(address);
    const outside = localAddressTo("trunk.test", "0.0.0.0", undefined);
    expect(outside).toBe(own[0]?.address ?? "127.0.0.1");
  });
});

describe("a closed port", () => {
  it("is told from one where somebody listens, and from one that cannot be", async () => {
    await using open = await RawPeer.open();
    const closed = await RawPeer.open();
    const { port } = closed;
    await closed[Symbol.asyncDispose]();
    const at = (to: number) => isPortRefused({ address: "127.0.0.1", port: to }, 100);
    expect(await Promise.all([at(port), at(open.port), at(0), at(70_000)])).toEqual([
      true,
      false,
      false,
      false,
    ]);
    expect(open.got.every((text) => text.trim() === "")).toBe(true);
  });
});
