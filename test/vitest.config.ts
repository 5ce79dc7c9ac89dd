import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = fileURLToPath(new URL("..", import.meta.url));
const pure = ["base", "sip", "media", "domain", "talk", "wire"].map((name) => `test/${name}/**/*.test.ts`);

export default defineConfig({
  root,
  test: {
    projects: [
      { root, test: { name: "pure", include: pure, pool: "threads", isolate: false } },
      {
        root,
        test: {
          name: "loopback",
          include: ["test/**/*.test.{ts,tsx}"],
          exclude: [...pure, "test/acceptance/**", "test/bench/**"],
          pool: "forks",
          testTimeout: 20_000,
        },
      },
      {
        root,
        test: {
          name: "acceptance",
          include: ["test/acceptance/**/*.test.ts"],
          pool: "forks",
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 120_000,
        },
      },
    ],
  },
});
