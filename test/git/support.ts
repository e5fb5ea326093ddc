import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { openRepository, type Repository } from "../../src/git/repository.ts";
import { CliError } from "../../src/errors.ts";
import { headOf, repositoryOf } from "../repository.ts";
import { writeFiles } from "../service.ts";
import { cleanEnvironment, temporaryFolder } from "../support.ts";

export interface TestRepository {
  /** Real path of the work tree. */
  readonly root: string;
  /** What a caller hands to openRepository(). */
  readonly env: Record<string, string>;
  /** Runs git as the author of the repository; gives what it prints. */
  git(...args: string[]): string;
  write(files: Record<string, string | Uint8Array>): void;
  /** Writes files and commits everything; `at` is the commit's time. Gives its id. */
  commit(files: Record<string, string | Uint8Array>, at?: string): string;
  open(below?: string): Promise<Repository>;
}

/**
 * A fresh repository, removed after the test; no configuration of this machine counts. It is a clone
 * with these arguments of `git clone`, or a copy of the work tree at this path.
 */
export function createRepository(clone?: readonly string[] | string): TestRepository {
  const folder = realpathSync(temporaryFolder());
  const env = cleanEnvironment(join(folder, "home"));
  const root = join(folder, "work");
  mkdirSync(join(folder, "home"));
  const run = (cwd: string, args: readonly string[], at: string): string =>
    execFileSync("git", ["-c", "maintenance.auto=false", ...args], {
      cwd,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        ...env,
        GIT_CONFIG_NOSYSTEM: "1",
        GIT_AUTHOR_NAME: "a",
        GIT_AUTHOR_EMAIL: "a@example.com",
        GIT_COMMITTER_NAME: "a",
        GIT_COMMITTER_EMAIL: "a@example.com",
        GIT_AUTHOR_DATE: "2001-01-01T00:00:00Z",
        GIT_COMMITTER_DATE: at,
      },
    });
  const first = "2020-01-01T00:00:00Z";
  if (typeof clone === "string") cpSync(clone, root, { recursive: true });
  else if (clone) run(folder, ["clone", "-q", ...clone, root], first);
  else {
    writeFiles(root, repositoryOf({}, 0));
    for (const each of ["objects", "refs/heads"])
      mkdirSync(join(root, ".git", each), { recursive: true });
  }
  return {
    root,
    env,
    git: (...args) => run(root, args, first),
    write: (files) => writeFiles(root, files),
    commit(files, at = first) {
      writeFiles(root, files);
      run(root, ["add", "-A"], at);
      run(root, ["commit", "-q", "--allow-empty", "-m", "a change"], at);
      return headOf(root);
    },
    async open(below = "") {
      const repository = await openRepository(join(root, below), env);
      if (!repository) throw new Error("not a repository");
      return repository;
    },
  };
}

/** The CliError `usage` that a call ends with. */
export async function refusal(call: () => Promise<unknown>): Promise<CliError> {
  try {
    await call();
  } catch (error) {
    if (error instanceof CliError && error.exit === "usage") return error;
    throw error;
  }
  throw new Error("expected a failure");
}
