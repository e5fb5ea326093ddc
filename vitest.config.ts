import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Forks: the configuration search changes the working directory for a moment, which threads cannot.
    pool: "forks",
    testTimeout: 60_000,
    hookTimeout: 60_000,
  },
});
