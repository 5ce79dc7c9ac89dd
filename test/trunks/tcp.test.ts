import { once } from "node:events";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { steadyClock, systemEntropy } from "#host";
import type { IncomingCallEvent } from "#sip";
import { carryStream } from "../../src/trunks/stream-connection.ts";
import { VirtualClock } from "../support/virtual-clock.ts";
import { callee, dial, endpoint, Events, media } from "./loopback.ts";
import { field, RawPeer, sdpMore } from "./raw-peer.ts";
import { RawStreamPeer } from "./raw-stream-peer.ts";

const tcp = (port: number) => ({ host: "127.0.0.1", port, transport: "tcp" as const });

describe("a call over TCP", () => {
  it("is held between two endpoints, whoever ends it", async () => {
    for (const who of ["caller", "callee"]) {
      const heard = new Events<IncomingCallEvent>();
      await using carrier = await callee(
        (call) => {
          call.onEvent = (event) => {
            heard.push(event);
            if (event.type === "acknowledged" && who === "callee") call.hangUp();
          };
          call.ring();
          call.answer(media);
        },
        { takesTcp: true },
      );
      await using us = await endpoint();
      const leg = dial(us, 1, { target: tcp(carrier.local.port) });
      await leg.events.until("leg-answered");
      await heard.until("acknowledged");
      if (who === "caller") leg.hangUp();
      expect(await leg.ended()).toMatchObject({ answered: true, by: who === "caller" ? "us" : "them" });
      expect(await heard.until("ended")).toMatchObject({ by: who === "caller" ? "them" : "us" });
    }
  });

  it("is held over IPv6, too", async () => {
    const address = "::1";
    const trusts = (from: string) => from === address;
    await using carrier = await callee((call) => void call.answer(media), {
      address,
      trusts,
      takesTcp: true,
    });
    await using us = await endpoint({ address });
    const leg = dial(us, 1, { target: { host: address, port: carrier.local.port, transport: "tcp" } });
    const { dialog } = await leg.events.until("leg-answered");
    expect(dialog.destination).toEqual({ address, port: carrier.local.port, transport: "tcp" });
    leg.hangUp();
    expect(await leg.ended()).toMatchObject({ by: "us", answered: true });
  });

  it("says so in Via and Contact, and uses one connection for everything between the two", async () => {
    await using trunk = await RawStreamPeer.open();
    await using us = await endpoint();
    const leg = dial(us, 1, { target: tcp(trunk.port) });
    const invite = await trunk.next("INVITE");
    expect(field(invite.text, "Via")).toMatch(new RegExp(`^SIP/2\\.0/TCP 127\\.0\\.0\\.1:${us.local.port};`));
    expect(field(invite.text, "Contact")).toBe(
      `<sip:+34911222333@127.0.0.1:${invite.by.remotePort};transport=tcp>`,
    );
    trunk.respond(invite, "200 OK", { more: sdpMore });
    await trunk.next("ACK");
    const inside = `From: ${field(invite.text, "To")};tag=raw\r\nTo: ${field(invite.text, "From")}\r\nCall-ID: ${field(invite.text, "Call-ID")}`;
    invite.by.write(
      `INFO sip:x SIP/2.0\r\nVia: SIP/2.0/TCP 127.0.0.1:${trunk.port};branch=z9hG4bKi\r\n${inside}\r\nCSeq: 1 INFO\r\nMax-Forwards: 70\r\nContent-Type: application/dtmf\r\nContent-Length: 1\r\n\r\n5`,
    );
    expect(await leg.events.until("leg-dtmf")).toMatchObject({ digit: "5" });
    const answered = await trunk.next("SIP/2.0 200");
    expect(answered.text).toContain("CSeq: 1 INFO");
    leg.hangUp();
    const bye = await trunk.next("BYE");
    trunk.respond(bye, "200 OK");
    expect(trunk.sockets).toHaveLength(1);
    expect(trunk.got.filter(({ text }) => text.startsWith("INVITE"))).toHaveLength(1);
  });

  it("comes whole, chopped in any way", async () => {
    await using trunk = await RawStreamPeer.open();
    await using us = await endpoint();
    const leg = dial(us, 1, { target: tcp(trunk.port) });
    const invite = await trunk.next("INVITE");
    const written: string[] = [];
    const slow = { write: (text: string) => written.push(text), remotePort: 0 };
    trunk.respond({ text: invite.text, by: slow as never }, "180 Ringing");
    trunk.respond({ text: invite.text, by: slow as never }, "200 OK", { more: sdpMore });
    for (const octet of written.join("")) {
      if (!invite.by.write(octet)) await once(invite.by, "drain");
    }
    await leg.events.until("leg-answered");
    expect(leg.events.types).toEqual(["leg-ringing", "leg-answered"]);
    leg.hangUp();
    trunk.respond(await trunk.next("BYE"), "200 OK");
  });

  it("ends at once, with the reason, when the connection breaks before an answer", async () => {
    await using trunk = await RawStreamPeer.open();
    await using us = await endpoint();
    const leg = dial(us, 1, { target: tcp(trunk.port) });
    const { by } = await trunk.next("INVITE");
    by.destroy();
    expect(await leg.ended()).toMatchObject({
      by: "nobody",
      failure: "transport",
      problem: `The server at 127.0.0.1:${trunk.port} closed the connection.`,
    });
  });

  it("outlives its connection: the BYE goes over a new one", async () => {
    await using trunk = await RawStreamPeer.open();
    await using us = await endpoint();
    const leg = dial(us, 1, { target: tcp(trunk.port) });
    const invite = await trunk.next("INVITE");
    trunk.respond(invite, "200 OK", { more: sdpMore });
    await trunk.next("ACK");
    await leg.events.until("leg-answered");
    invite.by.destroy();
    await settled();
    leg.hangUp();
    const bye = await trunk.next("BYE");
    expect(bye.by).not.toBe(invite.by);
    trunk.respond(bye, "200 OK");
    expect(await leg.ended()).toMatchObject({ by: "us", answered: true });
  });

  it("is asked for again over a new connection when an old one turns out dead, and only then", async () => {
    await using trunk = await RawStreamPeer.open();
    const clock = new VirtualClock();
    await using us = await endpoint({ clock });
    const first = us.probe(tcp(trunk.port));
    trunk.respond(await trunk.next("OPTIONS"), "200 OK");
    expect(await first).toMatchObject({ status: 200 });
    clock.advance(10_000);
    const leg = dial(us, 1, { target: tcp(trunk.port) });
    const swallowed = await trunk.next("INVITE");
    swallowed.by.destroy();
    const again = await trunk.next("INVITE", 2);
    expect(again.text).toBe(swallowed.text);
    again.by.destroy();
    expect(await leg.ended()).toMatchObject({ failure: "transport" });
    const closed = us.close();
    await settled();
    clock.advance(2_000);
    await closed;
  });

  it("that nobody takes ends with a sentence", async () => {
    const gone = await RawStreamPeer.open();
    const { port } = gone;
    await gone[Symbol.asyncDispose]();
    await using us = await endpoint();
    expect(await dial(us, 1, { target: tcp(port) }).ended()).toEqual({
      by: "nobody",
      failure: "transport",
      answered: false,
      ringing: false,
      problem: `Nobody listens at 127.0.0.1:${port} (TCP).`,
    });
  });

  it("that a server sends nonsense to is over, and the next one gets a new connection", async () => {
    await using trunk = await RawStreamPeer.open();
    await using us = await endpoint();
    const leg = dial(us, 1, { target: tcp(trunk.port) });
    const { by } = await trunk.next("INVITE");
    by.write("HTTP/1.1 400 Bad Request\r\n\r\n");
    expect((await leg.ended()).problem).toBe(
      `The server at 127.0.0.1:${trunk.port} does not speak SIP: the start line is not SIP.`,
    );
    const again = dial(us, 1, { target: tcp(trunk.port) });
    const second = await trunk.next("INVITE", 2);
    expect(second.by).not.toBe(by);
    trunk.respond(second, "486 Busy Here");
    expect(await again.ended()).toMatchObject({ status: 486 });
  });
});

describe("an INVITE too large for a datagram", () => {
  const large = { identity: { headers: { "X-Campaign": "x".repeat(1_400) } } };

  it("goes over TCP where that is taken, and the call goes on as its answer says", async () => {
    await using carrier = await callee((call) => void call.answer(media), { takesTcp: true });
    const firstLines: string[] = [];
    await using us = await endpoint({
      onTrace: ({ direction, transport, firstLine }) => {
        if (direction === "sent") firstLines.push(`${transport} ${firstLine.split(" ")[0]}`);
      },
    });
    const leg = dial(us, carrier.local.port, large);
    await leg.events.until("leg-answered");
    leg.hangUp();
    await leg.ended();
    expect(firstLines.slice(0, 2)).toEqual(["tcp INVITE", "tcp ACK"]);
  });

  it("goes as a datagram where it is not", async () => {
    await using trunk = await RawPeer.open();
    await using us = await endpoint();
    const leg = dial(us, trunk.port, large);
    const invite = await trunk.next("INVITE");
    expect(field(invite, "Via")).toMatch(/^SIP\/2\.0\/UDP /);
    expect(invite.length).toBeGreaterThan(1_400);
    trunk.respond(invite, "486 Busy Here");
    expect(await leg.ended()).toMatchObject({ status: 486 });
  });
});

describe("a TCP port that is open to all", () => {
  it("gives strangers nothing, and does not keep them", async () => {
    const clock = new VirtualClock();
    await using us = await endpoint({ takesTcp: true, trusts: () => false, clock });
    const socket = connect(us.local.port, "127.0.0.1");
    let got = "";
    socket.on("data", (chunk) => (got += chunk.toString()));
    await once(socket, "connect");
    socket.write("\r\n\r\n");
    socket.write(
      "OPTIONS sip:x SIP/2.0\r\nVia: SIP/2.0/TCP 127.0.0.1;branch=z9hG4bK1\r\nFrom: <sip:a@b>;tag=1\r\nTo: <sip:c@d>\r\nCall-ID: 1\r\nCSeq: 1 OPTIONS\r\nMax-Forwards: 70\r\nContent-Length: 0\r\n\r\n",
    );
    const closed = once(socket, "close");
    const ticking = setInterval(() => clock.advance(1_000), 5);
    await closed;
    clearInterval(ticking);
    expect(got).toBe("");
  });

  it("takes no more than a few connections of one address", async () => {
    await using us = await endpoint({ takesTcp: true, trusts: () => false });
    const sockets = Array.from({ length: 20 }, () => connect(us.local.port, "127.0.0.1"));
    let closed = 0;
    const enough = new Promise<void>((resolve) => {
      for (const socket of sockets) {
        socket.on("error", () => undefined);
        socket.on("close", () => (++closed === 4 ? resolve() : undefined));
      }
    });
    await enough;
    for (const socket of sockets) socket.destroy();
    expect(closed).toBe(4);
  });
});

describe("a connection that is kept", () => {
  /** A connection in virtual time to a peer on a real socket. */
  async function kept(needed: () => boolean) {
    const trunk = await RawStreamPeer.open();
    const clock = new VirtualClock();
    const problems: string[] = [];
    const connection = carryStream(
      connect(trunk.port, "127.0.0.1"),
      { address: "127.0.0.1", port: trunk.port, transport: "tcp" },
      "connect",
      {
        clock,
        entropy: systemEntropy,
        accepted: false,
        received: () => true,
        needed,
        ended: (problem) => void problems.push(problem),
      },
    );
    await connection.opened;
    await trunk.until(() => trunk.sockets.length === 1);
    return { trunk, clock, connection, problems, [Symbol.asyncDispose]: () => trunk[Symbol.asyncDispose]() };
  }

  it("is pinged every 25 to 30 s, and given up when a peer that answered does so no more", async () => {
    await using stage = await kept(() => true);
    const { trunk, clock, problems } = stage;
    clock.advance(24_999);
    expect(trunk.got).toEqual([]);
    clock.advance(5_001);
    const ping = await trunk.next("\r\n\r\n");
    clock.advance(15_000); // It never answered before: silence means nothing.
    ping.by.write("\r\n");
    ping.by.write("SIP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n");
    await settled();
    clock.advance(15_000);
    await trunk.until(() => trunk.got.map(({ text }) => text).join("") === "\r\n\r\n\r\n\r\n");
    expect(problems).toEqual([]);
    clock.advance(10_000);
    await trunk.until(() => ping.by.destroyed);
    await settled();
    expect(problems).toEqual([`The server at 127.0.0.1:${trunk.port} answers no more.`]);
  });

  it("answers the pings of its peer", async () => {
    await using stage = await kept(() => true);
    const { trunk } = stage;
    trunk.sockets[0]!.write("\r\n");
    trunk.sockets[0]!.write("\r\n");
    expect((await trunk.next("\r\n")).text).toBe("\r\n");
  });

  it("is closed after five minutes without a message, unless somebody needs it", async () => {
    let needed = true;
    await using stage = await kept(() => needed);
    const { trunk, clock } = stage;
    clock.advance(900_000);
    await settled();
    expect(trunk.sockets[0]!.destroyed).toBe(false);
    needed = false;
    clock.advance(30_000);
    await trunk.until(() => trunk.sockets[0]!.destroyed);
  });

  it("to a peer that reads nothing does not fill the memory", async () => {
    await using stage = await kept(() => true);
    const { trunk, connection, problems } = stage;
    trunk.sockets[0]!.pause();
    const failed: string[] = [];
    for (let n = 0; n < 3_000 && failed.length === 0; n++) {
      connection.send(new Uint8Array(10_000), (problem) => void failed.push(problem));
    }
    expect(failed[0]).toBe(`The server at 127.0.0.1:${trunk.port} reads nothing.`);
    await settled();
    expect(problems).toEqual(failed.slice(0, 1));
  });

  it("that does not come about is given up after four seconds", async () => {
    const clock = new VirtualClock();
    const socket = connect({ host: "127.0.0.1", port: 9, lookup: () => undefined });
    const connection = carryStream(socket, { address: "10.0.0.9", port: 5060, transport: "tcp" }, "connect", {
      clock,
      entropy: systemEntropy,
      accepted: false,
      received: () => true,
      needed: () => true,
      ended: () => undefined,
    });
    socket.removeAllListeners("connect"); // As if it were never answered.
    clock.advance(4_000);
    await expect(connection.opened).rejects.toThrow("10.0.0.9:5060");
  });
});

/** What the sockets of this process have in flight on the loopback has arrived. */
async function settled(): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  steadyClock.alarm(steadyClock.now() + 50, resolve);
  await promise;
}
