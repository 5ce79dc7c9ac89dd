import type { TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { badRequest, type Refusal } from "./failure.ts";

type Check = (body: unknown) => void;

/** What a validator reports: a JSON Schema keyword, a JSON Pointer and the keyword's own figures. */
interface SchemaError {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: object;
  readonly message: string;
}

/** Compiles a schema to a check that throws a 400 naming the first wrong field. Values are never changed. */
export function compileCheck(schema: TSchema): Check {
  const validator = Compile(schema);
  return (body) => {
    if (!validator.Check(body)) throw refusalOf(validator.Errors(body));
  };
}

function refusalOf(errors: readonly SchemaError[]): Refusal {
  // Of alternatives each is reported by itself; only the last line says that none of them fits.
  const error = errors.find(({ keyword }) => keyword === "anyOf") ?? errors[0];
  return error ? badRequest(describe(error), whereOf(error)) : badRequest("The body is wrong");
}

function whereOf({ instancePath }: SchemaError): string {
  return instancePath
    .slice(1)
    .replaceAll(/\/(\d+)/g, "[$1]")
    .replaceAll("/", ".")
    .replaceAll("~1", "/")
    .replaceAll("~0", "~");
}

function describe(error: SchemaError): string {
  const where = whereOf(error);
  const params = new Map<string, unknown>(Object.entries(error.params));
  const name = where === "" ? "The body" : where;
  switch (error.keyword) {
    case "required":
      return `${where === "" ? "" : `${where}.`}${listed(params.get("requiredProperties"), 1)} is missing`;
    case "type":
      return `${name} must be ${withArticle(String(params.get("type")))}`;
    case "enum":
      return `${name} must be one of ${listed(params.get("allowedValues"))}`;
    case "minLength":
    case "minItems":
      return `${name} must not be empty`;
    case "boolean":
      return `${name} is no field of this operation`;
    case "format":
      return `${name} must be a ${String(params.get("format")).toUpperCase()}`;
    case "pattern":
      return `${name} is malformed`;
    case "anyOf":
      return `${name} is not of a kind that is taken here`;
    default:
      return `${name} ${error.message}`;
  }
}

function withArticle(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function listed(values: unknown, most = Infinity): string {
  return Array.isArray(values) ? values.slice(0, most).map(String).join(", ") : "the accepted values";
}
