import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { headOf } from "../../git/repository.ts";
import type { RunIdentity } from "../../output/report/stored/record.ts";

/**
 * Variables that name the run of a CI job, and where it has one the variable of its attempt (GitHub,
 * GitLab, Jenkins, Azure: "predefined variables" in their documentation).
 */
const runVariables = [
  ["GITHUB_RUN_ID", "GITHUB_RUN_ATTEMPT"],
  ["CI_PIPELINE_ID"],
  ["BUILD_TAG"],
  ["BUILD_BUILDID"],
] as const;

const longestName = 200;

/** The run of the CI job; undefined outside CI. All jobs and machines of a pipeline have the same. */
function jobRun({ env }: Pick<Context, "env">): string | undefined {
  for (const names of runVariables) {
    if (!env[names[0]]) continue;
    const parts = names.map((name) => env[name] ?? "").filter(Boolean);
    return parts.join("-").slice(0, longestName);
  }
  return undefined;
}

/** A name that sorts by time: `20260304T050607-8a3f01`. */
function newRun({ now, random }: Pick<Context, "now" | "random">): string {
  const time = new Date(now()).toISOString().replace(/\..*$|[-:]/g, "");
  const part = Math.floor(random() * 0x1000000).toString(16);
  return `${time}-${part.padStart(6, "0")}`;
}

/** Run, host and commit of this run, as far as the environment knows them. */
export function identityOf(context: Context): RunIdentity {
  const { env, host } = context;
  const commit = env["GITHUB_SHA"] || env["CI_COMMIT_SHA"];
  return { run: jobRun(context) ?? newRun(context), host, ...(commit ? { commit } : {}) };
}

/** The commit of the work tree of `root`; undefined outside git, and where git cannot tell. */
export async function commitOf(
  { env, signal }: Pick<Context, "env" | "signal">,
  root: string,
): Promise<string | undefined> {
  try {
    return await headOf(root, env, { signal });
  } catch (error) {
    // A report without its commit is better than none.
    if (error instanceof CliError || signal.aborted) return undefined;
    throw error;
  }
}
