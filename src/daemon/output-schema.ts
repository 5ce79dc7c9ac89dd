import type { ErrorObject } from "ajv";

/** What is wrong with a schema, and where in it; `path` is empty for the whole. */
export interface SchemaFault {
  readonly severity: "error" | "warning";
  readonly path: readonly string[];
  readonly message: string;
}

/** Why an object is no JSON Schema (2020-12), or has words in it that mean nothing. The validator is loaded when it is needed. */
export async function schemaFaults(
  schema: Readonly<Record<string, unknown>>,
): Promise<readonly SchemaFault[]> {
  const { Ajv2020 } = await import("ajv/dist/2020.js");
  const lenient = new Ajv2020({ strict: false, allErrors: true, logger: false });
  if (await lenient.validateSchema(schema)) {
    return compileFaults(
      () => lenient.compile(schema),
      () =>
        new Ajv2020({
          strictSchema: true,
          strictTypes: false,
          strictTuples: false,
          validateFormats: false,
          logger: false,
        }).compile(schema),
    );
  }
  return distinct(lenient.errors ?? []);
}

function compileFaults(compile: () => unknown, strictly: () => unknown): readonly SchemaFault[] {
  const fault = (severity: SchemaFault["severity"], run: () => unknown): readonly SchemaFault[] => {
    try {
      run();
      return [];
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const word = /unknown keyword: "([^"]+)"/.exec(message)?.[1];
      return [
        { severity, path: [], message: word === undefined ? message : `"${word}" is no word of JSON Schema` },
      ];
    }
  };
  const errors = fault("error", compile);
  return errors.length > 0 ? errors : fault("warning", strictly);
}

/** One complaint a place: the deepest says the most, and alternatives repeat themselves. */
function distinct(errors: readonly ErrorObject[]): readonly SchemaFault[] {
  const byPlace = new Map<string, SchemaFault>();
  for (const { instancePath, message = "is not accepted", params } of errors) {
    if (byPlace.has(instancePath)) continue;
    const allowed: unknown = params["allowedValues"];
    const hint = Array.isArray(allowed) ? `: ${allowed.join(", ")}` : "";
    const path = instancePath
      .split("/")
      .slice(1)
      .map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
    byPlace.set(instancePath, { severity: "error", path, message: `${message}${hint}` });
  }
  return [...byPlace.values()];
}
