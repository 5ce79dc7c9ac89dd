import { createSocket, type Socket } from "node:dgram";
import { describe, expect, test } from "vitest";
import { startPortDrain } from "../../src/lines/port-drain.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { openStranger, turnsUntil } from "./hand-driven.ts";

async function boundSocket(): Promise<{ socket: Socket; isClosed: () => boolean }> {
  const socket = createSocket("udp4");
  let closed = false;
  socket.on("close", () => (closed = true));
  await new Promise<void>((bound) => socket.bind(0, "127.0.0.1", bound));
  return { socket, isClosed: () => closed };
}

describe("the drain", () => {
  test("gives a port back after 30 s in which nothing came", async () => {
    const clock = new VirtualClock();
    const drain = startPortDrain({ clock });
    const { socket, isClosed } = await boundSocket();
    drain.add(socket);
    clock.advance(29_999);
    expect(drain.size).toBe(1);
    clock.advance(1);
    expect(drain.size).toBe(0);
    await turnsUntil(isClosed);
  });

  test("keeps a port that an old peer still sends to, ten minutes at most, and nobody hears it", async () => {
    const clock = new VirtualClock();
    const drain = startPortDrain({ clock });
    const { socket } = await boundSocket();
    const peer = await openStranger();
    const heard: Buffer[] = [];
    socket.on("message", (packet) => heard.push(packet));
    drain.add(socket);
    let arrived = 0;
    socket.on("message", () => arrived++);
    for (let second = 20; second < 600; second += 20) {
      clock.advance(20_000);
      expect(drain.size, `after ${second} s`).toBe(1);
      peer.socket.send("late", socket.address().port, "127.0.0.1");
      await turnsUntil(() => arrived === second / 20);
    }
    clock.advance(20_000);
    expect(drain.size).toBe(0);
    expect(heard).toEqual([]);
  });

  test("closes all at the end of the program", async () => {
    const drain = startPortDrain({ clock: new VirtualClock() });
    const sockets = [await boundSocket(), await boundSocket()];
    for (const { socket } of sockets) drain.add(socket);
    drain.close();
    expect(drain.size).toBe(0);
    await turnsUntil(() => sockets.every(({ isClosed }) => isClosed()));
  });
});
