import { availableParallelism } from "node:os";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { patienceMs } from "./test/patience.ts";

// They measure the memory of their process, in which freed memory of others would hide what grows.
const alone = [
  "documents/files/bytes/gunzip",
  "documents/inspect/read",
  "documents/formats/docx",
  "sandbox/http",
].map((name) => `test/${name}.test.ts`);

// From eight seconds on. A long file that starts last keeps one processor waiting for the other.
const longest = [
  "cli/flags",
  "cli/output-flags",
  "commands/ingest/claim",
  "commands/ingest/watch/folder",
  "commands/mcp/hostile",
  "docs/blocks",
  "documents/formats/rst",
  "e2e/action",
  "e2e/examples",
  "e2e/ingest/ingest",
  "e2e/ingest/kill",
  "e2e/pipelines",
  "e2e/process",
  "engines/ci",
  "engines/kubernetes",
  "engines/rounds",
  "engines/workers",
  "model/model",
].map((name) => `/test/${name}.test.ts`);

/** Runs the longest files of each project first. The files of a project stay together. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification): boolean =>
      longest.some((name) => moduleId.replaceAll("\\", "/").endsWith(name));
    const projects = ["alone", "shared"];
    const rank = (file: TestSpecification): number =>
      2 * projects.indexOf(file.project.name) - (isLong(file) ? 1 : 0);
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    // Forks: the configuration search changes the working directory for a moment, which threads cannot.
    pool: "forks",
    sequence: { sequencer: LongestFirst },
    // One more than processors: leases, watchers and limits of time are waited for, without a processor.
    maxWorkers: availableParallelism() + 1,
    // Else the style of the sandbox's page would be empty.
    css: { include: [/\/sandbox\/page\//] },
    // Above the patience with a single step, whose failure says more.
    testTimeout: 3 * patienceMs,
    hookTimeout: 3 * patienceMs,
    expect: { poll: { timeout: patienceMs } },
    isolate: false,
    setupFiles: ["./test/clean-start.ts", "/tmp/lead/ticks-setup.ts"],
    projects: [
      { extends: true, test: { name: "alone", include: alone, isolate: true } },
      // They share a process for each processor, which loads what they test once: no test leaves
      // anything behind. A second project would read and make ready all of src once more.
      { extends: true, test: { name: "shared", include: ["test/**/*.test.ts"], exclude: alone } },
    ],
  },
});
