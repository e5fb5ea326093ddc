import type { IngestOptions } from "../../../src/commands/ingest/ingest-options.ts";
import { execFileSync } from "node:child_process";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { ingest as run } from "../../../src/commands/ingest/ingest.ts";
import type { Context } from "../../../src/context.ts";
import { CliError } from "../../../src/errors.ts";
import { startTestService, type TestService, type TestServiceOptions } from "../../service.ts";
import { keepContext } from "../../ran.ts";
import { createTestContext } from "../../support.ts";

export interface IngestRun {
  stdout: string;
  stderr: string;
  /** What the command ended with. */
  error: CliError | undefined;
}

/** The command in this process; a failing test prints it with its output. */
export function ingest(context: Context, paths: string[], options: IngestOptions): Promise<void> {
  const command = `ingest(${JSON.stringify([paths, options])})`;
  return run(keepContext(context, command), paths, options);
}

/** Runs `ingest` in this process, from the service's folder. */
export async function runIngest(
  service: TestService,
  paths: string[],
  options: IngestOptions = {},
): Promise<IngestRun> {
  const context = createTestContext({ cwd: service.folder, env: service.env });
  let error: CliError | undefined;
  try {
    await ingest(context, paths, { ccPairId: 2, ...options });
  } catch (thrown) {
    if (!(thrown instanceof CliError)) throw thrown;
    error = thrown;
  }
  return { stdout: context.stdoutText(), stderr: context.stderrText(), error };
}

export interface GitService extends TestService {
  git(...args: string[]): string;
  /** Commits everything that is there; `at` is the commit's time. Gives its id. */
  commit(at?: string): string;
}

/** A service whose folder is a git repository with one commit of the files. */
export async function startGitService(options: TestServiceOptions = {}): Promise<GitService> {
  const service = await startTestService(options);
  rmSync(join(service.folder, ".git"), { recursive: true });
  const run = (args: readonly string[], at = "2020-01-01T00:00:00Z"): string =>
    execFileSync("git", args, {
      cwd: service.folder,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...service.env,
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_AUTHOR_NAME: "a",
        GIT_AUTHOR_EMAIL: "a@example.com",
        GIT_COMMITTER_NAME: "a",
        GIT_COMMITTER_EMAIL: "a@example.com",
        GIT_AUTHOR_DATE: at,
        GIT_COMMITTER_DATE: at,
      },
    });
  run(["init", "-q", "-b", "main"]);
  const git: GitService = {
    ...service,
    git: (...args) => run(args),
    commit(at) {
      run(["add", "-A"], at);
      run(["commit", "-q", "--allow-empty", "-m", "a change"], at);
      return run(["rev-parse", "HEAD"]).trim();
    },
  };
  git.commit();
  return git;
}

/** Documents that the service accepted, by id: the bodies in order. */
export function acceptedIds(service: TestService): string[] {
  return [...service.sandbox.ledger.documents.keys()].toSorted();
}

/** The last document accepted under an id. */
export function lastAccepted(service: TestService, id: string) {
  return service.sandbox.ledger.documents.get(id)?.at(-1)?.document;
}
