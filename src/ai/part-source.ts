import { OutdialError } from "#base";
import type { Log } from "#host";
import { readFile } from "node:fs/promises";
import type { Endpoint } from "./endpoint.ts";
import type { VoiceConfig } from "./provider-config.ts";
import type { SecretRef } from "./provider-kinds.ts";
import { endpointFor, type PartSource } from "./provider-parts.ts";

/** Opens each provider's endpoint once, when first asked for. Disposal closes them. */
export function openSource(
  config: VoiceConfig,
  options: { readonly secret: (ref: SecretRef) => Promise<string>; readonly log: Log },
): PartSource & AsyncDisposable {
  const endpoints = new Map<string, Promise<Endpoint>>();
  return {
    config,
    log: options.log,
    endpoint: async (provider) =>
      remembered(endpoints, provider.name, async () => {
        const { apiKey, caFile } = provider;
        const secret = apiKey === undefined ? undefined : await options.secret(apiKey);
        const ca = caFile === undefined ? undefined : await readAuthorities(provider.name, caFile);
        return endpointFor(provider, { secret, ca });
      }),
    async [Symbol.asyncDispose]() {
      const opened = await Promise.allSettled(endpoints.values());
      endpoints.clear();
      for (const outcome of opened)
        if (outcome.status === "fulfilled") await outcome.value[Symbol.asyncDispose]();
    },
  };
}

/** Once made it is given again; what could not be made is tried again. */
export async function remembered<Made>(
  known: Map<string, Promise<Made>>,
  name: string,
  make: () => Promise<Made>,
): Promise<Made> {
  const found = known.get(name);
  if (found !== undefined) return found;
  const making = make();
  known.set(name, making);
  making.catch(() => known.delete(name));
  return making;
}

async function readAuthorities(name: string, file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    throw new OutdialError("config-invalid", `${file} cannot be read`, {
      hint: `It is ca_file of providers.${name}.`,
      cause,
    });
  }
}
