/*
 * The part of JSON Schema that playbooks use for their output. A keyword that is not known here is not judged.
 */

type Schema = Readonly<Record<string, unknown>>;

const deepest = 16;

/** What of a value does not match the schema, in a sentence; undefined when nothing is found. */
export function checkSchema(schema: Schema, value: unknown): string | undefined {
  return check(schema, value, { path: "", depth: 0 });
}

interface Place {
  readonly path: string;
  readonly depth: number;
}

function check(schema: Schema, value: unknown, place: Place): string | undefined {
  const name = place.path === "" ? "it" : place.path;
  if (place.depth > deepest) return `${name} is nested too deeply`;
  if (!ofType(schema["type"], value)) return `${name} must be ${typeText(schema["type"])}`;
  if ("const" in schema && !same(schema["const"], value))
    return `${name} must be ${JSON.stringify(schema["const"])}`;
  const choices = schema["enum"];
  if (Array.isArray(choices) && !choices.some((choice) => same(choice, value)))
    return `${name} must be one of ${JSON.stringify(choices)}`;
  if (typeof value === "number") return checkRange(schema, name, value, ["minimum", "maximum"]);
  if (typeof value === "string") return checkText(schema, name, value);
  if (Array.isArray(value)) return checkList(schema, value, place);
  return isObject(value) ? checkFields(schema, value, place) : undefined;
}

function checkText(schema: Schema, name: string, value: string): string | undefined {
  const { pattern } = schema;
  if (typeof pattern === "string" && !matches(pattern, value)) return `${name} must match ${pattern}`;
  return checkRange(schema, `the length of ${name}`, Array.from(value).length, ["minLength", "maxLength"]);
}

/** A pattern that is none is not judged. */
function matches(pattern: string, value: string): boolean {
  try {
    return new RegExp(pattern, "u").test(value);
  } catch {
    return true;
  }
}

function checkList(schema: Schema, value: readonly unknown[], place: Place): string | undefined {
  const { items } = schema;
  if (isObject(items)) {
    for (const [i, item] of value.entries()) {
      const wrong = check(items, item, { path: `${place.path}[${i}]`, depth: place.depth + 1 });
      if (wrong !== undefined) return wrong;
    }
  }
  return checkRange(schema, `the number of entries of ${place.path || "it"}`, value.length, [
    "minItems",
    "maxItems",
  ]);
}

function checkFields(schema: Schema, value: Schema, place: Place): string | undefined {
  const pathOf = (key: string): string => (place.path === "" ? key : `${place.path}.${key}`);
  const { required, additionalProperties } = schema;
  const properties = isObject(schema["properties"]) ? schema["properties"] : {};
  const missing = (Array.isArray(required) ? required : []).find((key) => !Object.hasOwn(value, String(key)));
  if (missing !== undefined) return `${pathOf(String(missing))} is missing`;
  for (const [key, field] of Object.entries(value)) {
    const known = Object.hasOwn(properties, key) ? properties[key] : undefined;
    const rule = known ?? additionalProperties;
    if (rule === false) return `${pathOf(key)} is not known`;
    const wrong = isObject(rule)
      ? check(rule, field, { path: pathOf(key), depth: place.depth + 1 })
      : undefined;
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

function checkRange(
  schema: Schema,
  name: string,
  value: number,
  [least, most]: readonly [string, string],
): string | undefined {
  const [from, to] = [schema[least], schema[most]];
  if (typeof from === "number" && value < from) return `${name} must be at least ${from}`;
  if (typeof to === "number" && value > to) return `${name} must be at most ${to}`;
  return undefined;
}

function ofType(type: unknown, value: unknown): boolean {
  if (Array.isArray(type)) return type.some((one) => ofType(one, value));
  switch (type) {
    case "string":
    case "boolean":
      return typeof value === type;
    case "number":
      return typeof value === "number" && Number.isFinite(value);
    case "integer":
      return Number.isInteger(value);
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isObject(value);
    default:
      return true;
  }
}

function typeText(type: unknown): string {
  return Array.isArray(type) ? type.map(String).join(" or ") : `of type ${String(type)}`;
}

function same(one: unknown, other: unknown): boolean {
  return one === other || JSON.stringify(one) === JSON.stringify(other);
}

function isObject(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
