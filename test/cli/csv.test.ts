import fc from "fast-check";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { contactBatches } from "../../src/cli/contact-batches.ts";
import { readContacts, type ReadOptions, type RowResult } from "../../src/cli/csv-contacts.ts";
import { sniffDialect } from "../../src/cli/csv-dialect.ts";
import { contactFields, mapColumns } from "../../src/cli/csv-mapping.ts";
import { createPhoneReader } from "../../src/cli/csv-phone.ts";
import { csvRows, type CsvRow } from "../../src/cli/csv-rows.ts";
import { openCsv, type CsvSource } from "../../src/cli/csv-source.ts";

const anyway: ReadOptions = { map: [], country: undefined, limit: Infinity };
const auto = { encoding: undefined, delimiter: undefined };

/** Opens bytes as a file that lives as long as the callback. */
async function withFile<Result>(
  bytes: string | Uint8Array,
  use: (source: CsvSource) => Promise<Result>,
): Promise<Result> {
  const directory = await mkdtemp(join(tmpdir(), "outdial-csv-"));
  try {
    const path = join(directory, "in.csv");
    await writeFile(path, bytes);
    await using source = await openCsv({ stdin: process.stdin } as never, path, auto);
    return await use(source);
  } finally {
    await rm(directory, { recursive: true });
  }
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const list: Item[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const results = (bytes: string | Uint8Array, options: Partial<ReadOptions> = {}): Promise<RowResult[]> =>
  withFile(bytes, (source) => collect(readContacts(source, { ...anyway, ...options })));

const contacts = async (bytes: string | Uint8Array, options: Partial<ReadOptions> = {}): Promise<unknown[]> =>
  (await results(bytes, options)).flatMap((result) => (result.type === "contact" ? [result.contact] : []));

const chunked = (text: string, size: number, newline: "\n" | "\r" = "\n", delimiter = ","): CsvSource => ({
  encoding: "utf-8",
  guessed: false,
  dialect: { delimiter, newline, hasSepLine: false },
  sizeBytes: 0,
  async *chunks() {
    const bytes = Buffer.from(text);
    for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
  },
  [Symbol.asyncDispose]: async () => undefined,
});

const muñoz = { phone: "+34600111222", first_name: "Muñoz" };
const text = "phone,first_name\n+34600111222,Muñoz\n";

describe("an encoding", () => {
  it.each([
    ["UTF-8", Buffer.from(text), "utf-8"],
    ["UTF-8 with a byte order mark", Buffer.from(`\uFEFF${text}`), "utf-8"],
    ["Latin-1", Buffer.from(text, "latin1"), "windows-1252"],
    [
      "UTF-16LE with a mark",
      Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, "utf16le")]),
      "utf-16le",
    ],
    [
      "UTF-16BE with a mark",
      Buffer.concat([Buffer.from([0xfe, 0xff]), Buffer.from(text, "utf16le").swap16()]),
      "utf-16be",
    ],
    ["UTF-16LE without", Buffer.from(text, "utf16le"), "utf-16le"],
  ])("%s is found out", async (_, bytes, encoding) => {
    expect(await withFile(bytes, async (source) => source.encoding)).toBe(encoding);
    expect(await contacts(bytes)).toEqual([muñoz]);
  });

  it("is UTF-8 only if every byte of the file says so, at the borders of blocks too", async () => {
    const filler = "x".repeat(1024 * 1024 - 30);
    const utf8 = Buffer.from(`phone,notes\n+34600111222,${filler}ééééééé\n`);
    expect(await withFile(utf8, async ({ encoding }) => encoding)).toBe("utf-8");
    const late = Buffer.concat([utf8, Buffer.from([0xe9, 0x0a])]);
    expect(await withFile(late, async ({ encoding, guessed }) => ({ encoding, guessed }))).toEqual({
      encoding: "windows-1252",
      guessed: true,
    });
  });

  it("that does not exist is a usage error", async () => {
    await expect(
      openCsv({ stdin: process.stdin } as never, import.meta.filename, {
        encoding: "klingon",
        delimiter: undefined,
      }),
    ).rejects.toMatchObject({ exit: 2 });
  });
});

describe("a dialect", () => {
  it.each([
    ["commas", "phone,name\n+34600111222,Ana\n", ","],
    ["semicolons with decimal commas", "phone;price;city\n+34600111222;1,5;a\n+34600111333;2,5;b\n", ";"],
    ["tabs", "phone\tname\n+34600111222\tAna, María\n", "\t"],
    ["bars", "phone|name\n1|2\n", "|"],
    ["sep=", "sep=;\nphone;a,b,c\n", ";"],
    ["one column", "phone\n+34600111222\n", ","],
    ["a header alone, without its line end", "phone;name", ";"],
  ])("with %s is found out", async (_, sample, delimiter) => {
    expect((await sniffDialect(sample, undefined)).delimiter).toBe(delimiter);
  });

  it("is overruled by name or character; nonsense is refused", async () => {
    expect((await sniffDialect("a,b", "tab")).delimiter).toBe("\t");
    await expect(sniffDialect("a,b", "ab")).rejects.toMatchObject({ exit: 2 });
  });

  it("may end its lines with bare carriage returns", async () => {
    expect(await contacts("phone,first_name\r+34600111222,Muñoz\r")).toEqual([muñoz]);
    expect(await contacts("sep=;\r\nphone;first_name\r\n+34600111222;Muñoz\r\n")).toEqual([muñoz]);
  });
});

describe("rows", () => {
  const rows = async (source: CsvSource): Promise<CsvRow[]> => collect(csvRows(source));

  it("are what was written, wherever the chunks are cut", async () => {
    const cell = fc.string({ unit: fc.constantFrom("a", "é", "漢", '"', ",", "\n", "😀", " ", ";") });
    const table = fc.array(fc.tuple(cell, cell), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(
        table,
        fc.integer({ min: 1, max: 9 }),
        fc.constantFrom("\n", "\r\n"),
        async (wanted, size, end) => {
          const written = wanted
            .map((row) => row.map((one) => `"${one.replaceAll('"', '""')}"`).join(","))
            .join(end);
          const read = await rows(chunked(written, size));
          expect(read.map((row) => row.cells)).toEqual(
            wanted.filter((row) => row.some((one) => one.trim() !== "")),
          );
          expect(read.every((row) => row.fault === undefined)).toBe(true);
        },
      ),
      { numRuns: 150 },
    );
  });

  it("know the line on which they begin, line breaks in cells and empty lines counted", async () => {
    const read = await rows(chunked('a,b\n"1\n2",x\n\n3,y\n', 4));
    expect(read.map(({ line, cells }) => [line, cells[0]])).toEqual([
      [1, "a"],
      [2, "1\n2"],
      [5, "3"],
    ]);
  });

  it("with a quote in the wrong place are marked, the others are read", async () => {
    const read = await rows(chunked('a,b\n"x"y",1\n2,3\n', 5));
    expect(read.some((row) => row.fault !== undefined)).toBe(true);
    expect(read[0]?.fault).toBeUndefined();
  });

  it("end where a quote is never closed, and the row says so", async () => {
    const read = await rows(chunked('a,b\n1,2\n"open,3\n4,5\n', 6));
    expect(read.map((row) => row.cells[0])).toEqual(["a", "1", "open,3\n4,5\n"]);
    expect(read.at(-1)).toMatchObject({ line: 3, fault: expect.stringContaining("never closed") });
  });

  it("of a file with an open quote do not take the rest of a large file into memory", async () => {
    const read = await rows(chunked(`a,b\n"open,${"x".repeat(9_000_000)}`, 1_000_000));
    expect(read.at(-1)).toMatchObject({ line: 2, fault: expect.stringContaining("never closed") });
  });
});

describe("columns", () => {
  const mapped = (headings: readonly string[], map: readonly string[] = []): unknown[] =>
    mapColumns(headings, map).map((target) =>
      target.type === "skip" ? "-" : `${target.type === "custom" ? "custom:" : ""}${target.name}`,
    );

  it.each([
    [
      ["Teléfono móvil", "Nombre", "Apellidos", "Correo electrónico"],
      ["phone", "first_name", "last_name", "email"],
    ],
    [
      ["Phone number", "First Name", "Surname", "Zip Code"],
      ["phone", "first_name", "last_name", "postal_code"],
    ],
    [
      ["Numéro de téléphone", "Prénom", "Nom", "Société"],
      ["phone", "first_name", "last_name", "company"],
    ],
    [
      ["Handynummer", "Vorname", "Nachname", "PLZ"],
      ["phone", "first_name", "last_name", "postal_code"],
    ],
    [
      ["Cellulare", "Nome", "Cognome", "Città"],
      ["phone", "first_name", "last_name", "city"],
    ],
    [
      ["Telemóvel", "Nome", "Apelido", "Endereço"],
      ["phone", "first_name", "last_name", "address"],
    ],
    [
      ["PHONE", "Curso", ""],
      ["phone", "custom:Curso", "custom:column_3"],
    ],
  ])("%j are understood", (headings, wanted) => expect(mapped(headings)).toEqual(wanted));

  it("with the API's own names are always themselves", () => {
    expect(mapped(contactFields)).toEqual([...contactFields]);
    expect(mapped(["phone", "Mobile"])).toEqual(["phone", "custom:Mobile"]);
  });

  it("that could both be one field are never guessed between", () => {
    expect(() => mapped(["Mobile", "Telephone"])).toThrow(/2 columns could be phone: Mobile, Telephone/);
    expect(mapped(["Mobile", "Telephone"], ["Mobile=phone"])).toEqual(["phone", "custom:Telephone"]);
  });

  it("follow --map: fields, own names, left out", () => {
    expect(mapped(["Tel", "a", "b"], ["a=course", "b=skip"])).toEqual(["phone", "custom:course", "-"]);
    expect(() => mapped(["phone"], ["nope=email"])).toThrow(/no column "nope"/);
    expect(() => mapped(["phone", "x"], ["x=phone"])).toThrow(/2 columns could be phone/);
    expect(() => mapped(["phone"], ["phone"])).toThrow(/column=field/);
  });

  it("without a phone, or without a header, say what to do", () => {
    expect(() => mapped(["name", "age"])).toThrow(/no column is known to hold the phone/);
    expect(() => mapped(["+34600111222", "Ana"])).toThrow(/no header line/);
  });

  it("of the same name stay apart, and those that outdial added are no data", () => {
    expect(mapped(["phone", "x", "x", "outdial_line", "outdial_reason"])).toEqual([
      "phone",
      "custom:x",
      "custom:x_2",
      "-",
      "-",
    ]);
  });
});

describe("phone numbers", () => {
  it.each([
    ["+34 600 111 222", undefined, "+34600111222"],
    ["0034 600-111-222", undefined, "+34600111222"],
    ["(+34) 600.111.222", undefined, "+34600111222"],
    ["'+34600111222", undefined, "+34600111222"],
    ["\u202a+34\u00a0600111222\u202c", undefined, "+34600111222"],
    ["+44 (0)20 7946 0018", undefined, "+442079460018"],
    ["tel:+34600111222", undefined, "+34600111222"],
    ["600 111 222", "es", "+34600111222"],
    ["34600111222", "ES", "+34600111222"],
    ["600111222.0", "ES", "+34600111222"],
    ["+9990000001", undefined, "+9990000001"],
    ["00 999 000 0102", undefined, "+9990000102"],
  ])("%j (%s) is %s", async (written, country, e164) => {
    expect((await createPhoneReader(country)).read(written)).toEqual({ ok: true, value: e164 });
  });

  it.each([
    ["", /empty/],
    ["3.46E+10", /rounded by a spreadsheet/],
    ["3,46E+10", /rounded by a spreadsheet/],
    ["600111222", /add --country/],
    ["+34600", /no possible phone number/],
    ["+34600111222 / +34600111333", /more than one number/],
    ["+34912345678 ext 12", /extension/],
    ["ask Ana", /no phone number/],
  ])("%j is refused with the reason", async (written, reason) => {
    expect((await createPhoneReader(undefined)).read(written)).toMatchObject({
      ok: false,
      problem: { message: expect.stringMatching(reason) },
    });
  });

  it("never throw, and are E.164 whenever they are accepted", async () => {
    const reader = await createPhoneReader("ES");
    const always = fc.check(
      fc.property(fc.oneof(fc.string(), fc.stringMatching(/^[+0-9 ()./-]{0,20}$/)), (written) => {
        const read = reader.read(written);
        return !read.ok || /^\+[1-9]\d{6,14}$/.test(read.value);
      }),
    );
    expect(always.failed).toBe(false);
  });

  it("of a country that does not exist are a usage error", async () => {
    await expect(createPhoneReader("XX")).rejects.toMatchObject({ exit: 2 });
  });
});

describe("contacts", () => {
  it("hold the known fields, the others as custom fields, and nothing that is empty", async () => {
    expect(await contacts("phone,Nombre,Curso,email\n+34600111222, Ana ,MBA,\n")).toEqual([
      { phone: "+34600111222", first_name: "Ana", custom_fields: { Curso: "MBA" } },
    ]);
  });

  it("take columns called __proto__ and constructor as data", async () => {
    const [contact] = await contacts("phone,__proto__,constructor\n+34600111222,a,b\n");
    expect(JSON.stringify(contact)).toBe(
      '{"phone":"+34600111222","custom_fields":{"__proto__":"a","constructor":"b"}}',
    );
    expect(({} as Record<string, unknown>)["a"]).toBeUndefined();
  });

  it("come once: the second row with a number is a duplicate, however it is written", async () => {
    const found = await results("phone\n+34600111222\n0034600111222\n+34 600 111 222\n+34600111333\n");
    expect(found.map((result) => result.type)).toEqual([
      "header",
      "contact",
      "duplicate",
      "duplicate",
      "contact",
    ]);
  });

  it("that cannot be called are rejected with line and reason, the others go on", async () => {
    const found = await results("phone,a\nnope,1\n+34600111222,2\n+34600111333,3,4,5\n3.46E+10,6\n");
    const rejected = found.flatMap((result) =>
      result.type === "rejected" ? [[result.row.line, result.reason]] : [],
    );
    expect(rejected).toEqual([
      [2, '"nope" is no phone number'],
      [4, expect.stringContaining("4 columns, the header 2")],
      [5, expect.stringContaining("spreadsheet")],
    ]);
  });

  it("end at the limit", async () => {
    expect(await contacts("phone\n+34600111222\n+34600111333\n+34600111444\n", { limit: 2 })).toHaveLength(2);
  });

  it("of an empty file are none, and that is said", async () => {
    await expect(results("")).rejects.toMatchObject({ exit: 2 });
    await expect(results("\n\n")).rejects.toMatchObject({ exit: 2 });
  });

  it("are cut into batches by number and by size", async () => {
    const lines = Array.from({ length: 25 }, (_, n) => `+346001112${String(n).padStart(2, "0")}`);
    const sizes = (limits: { contacts: number; bytes: number }): Promise<number[]> =>
      withFile(`phone\n${lines.join("\n")}\n`, async (source) =>
        (await collect(contactBatches(source, anyway, limits))).map((batch) => batch.contacts.length),
      );
    expect(await sizes({ contacts: 10, bytes: 1e6 })).toEqual([10, 10, 5]);
    expect(await sizes({ contacts: 100, bytes: 300 })).toEqual([12, 12, 1]);
  });
});
