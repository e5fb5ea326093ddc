import { realpathSync } from "node:fs";
import { messageOf } from "../../errors.ts";
import type { Output } from "../terminal/output.ts";
import { appendGithubSummary, githubAnnotations, repositoryPrefix } from "./github.ts";
import type { ReportFailure, ReportHead } from "./record.ts";

/** A finished run. `failures` starts from the first at each call. */
export interface ToldRun {
  head: ReportHead;
  failures: () => Iterable<ReportFailure>;
  /** Absolute path that the paths of the failures are relative to. */
  root: string;
  /** The git root that it lies in, if any. */
  gitRoot?: string | undefined;
}

type Env = Readonly<Record<string, string | undefined>>;

function realPath(path: string | undefined): string | undefined {
  if (!path) return undefined;
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/**
 * Where the project lies in the repository: `""`, `docs/`; undefined outside one. Without a git
 * root it is the folder that the CI checked out (GITHUB_WORKSPACE, CI_PROJECT_DIR).
 */
export function ciPrefix(
  { root, gitRoot }: Pick<ToldRun, "root" | "gitRoot">,
  env: Env,
): string | undefined {
  const repository = realPath(gitRoot ?? (env["GITHUB_WORKSPACE"] || env["CI_PROJECT_DIR"]));
  return repositoryPrefix(realPath(root) ?? root, repository);
}

/**
 * In GitHub Actions: annotations of the first failures on stderr, and the run in
 * the job summary. Elsewhere nothing. The run is over: a summary that cannot be
 * written is a warning.
 */
export async function tellGithub(output: Output, env: Env, run: ToldRun): Promise<void> {
  if (!env["GITHUB_ACTIONS"]) return;
  const { head, failures } = run;
  const annotations = githubAnnotations(failures(), head.counts.failed, ciPrefix(run, env));
  for (const annotation of annotations) await output.annotate(annotation);
  const path = env["GITHUB_STEP_SUMMARY"];
  if (!path) return;
  try {
    await appendGithubSummary(path, head, failures(), output.secrets);
  } catch (error) {
    await output.warn(messageOf(error));
  }
}
