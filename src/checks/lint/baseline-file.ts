import { readFileSync, statSync } from "node:fs";
import { CliError, codeOf, fileProblem, messageOf } from "../../errors.ts";
import { parseBaseline, type BaselineEntry } from "./baseline.ts";

/** A file to be replaced afterwards. To read a pipe would block, to replace a socket breaks it. */
function refuseSpecial(path: string, name: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || found.isFile() || found.isDirectory()) return;
  throw new CliError("usage", `--baseline ${name}: it is not a regular file`, {
    hints: ["name a file that --write-baseline may replace, or a new one"],
  });
}

/**
 * Reads a baseline file. `name` is its name as typed. A missing file is an error, or, with
 * `mayBeMissing`, an empty baseline. Throws CliError `usage`, also like parseBaseline().
 */
export function readBaseline(path: string, name: string, mayBeMissing = false): BaselineEntry[] {
  let text: string;
  try {
    if (mayBeMissing) refuseSpecial(path, name);
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof CliError) throw error;
    const isMissing = codeOf(error) === "ENOENT";
    if (isMissing && mayBeMissing) return [];
    const problem = fileProblem(codeOf(error) ?? messageOf(error));
    throw new CliError("usage", `--baseline ${name}: cannot be read: ${problem}`, {
      hints: isMissing
        ? ["write it first: add --write-baseline"]
        : ["name a file that --write-baseline wrote"],
      cause: error,
    });
  }
  return parseBaseline(text, name);
}
