import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";

/** Records of a zone by `TYPE name`. */
export type Zone = Readonly<Record<string, readonly DnsRecord[]>>;

export type DnsRecord =
  | { readonly address: string; readonly ttl?: number }
  | { readonly priority: number; readonly weight: number; readonly port: number; readonly name: string }
  | {
      readonly order: number;
      readonly preference: number;
      readonly flags: string;
      readonly service: string;
      readonly replacement: string;
    };

const types: Readonly<Record<number, string>> = { 1: "A", 28: "AAAA", 33: "SRV", 35: "NAPTR" };

/** A DNS server on the loopback that knows one zone (RFC 1035). */
export class DnsServer implements AsyncDisposable {
  readonly #socket: Socket;
  /** What was asked, as `TYPE name`. */
  readonly asked: string[] = [];
  zone: Zone;

  private constructor(socket: Socket, zone: Zone) {
    this.#socket = socket;
    this.zone = zone;
    socket.on("message", (query, from) => socket.send(this.#answer(query), from.port, from.address));
  }

  static async open(zone: Zone): Promise<DnsServer> {
    const socket = createSocket("udp4").bind(0, "127.0.0.1");
    await once(socket, "listening");
    return new DnsServer(socket, zone);
  }

  /** As resolvers want it. */
  get at(): string {
    return `127.0.0.1:${this.#socket.address().port}`;
  }

  #answer(query: Buffer): Buffer {
    const labels: string[] = [];
    let at = 12;
    for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
      labels.push(query.toString("latin1", at + 1, at + 1 + length));
      at += 1 + length;
    }
    const type = query.readUInt16BE(at + 1);
    const question = query.subarray(12, at + 5);
    const key = `${types[type] ?? type} ${labels.join(".").toLowerCase()}`;
    this.asked.push(key);
    const records = this.zone[key] ?? [];
    const name = ` ${labels.join(".").toLowerCase()}`;
    const exists = Object.keys(this.zone).some((known) => known.endsWith(name));
    const head = Buffer.alloc(12);
    query.copy(head, 0, 0, 2);
    head.writeUInt16BE(exists ? 0x8580 : 0x8583, 2);
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(records.length, 6);
    return Buffer.concat([head, question, ...records.map((record) => resource(type, record))]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await once(this.#socket, "close");
  }
}

function resource(type: number, record: DnsRecord): Buffer {
  const data = dataOf(record);
  const head = Buffer.alloc(12);
  head.writeUInt16BE(0xc00c, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt16BE(1, 4);
  head.writeUInt32BE("ttl" in record ? (record.ttl ?? 60) : 60, 6);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function dataOf(record: DnsRecord): Buffer {
  if ("address" in record) {
    if (!record.address.includes(":")) return Buffer.from(record.address.split(".").map(Number));
    const [front = "", back = ""] = record.address.split("::");
    const groups = (text: string) => (text === "" ? [] : text.split(":"));
    const zeros = Array.from({ length: 8 - groups(front).length - groups(back).length }, () => "0");
    const all = [...groups(front), ...zeros, ...groups(back)].map((group) => Number.parseInt(group, 16));
    return Buffer.from(all.flatMap((group) => [group >> 8, group & 0xff]));
  }
  if ("port" in record) {
    const head = Buffer.alloc(6);
    head.writeUInt16BE(record.priority, 0);
    head.writeUInt16BE(record.weight, 2);
    head.writeUInt16BE(record.port, 4);
    return Buffer.concat([head, nameOf(record.name)]);
  }
  const head = Buffer.alloc(4);
  head.writeUInt16BE(record.order, 0);
  head.writeUInt16BE(record.preference, 2);
  const texts = [record.flags, record.service, ""].map((text) =>
    Buffer.from(`${String.fromCharCode(text.length)}${text}`),
  );
  return Buffer.concat([head, ...texts, nameOf(record.replacement)]);
}

function nameOf(name: string): Buffer {
  const labels = name.split(".").filter((label) => label !== "");
  return Buffer.from(
    `${labels.map((label) => String.fromCharCode(label.length) + label).join("")}\0`,
    "latin1",
  );
}
