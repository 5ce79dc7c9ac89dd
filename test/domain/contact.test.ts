import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { contactFieldNames, contactParams, mergeContact, readContact } from "../../src/domain/contact.ts";

describe("a contact", () => {
  test("keeps every published text field, and only what was given", () => {
    const texts = Object.fromEntries(
      contactFieldNames.map((name) => [name, name === "timezone" ? "America/Lima" : name]),
    );
    expect(readContact({ phone: "+34600111222", ...texts, unknown: "x" }, "c")).toEqual({
      ok: true,
      value: { phone: "+34600111222", callable: true, fields: texts, customFields: {} },
    });
    expect(readContact({ phone: "+34600111222", city: null }, "c")).toMatchObject({ value: { fields: {} } });
  });

  test("with a phone that is no number is stored as it was given, and cannot be called", () => {
    expect(readContact({ phone: " 600 " }, "c")).toMatchObject({
      ok: true,
      value: { phone: "600", callable: false },
    });
  });

  test("gives its fields and custom fields to the call as text", () => {
    const params = contactParams({
      phone: "+34600111222",
      fields: { first_name: "Ana" },
      customFields: {
        course: "law",
        n: 3,
        yes: true,
        none: null,
        deep: { a: [1] },
        first_name: "hidden",
        phone: "x",
      },
    });
    expect(params).toEqual({
      course: "law",
      n: "3",
      yes: "true",
      none: "",
      deep: '{"a":[1]}',
      first_name: "Ana",
      phone: "+34600111222",
    });
  });

  test("is created or updated: given fields overwrite, absent ones stay, custom fields merge", () => {
    const known = { fields: { first_name: "Ana", city: "Vigo" }, customFields: { a: 1, b: 2 } };
    const given = { fields: { city: "" }, customFields: { b: null, c: 3 } };
    expect(mergeContact(known, given)).toEqual({
      fields: { first_name: "Ana", city: "" },
      customFields: { a: 1, b: null, c: 3 },
    });
  });

  test("whatever JSON comes in is read or refused with its place, and no prototype is touched", () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        const read = readContact(JSON.parse(text), "contacts[3]");
        if (!read.ok) expect(read.problem.where).toMatch(/^contacts\[3\]/);
      }),
    );
    const hostile: unknown = JSON.parse(
      '{"phone":"+34600111222","custom_fields":{"__proto__":{"polluted":true},"constructor":"y"}}',
    );
    const read = readContact(hostile, "c");
    const params = read.ok ? contactParams(read.value) : {};
    expect(Object.keys(params)).toEqual(["__proto__", "constructor", "phone"]);
    expect(Object.getPrototypeOf(params)).toBe(Object.prototype);
    expect({}).not.toHaveProperty("polluted");
  });
});
