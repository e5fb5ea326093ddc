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

// They start many processes. To start one, the pages of memory of the one that starts it are mapped once
// more, so they come before the files that fill the memory of their process.
const starters =
  /\/test\/(?:git|e2e|engines)\/|\/test\/(?:docs\/blocks|cli\/flags|commands\/(?:prune\/(?:prune|extra)|ingest\/(?:claim|options\/git-facts|parts\/parts|watch\/folder)))\.test\.ts$/;

// Of the others, from ten seconds on. A long file that starts last keeps one processor waiting for the other.
const longest = [
  "cli/output-flags",
  "checks/lint/secrets/find-secrets",
  "commands/mcp/hostile",
  "docs/pages",
  "documents/formats/adoc",
  "documents/formats/html",
  "documents/formats/rst",
  "model/model",
  "sandbox/page/page",
  "sync/shared/record",
].map((name) => `/test/${name}.test.ts`);

/** Runs of each project first what starts processes, then the longest. The files of a project stay together. */
class StartersFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const projects = ["alone", "shared"];
    const rank = ({ moduleId, project }: TestSpecification): number => {
      const path = moduleId.replaceAll("\\", "/");
      const isLong = longest.some((name) => path.endsWith(name));
      return 3 * projects.indexOf(project.name) + (starters.test(path) ? 0 : isLong ? 1 : 2);
    };
    return (await super.sort(files)).toSorted((a, b) => rank(a) - rank(b));
  }
}

// To optimize what has run 16 times as long as usual: most functions of most tests never repay it. Newer
// versions of Node do not know the flag, and have a cheaper compiler that comes first.
const patientOptimizer = ["--interrupt-budget=1081344"];

export default defineConfig({
  test: {
    // Forks: the configuration search changes the working directory for a moment, which threads cannot.
    pool: "forks",
    execArgv: process.versions.node.startsWith("20.") ? patientOptimizer : [],
    sequence: { sequencer: StartersFirst },
    // One more than processors: leases, watchers and limits of time are waited for, without a processor.
    maxWorkers: availableParallelism() + 1,
    // Else the style of the sandbox's page would be empty.
    css: { include: [/\/sandbox\/page\//] },
    // Above the patience with a single step, whose failure says more.
    testTimeout: 3 * patienceMs,
    hookTimeout: 3 * patienceMs,
    expect: { poll: { timeout: patienceMs } },
    isolate: false,
    setupFiles: ["./test/clean-start.ts"],
    projects: [
      { extends: true, test: { name: "alone", include: alone, isolate: true } },
      // They share a process for each processor, which loads what they test once: no test leaves
      // anything behind. A second project would read and make ready all of src once more.
      { extends: true, test: { name: "shared", include: ["test/**/*.test.ts"], exclude: alone } },
    ],
  },
});
