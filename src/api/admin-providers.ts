import type { ProviderCheck, ProviderView } from "#wire";
import { json, type AdminHandlers } from "./admin-setup.ts";
import type { Service } from "./service.ts";

/** Longer than any provider is waited for in all its roles. */
const testWithinMs = 120_000;

/** Providers that hear, think and speak: what is configured, and whether it works. */
export function providerHandlers(service: Service): AdminHandlers<"listProviders" | "testProvider"> {
  return {
    listProviders: async () => {
      const rows = await service.listProviders();
      return json(rows.map((row): ProviderView => ({ ...row, roles: [...row.roles] })));
    },
    testProvider: async ({ params }) => {
      const results = await service.testProvider(params["name"] ?? "", AbortSignal.timeout(testWithinMs));
      return json(
        results.map((result): ProviderCheck => ({
          role: result.role,
          model: result.model,
          ok: result.ok,
          first_ms: result.firstMs === undefined ? null : Math.round(result.firstMs),
          total_ms: result.totalMs === undefined ? null : Math.round(result.totalMs),
          ...(result.problem === undefined ? {} : { problem: result.problem }),
        })),
      );
    },
  };
}
