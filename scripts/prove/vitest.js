import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startTool } from "../install.js";

/** The first lines of a failure, without its stack. */
const firstLines = (text) =>
  text
    .split("\n")
    .filter((line) => !/^\s+at /.test(line))
    .slice(0, 12)
    .join("\n");

/**
 * Runs test files with these variables. Resolves with how many tests passed, the failures
 * ({ name, text }), what was printed, and how many values the properties tried.
 */
export async function runTests(args, env) {
  const folder = mkdtempSync(join(tmpdir(), "prove-"));
  const report = join(folder, "report.json");
  try {
    const reporters = ["--reporter=dot", "--reporter=json", `--outputFile.json=${report}`];
    const own = { ...process.env, ...env, PROVE_COUNTS: folder };
    const { text } = await startTool("vitest", ["run", ...args, ...reporters], { env: own });
    const { numPassedTests, testResults } = JSON.parse(readFileSync(report, "utf8"));
    const failed = testResults.flatMap(({ assertionResults, message, name }) => [
      ...(assertionResults.length === 0 ? [{ name, text: firstLines(message) }] : []),
      ...assertionResults
        .filter(({ status }) => status === "failed")
        .map(({ fullName, failureMessages }) => ({
          name: fullName,
          text: firstLines(failureMessages.join("\n")),
        })),
    ]);
    const counts = readdirSync(folder).filter((name) => name.startsWith("values-"));
    const values = counts
      .flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n"))
      .reduce((sum, each) => sum + Number(each), 0);
    return { passed: numPassedTests, failed, text, values };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
