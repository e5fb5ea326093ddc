import { readFileSync } from "node:fs";
import { CliError, codeOf, fileProblem, messageOf } from "../../errors.ts";
import { parseBaseline, type BaselineEntry } from "./baseline.ts";

/**
 * Reads a baseline file. `name` is its name as typed. A missing file is an error, or, with
 * `mayBeMissing`, an empty baseline. Throws CliError `usage`, also like parseBaseline().
 */
export function readBaseline(path: string, name: string, mayBeMissing = false): BaselineEntry[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
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
