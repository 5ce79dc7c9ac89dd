import { isUuid } from "#base";
import { Ajv, type ErrorObject } from "ajv";
import { badRequest } from "./failure.ts";

type Check = (body: unknown) => void;

/** Compiles a JSON Schema to a check that throws a 400 naming the first wrong field. Values are never changed. */
export function compileCheck(schema: object): Check {
  const ajv = new Ajv({ strict: false, coerceTypes: false, useDefaults: false, removeAdditional: false });
  ajv.addFormat("uuid", isUuid);
  const valid = ajv.compile(schema);
  return (body) => {
    if (valid(body)) return;
    const error = valid.errors?.[0];
    throw error ? badRequest(describe(error), whereOf(error)) : badRequest("The body is wrong");
  };
}

function whereOf(error: ErrorObject): string {
  return error.instancePath
    .slice(1)
    .replaceAll(/\/(\d+)/g, "[$1]")
    .replaceAll("/", ".")
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
}

function describe(error: ErrorObject): string {
  const where = whereOf(error);
  const params: Readonly<Record<string, unknown>> = error.params;
  const name = where === "" ? "The body" : where;
  switch (error.keyword) {
    case "required":
      return `${where === "" ? "" : `${where}.`}${String(params["missingProperty"])} is missing`;
    case "type":
      return `${name} must be ${article(String(params["type"]))}`;
    case "enum":
      return `${name} must be one of ${listed(params["allowedValues"])}`;
    case "minLength":
    case "minItems":
      return `${name} must not be empty`;
    case "additionalProperties":
      return `${name} has an unknown field ${JSON.stringify(params["additionalProperty"])}`;
    case "format":
      return `${name} must be a ${String(params["format"]) === "uuid" ? "UUID" : String(params["format"])}`;
    case "pattern":
      return `${name} is malformed`;
    default:
      return `${name} ${error.message ?? "is wrong"}`;
  }
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function listed(values: unknown): string {
  return Array.isArray(values) ? values.map(String).join(", ") : "the accepted values";
}
