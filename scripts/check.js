// `npm test`: installs if needed, builds, and runs everything that guards the project.
import {
  accessSync,
  chmodSync,
  constants,
  mkdtempSync,
  readFileSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from "node:fs";
import { freemem, tmpdir } from "node:os";
import { join } from "node:path";
import {
  ensureInstalled,
  finishSteps,
  projectFolder,
  runTool,
  startScript,
  startTool,
} from "./install.js";

// Tests keep less than a tenth of it at a time.
const enough = 4 * 1024 ** 3;

/** A folder in memory, where no test waits for the disk; undefined where that has little room. */
function folderInMemory() {
  let folder;
  try {
    const { bavail, bsize } = statfsSync("/dev/shm");
    if (Math.min(bavail * bsize, freemem()) < enough) return undefined;
    folder = mkdtempSync("/dev/shm/tests-");
    // Tests run programs that they write; containers may forbid that there.
    const program = join(folder, "program");
    writeFileSync(program, "", { mode: 0o700 });
    accessSync(program, constants.X_OK);
    return folder;
  } catch {
    if (folder) rmSync(folder, { recursive: true, force: true });
    return undefined;
  }
}

function runTests() {
  const folder = folderInMemory() ?? mkdtempSync(join(tmpdir(), "knowctl-check-"));
  // As /tmp: no search for a project goes on above a folder that others can write to.
  chmodSync(folder, 0o1777);
  const report = join(folder, "vitest.json");
  try {
    const args = ["run", "--reporter=default", "--reporter=json", `--outputFile.json=${report}`];
    runTool("tests", "vitest", args, { env: { ...process.env, TMPDIR: folder } });
  } finally {
    try {
      const counts = JSON.parse(readFileSync(report, "utf8"));
      const { numPassedTests, numFailedTests, numPendingTests } = counts;
      console.log(`${numPassedTests} passed, ${numFailedTests} failed, ${numPendingTests} skipped`);
    } finally {
      // A PostgreSQL of the tests may still be ending there.
      rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    }
  }
}

// Its collector of garbage works a fifth of the time in a small heap. Below this limit it need not.
const roomy = { ...process.env, GOGC: "off", GOMEMLIMIT: "3GiB" };

/** Finds unused code before there is a build, which it would read as well: half of all it reads. */
async function findUnused() {
  rmSync(join(projectFolder, "dist"), { recursive: true, force: true });
  return await startTool("knip", []);
}

/** Builds when `before` has ended. */
async function buildAfter(before) {
  await before;
  return await startScript("scripts/build.js");
}

/** The documentation is made from the build. */
async function buildThenCompare(build) {
  const { problem } = await build;
  if (problem !== undefined) return { text: "the build failed\n", problem };
  return await startScript("scripts/docs.js", "--check");
}

try {
  ensureInstalled();
  const unused = findUnused();
  const build = buildAfter(unused);
  await finishSteps([
    ["format", startTool("oxfmt", ["--check"])],
    ["types of the sandbox's page", startTool("typescript", ["-p", "src/sandbox/page/browser"])],
    // One program of types serves both: to make it is most of the work.
    ["types and lint", startTool("oxlint", ["--type-aware", "--type-check"], { env: roomy })],
    ["unused code", unused],
    ["build", build],
    ["documentation", buildThenCompare(build)],
  ]);
  runTests();
} catch (error) {
  console.error(`\n${error.message}`);
  process.exitCode = 1;
}
