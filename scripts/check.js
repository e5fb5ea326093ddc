// `npm test`: installs if needed, builds, and runs everything that guards the project.
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureInstalled, runStep, runTool } from "./install.js";

function runTests() {
  const folder = mkdtempSync(join(tmpdir(), "knowctl-check-"));
  const report = join(folder, "vitest.json");
  try {
    const args = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    runTool("tests", "vitest", args);
  } finally {
    try {
      const counts = JSON.parse(readFileSync(report, "utf8"));
      const { numPassedTests, numFailedTests, numPendingTests } = counts;
      console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

try {
  ensureInstalled();
  runTool("format", "oxfmt", ["--check"]);
  runTool("types", "typescript", ["-p", "."]);
  runTool("types of the sandbox's page", "typescript", ["-p", "src/sandbox/page/browser"]);
  runTool("lint", "oxlint", ["--type-aware"]);
  runTool("unused code", "knip", []);
  runStep("build", process.execPath, ["scripts/build.js"]);
  runStep("documentation", process.execPath, ["scripts/docs.js", "--check"]);
  runTests();
} catch (error) {
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}
