import type { IngestOptions } from "../../../src/commands/ingest/ingest-options.ts";
import { ingest as run } from "../../../src/commands/ingest/ingest.ts";
import type { Context } from "../../../src/context.ts";
import { CliError } from "../../../src/errors.ts";
import { commitAll, repositoryOf, runGit } from "../../repository.ts";
import {
  startTestService,
  type TestService,
  type TestServiceOptions,
  writeFiles,
} from "../../service.ts";
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
  await service.sandbox.idle();
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
  writeFiles(service.folder, repositoryOf(options.files ?? {}));
  return {
    ...service,
    git: (...args) => runGit(service.folder, args),
    commit: (at) => commitAll(service.folder, at),
  };
}

/** Documents that the service accepted, by id: the bodies in order. */
export function acceptedIds(service: TestService): string[] {
  return [...service.sandbox.ledger.documents.keys()].toSorted();
}

/** The last document accepted under an id. */
export function lastAccepted(service: TestService, id: string) {
  return service.sandbox.ledger.documents.get(id)?.at(-1)?.document;
}
