/** One configuration for every test of the house; tests run from source, without a build. */
import { defineConfig } from "vitest/config";

export default defineConfig({
  // Vitest hands these to its child processes as --conditions. Never add vite's
  // defaultServerConditions: its "module" makes Node load the AWS SDK's bundler build.
  ssr: { resolve: { conditions: ["source", "node", "development|production"] } },
  test: {
    include: ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"],
    testTimeout: 20_000,
    // A core is otherwise kept free, which on two cores is half of the machine.
    maxWorkers: "100%",
  },
});
