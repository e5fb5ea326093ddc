import { lstatSync, readFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod/mini";
import { codeOf, writeProblem } from "../../errors.ts";
import { replaceFile } from "../../replace-file.ts";

const LastResult = z.object({
  isSuccess: z.boolean(),
  /** When it ended, in milliseconds since the epoch. */
  endedAtMs: z.number(),
  /** The end of the last success; null if none is known. */
  successAtMs: z.nullable(z.number()),
});
/** How the last run of a command ended. */
export type LastResult = z.infer<typeof LastResult>;

const Results = z.object({ version: z.literal(1), runs: z.record(z.string(), LastResult) });
type Runs = z.infer<typeof Results>["runs"];

const fileName = "results.json";
const mostBytes = 1024 * 1024;
/** Command lines that are remembered: the last ones. */
const mostRuns = 100;

function readRuns(folder: string): Runs {
  try {
    const path = join(folder, fileName);
    const stats = lstatSync(path);
    if (!stats.isFile() || stats.size > mostBytes) return {};
    return Results.parse(JSON.parse(readFileSync(path, "utf8"))).runs;
  } catch {
    // Missing or damaged: as before the first run.
    return {};
  }
}

/** How the last run of the command line `key` ended; undefined if nothing is recorded. */
export function readLastResult(folder: string | undefined, key: string): LastResult | undefined {
  if (folder === undefined) return undefined;
  const runs = readRuns(folder);
  return Object.hasOwn(runs, key) ? runs[key] : undefined;
}

/**
 * Records how a run ended, in a state folder that exists: no folder is made for it. Of two runs that
 * end at the same time one may be lost. Returns why it cannot be recorded; undefined if it is.
 */
export function saveLastResult(
  folder: string | undefined,
  key: string,
  result: LastResult,
): string | undefined {
  try {
    // A link may come from a checkout.
    if (folder === undefined || !lstatSync(folder).isDirectory()) return undefined;
    const { [key]: _, ...others } = readRuns(folder);
    const newest = Object.entries(others).toSorted(([, a], [, b]) => b.endedAtMs - a.endedAtMs);
    const runs = Object.fromEntries([[key, result], ...newest.slice(0, mostRuns - 1)]);
    replaceFile(join(folder, fileName), [`${JSON.stringify({ version: 1, runs }, null, 2)}\n`]);
    return undefined;
  } catch (error) {
    const code = codeOf(error);
    return code === "ENOENT" ? undefined : `${folder}/${fileName}: ${writeProblem(code ?? "")}`;
  }
}
