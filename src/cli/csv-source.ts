import { isUtf8 } from "node:buffer";
import { createReadStream, createWriteStream } from "node:fs";
import { mkdtemp, open, rm, stat } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { usageError } from "./command-error.ts";
import type { Io } from "./io.ts";
import { sniffDialect, type Dialect } from "./csv-dialect.ts";

const sniffBytes = 128 * 1024;
const blockBytes = 1024 * 1024;
const chunkBytes = 256 * 1024;

/** A file of rows, its encoding and form found out; may be read several times. */
export interface CsvSource extends AsyncDisposable {
  readonly encoding: string;
  /** True when nothing but the bytes themselves spoke for this encoding. */
  readonly guessed: boolean;
  readonly dialect: Dialect;
  readonly sizeBytes: number;
  chunks(): AsyncIterable<Uint8Array>;
}

export interface CsvOptions {
  readonly encoding: string | undefined;
  readonly delimiter: string | undefined;
}

/**
 * Opens a CSV file, or standard input for `-`. What can be read only once (a pipe) is first copied to an
 * owner-only temporary file: the encoding is decided by a whole pass.
 */
export async function openCsv(io: Io, file: string, options: CsvOptions): Promise<CsvSource> {
  const spooled = file === "-" || !(await stat(file)).isFile() ? await spool(io, file) : undefined;
  try {
    const path = spooled?.path ?? file;
    const { size } = await stat(path);
    const head = await firstBytes(path);
    const { encoding, guessed } = await encodingOf(path, head, options.encoding);
    const dialect = await sniffDialect(
      new TextDecoder(encoding).decode(head, { stream: true }),
      options.delimiter,
    );
    return {
      encoding,
      guessed,
      dialect,
      sizeBytes: size,
      chunks: () => createReadStream(path, { highWaterMark: chunkBytes }) as AsyncIterable<Uint8Array>,
      [Symbol.asyncDispose]: async () => spooled?.remove(),
    };
  } catch (error) {
    await spooled?.remove();
    throw error;
  }
}

async function spool(io: Io, file: string): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const directory = await mkdtemp(join(tmpdir(), "outdial-"));
  const path = join(directory, "rows.csv");
  const remove = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    await pipeline(
      file === "-" ? io.stdin : createReadStream(file),
      createWriteStream(path, { mode: 0o600 }),
    );
    return { path, remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function firstBytes(path: string): Promise<Uint8Array> {
  const handle = await open(path, "r");
  try {
    const buffer = new Uint8Array(sniffBytes);
    const { bytesRead } = await handle.read(buffer, 0, sniffBytes, 0);
    return buffer.subarray(0, bytesRead);
  } finally {
    await handle.close();
  }
}

interface Found {
  readonly encoding: string;
  readonly guessed: boolean;
}

async function encodingOf(path: string, head: Uint8Array, given: string | undefined): Promise<Found> {
  if (given !== undefined && given !== "auto") return { encoding: knownEncoding(given), guessed: false };
  if (head[0] === 0xff && head[1] === 0xfe) return { encoding: "utf-16le", guessed: false };
  if (head[0] === 0xfe && head[1] === 0xff) return { encoding: "utf-16be", guessed: false };
  const zeros = zeroBytes(head);
  if (zeros !== undefined) return { encoding: zeros, guessed: true };
  if (await isAllUtf8(path)) return { encoding: "utf-8", guessed: false };
  return { encoding: "windows-1252", guessed: true };
}

function knownEncoding(name: string): string {
  try {
    return new TextDecoder(name).encoding;
  } catch {
    throw usageError(
      `there is no encoding "${name}"`,
      "use utf-8, windows-1252, iso-8859-15, utf-16le, macintosh, ...",
    );
  }
}

/** UTF-16 without a byte order mark: every other byte of Latin text is zero. */
function zeroBytes(head: Uint8Array): string | undefined {
  const counts = [0, 0];
  const length = Math.min(head.length, 4096);
  for (let at = 0; at < length; at++) if (head[at] === 0) counts[at % 2] = (counts[at % 2] ?? 0) + 1;
  const [even = 0, odd = 0] = counts;
  if (odd > length / 4 && even < length / 20) return "utf-16le";
  return even > length / 4 && odd < length / 20 ? "utf-16be" : undefined;
}

async function isAllUtf8(path: string): Promise<boolean> {
  let carried: Uint8Array = new Uint8Array();
  for await (const chunk of createReadStream(path, {
    highWaterMark: blockBytes,
  }) as AsyncIterable<Uint8Array>) {
    const block = carried.length === 0 ? chunk : Buffer.concat([carried, chunk]);
    const end = block.length - unfinishedBytes(block);
    if (!isUtf8(block.subarray(0, end))) return false;
    carried = block.subarray(end);
  }
  return carried.length === 0;
}

/** How many bytes at the end begin a character that goes on after them (RFC 3629 3). */
function unfinishedBytes(block: Uint8Array): number {
  for (let back = 1; back <= Math.min(3, block.length); back++) {
    const byte = block[block.length - back] ?? 0;
    if (byte < 0x80) return 0;
    if (byte >= 0xc0) {
      const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
      return length > back ? back : 0;
    }
  }
  return 0;
}
