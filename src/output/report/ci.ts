import { realpathSync } from "node:fs";
import { messageOf } from "../../errors.ts";
import type { Output } from "../output.ts";
import { appendGithubSummary, githubAnnotations, repositoryPrefix } from "./github.ts";
import type { ReportFailure, ReportHead } from "./record.ts";

/** A finished run. `failures` starts from the first at each call. */
export interface ToldRun {
  head: ReportHead;
  failures: () => Iterable<ReportFailure>;
  /** Absolute path that the paths of the failures are relative to. */
  root: string;
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
 * Where the project lies in the repository that the CI checked out (GitHub's
 * GITHUB_WORKSPACE, GitLab's CI_PROJECT_DIR): `""`, `docs/`; undefined outside one.
 */
export function ciPrefix(root: string, env: Env): string | undefined {
  const repository = realPath(env["GITHUB_WORKSPACE"] || env["CI_PROJECT_DIR"]);
  return repositoryPrefix(realPath(root) ?? root, repository);
}

/**
 * In GitHub Actions: annotations of the first failures on stderr, and the run in
 * the job summary. Elsewhere nothing. The run is over: a summary that cannot be
 * written is a warning.
 */
export async function tellGithub(output: Output, env: Env, run: ToldRun): Promise<void> {
  if (!env["GITHUB_ACTIONS"]) return;
  const { head, failures, root } = run;
  const annotations = githubAnnotations(failures(), head.counts.failed, ciPrefix(root, env));
  for (const annotation of annotations) await output.annotate(annotation);
  const path = env["GITHUB_STEP_SUMMARY"];
  if (!path) return;
  try {
    await appendGithubSummary(path, head, failures(), output.secrets);
  } catch (error) {
    await output.warn(messageOf(error));
  }
}
