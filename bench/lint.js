import { join } from "node:path";
import { figure, measurePair, runOnce } from "./pair.js";

// lint reads .mdx files as well: without them, hashing would have less to do.
const shell = "find . \\( -name '*.md' -o -name '*.mdx' \\) -print0 | xargs -0 sha256sum";

/**
 * All rules of lint over Markdown files, against reading and hashing them. `npm run bench -- lint
 * FOLDER` takes real files.
 */
export const lintRow = {
  name: "lint",
  async run({ binary, corpora, folder }, real) {
    const cwd = real ?? corpora({ files: 40_000, folders: 400, bytes: 5600 });
    const report = join(folder, "lint.json");
    // A baseline takes every finding out, so that each run ends with 0.
    const baseline = ["--baseline", report, "--quiet"];
    const args = [binary, "lint", ".", "--root", ".", ...baseline];
    // Some real files have front matter that lint refuses to read: partial.
    const tool = { args, cwd, codes: [0, 10] };
    runOnce({ ...tool, args: [...args, "--write-baseline"] });
    const hashing = { command: "sh", args: ["-c", shell], cwd };
    const measured = measurePair(tool, hashing, 3, { withUsage: true });
    const time = measured("ms");
    const { megabytes } = runOnce(tool, true);
    return `${figure(time.ratio, 1)} times \`${shell}\`, at most 12 (aim 6); ${figure(time.subject, 0)} ms against ${figure(time.against, 0)} ms, at most 60 s; ${megabytes.toFixed(0)} MB at the peak`;
  },
};
