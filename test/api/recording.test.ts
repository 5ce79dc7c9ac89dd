import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { callOf } from "../support/memory-service.ts";
import { PublicApiRig } from "../support/public-api.ts";

let rig: PublicApiRig;
let path: string;
const octets = Uint8Array.from({ length: 100 }, (_, i) => 65 + (i % 26));
const whole = Buffer.from(octets).toString();
const call = callOf({ recording: "secret-file-name.wav" });
const nobody = { authorization: "" };

beforeEach(async () => {
  rig = await PublicApiRig.start();
  rig.service.calls = [call];
  rig.service.recordings.set(call.id, octets);
  const [record] = JSON.parse((await rig.ask("GET", "/calls")).text);
  path = new URL(record.recording).pathname;
});
afterEach(async () => rig[Symbol.asyncDispose]());

describe("GET /recordings/{signed}", () => {
  test("opens without a token, whole, as audio", async () => {
    const reply = await rig.ask("GET", path, undefined, nobody);
    expect([reply.status, reply.text]).toEqual([200, whole]);
    expect(reply.headers).toMatchObject({
      "content-type": "audio/wav",
      "content-length": "100",
      "accept-ranges": "bytes",
    });
    expect(rig.service.closedRecordings).toBe(1);
  });

  test("the URL of a list record and of the call itself are absolute and open the same", async () => {
    const { recording_url } = (await rig.ask("GET", `/call/${call.id}`)).json;
    expect(String(recording_url).startsWith(`${rig.origin}/recordings/`)).toBe(true);
    expect((await rig.ask("GET", new URL(String(recording_url)).pathname, undefined, nobody)).text).toBe(
      whole,
    );
  });

  test("says nothing of files", () => {
    expect(Buffer.from(path.split("/").at(-1) ?? "", "base64url").toString("latin1")).not.toContain("secret");
  });

  test.each([
    ["bytes=0-9", 206, "bytes 0-9/100", whole.slice(0, 10)],
    ["bytes=90-", 206, "bytes 90-99/100", whole.slice(90)],
    ["bytes=-5", 206, "bytes 95-99/100", whole.slice(95)],
    ["bytes=-500", 206, "bytes 0-99/100", whole],
    ["bytes=50-5000", 206, "bytes 50-99/100", whole.slice(50)],
    ["bytes=99-99", 206, "bytes 99-99/100", whole.slice(99)],
    ["bytes=0-1,5-6", 200, undefined, whole],
    ["bytes=9-1", 200, undefined, whole],
    ["bytes=-", 200, undefined, whole],
    ["lines=1-2", 200, undefined, whole],
  ])("serves the range %s", async (range, status, contentRange, text) => {
    const reply = await rig.ask("GET", path, undefined, { ...nobody, range });
    expect([reply.status, reply.headers["content-range"], reply.text]).toEqual([status, contentRange, text]);
    expect(reply.headers["content-length"]).toBe(String(text.length));
  });

  test.each(["bytes=100-", "bytes=-0"])("416 for the range %s", async (range) => {
    const reply = await rig.ask("GET", path, undefined, { ...nobody, range });
    expect([reply.status, reply.headers["content-range"]]).toEqual([416, "bytes */100"]);
    expect(rig.service.closedRecordings).toBe(1);
  });

  test("HEAD tells the length", async () => {
    const reply = await rig.ask("HEAD", path, undefined, nobody);
    expect([reply.status, reply.headers["content-length"], reply.text]).toEqual([200, "100", ""]);
  });

  test("is useless after a day", async () => {
    rig.clock.advance(24 * 3_600_000 - 1);
    expect((await rig.ask("GET", path, undefined, nobody)).status).toBe(200);
    rig.clock.advance(1_001);
    expect((await rig.ask("GET", path, undefined, nobody)).status).toBe(404);
  });

  test("any other text opens nothing, and the service is not even asked", async () => {
    let asked = 0;
    const open = rig.service.openRecording.bind(rig.service);
    rig.service.openRecording = async (...args) => {
      asked++;
      return open(...args);
    };
    const signed = path.slice("/recordings/".length);
    const [payload = "", mac = ""] = signed.split(".");
    const forged = Buffer.from(
      Buffer.from(payload, "base64url").toString().replace("0190c000", "0190c001"),
    ).toString("base64url");
    const attacks = [
      `${forged}.${mac}.wav`,
      `${payload}.${mac.slice(0, -1)}.wav`,
      `${payload}.${mac}`,
      `${payload}..wav`,
      "..%2F..%2Fetc%2Fpasswd",
      "%2e%2e%2fetc%2fpasswd",
      "..%5c..%5cwindows",
      "secret-file-name.wav",
      `${call.id}.wav`,
      `${signed}%00.wav`,
      `${signed}/..`,
      "%00",
    ];
    for (const attack of attacks) {
      expect((await rig.ask("GET", `/recordings/${attack}`, undefined, nobody)).status).toBe(404);
    }
    expect(asked).toBe(0);
  });

  test("404 when the recording was removed", async () => {
    rig.service.recordings.clear();
    expect((await rig.ask("GET", path, undefined, nobody)).status).toBe(404);
  });
});
