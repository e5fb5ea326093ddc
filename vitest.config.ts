import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { patienceMs } from "./test/patience.ts";

// These run the program. It keeps nothing between two runs, as every such test relies on, so their
// files share a process, which loads the program once.
const ofProgram = ["commands", "docs", "e2e", "journeys", "redaction", "surface"].map(
  (folder) => `test/${folder}/**/*.test.ts`,
);

// From ten seconds on. A long file that starts last keeps one processor waiting for the other.
const longest = [
  "surface/flags",
  "docs/blocks",
  "surface/output-flags",
  "e2e/action-install",
  "e2e/examples",
  "e2e/pipelines",
  "e2e/ingest/kill",
].map((name) => `/test/${name}.test.ts`);

/** Runs the longest files of each project first. The files of a project stay together. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      longest.some((name) => moduleId.replaceAll("\\", "/").endsWith(name));
    const rank = (file: TestSpecification): number =>
      (file.project.name === "program" ? 2 : 0) - (isLong(file) ? 1 : 0);
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    // Forks: the configuration search changes the working directory for a moment, which threads cannot.
    pool: "forks",
    sequence: { sequencer: LongestFirst },
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
