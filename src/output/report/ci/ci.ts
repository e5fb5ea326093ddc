import { realpathSync } from "node:fs";
import { redactAll } from "../../terminal/redact.ts";
import type { Output } from "../../terminal/output.ts";
import { redactEach } from "../file.ts";
import { githubAnnotations, githubSummary, repositoryPrefix } from "./github.ts";
import { writeJobSummary } from "./job-summary.ts";
import type { ReportFailure, ReportHead } from "../record.ts";

/** A finished run. Each call of `failures` starts at the first failure. */
export interface ToldRun {
  head: ReportHead;
  failures: () => Iterable<ReportFailure>;
  /** Absolute project root; the paths of the failures are relative to it. */
  root: string;
  /** The git root that contains `root`, if any. */
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
 * Path of the project in the repository: `""`, `docs/`; undefined outside a repository. Without a
 * git root, the repository is the checkout folder of the CI (GITHUB_WORKSPACE, CI_PROJECT_DIR).
 */
export function ciPrefix(
  { root, gitRoot }: Pick<ToldRun, "root" | "gitRoot">,
  env: Env,
): string | undefined {
  const repository = realPath(gitRoot ?? (env["GITHUB_WORKSPACE"] || env["CI_PROJECT_DIR"]));
  return repositoryPrefix(realPath(root) ?? root, repository);
}

/**
 * In GitHub Actions, writes annotations of the first failures on stderr and the run
 * to the job summary. Elsewhere does nothing.
 */
export async function tellGithub(output: Output, env: Env, run: ToldRun): Promise<void> {
  if (!env["GITHUB_ACTIONS"]) return;
  const { head, failures } = run;
  const annotations = githubAnnotations(failures(), head.counts.failed, ciPrefix(run, env));
  for (const annotation of annotations) await output.annotate(annotation);
  const { redact } = output.secrets;
  await writeJobSummary(output, env, () =>
    githubSummary(redactAll(head, redact), redactEach(failures(), redact)),
  );
}
