import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { patienceMs } from "./test/patience.ts";

// These run the program. It keeps nothing between two runs, as every such test relies on, so their
// files share a process, which loads the program once.
const ofProgram = ["commands", "docs", "e2e", "journeys", "redaction", "surface"].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

export default defineConfig({
  test: {
    // Forks: the configuration search changes the working directory for a moment, which threads cannot.
    pool: "forks",
    // The default leaves a processor free, which is half of a machine with two.
    maxWorkers: availableParallelism(),
    // Else the style of the sandbox's page would be empty.
    css: { include: [/\/sandbox\/page\//] },
    // Above the patience with a single step, whose failure says more.
    testTimeout: 3 * patienceMs,
    hookTimeout: 3 * patienceMs,
    expect: { poll: { timeout: patienceMs } },
    projects: [
      { extends: true, test: { name: "program", include: ofProgram, isolate: false } },
      {
        extends: true,
        test: { name: "parts", include: ["test/**/*.test.ts"], exclude: ofProgram },
      },
    ],
  },
});
