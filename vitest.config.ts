import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Forks: the configuration search changes the working directory for a moment, which threads cannot.
    pool: "forks",
    // The default leaves a processor free, which is half of a machine with two.
    maxWorkers: availableParallelism(),
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
