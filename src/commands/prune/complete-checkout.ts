import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { findMissingFile, type MissingFile } from "../../git/missing-files.ts";
import { openRepository } from "../../git/repository.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";

function isInGit(root: string): boolean {
  for (let folder = root; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return true;
    if (dirname(folder) === folder) return false;
  }
}

const remedies: Readonly<Record<MissingFile["why"], (name: string) => string[]>> = {
  "left-out": (name) => [
    "complete the checkout: git sparse-checkout disable",
    `or, for a single file: git update-index --no-skip-worktree '${name}' && git restore '${name}'`,
  ],
  submodule: () => ["fetch the submodules: git submodule update --init --recursive"],
  assumed: (name) => [
    `git update-index --no-assume-unchanged '${name}', then restore it or commit its removal`,
  ],
  deleted: () => ["restore it (git restore), or commit its removal"],
};

/**
 * Throws CliError `usage` when the work tree lacks a tracked file below the root that nobody removed:
 * its document would seem to have no file. With `deletions` also for one deleted without a commit.
 * Outside git there is nothing to check.
 */
export async function refuseIncompleteCheckout(
  { env, signal }: Context,
  root: string,
  { deletions }: { deletions: boolean },
): Promise<void> {
  if (!isInGit(root)) return;
  const repository = await openRepository(root, env, { signal });
  const missing = repository && (await findMissingFile(repository, { signal, deletions }));
  if (missing === undefined) return;
  const name = neutraliseLine(missing.name);
  throw new CliError(
    "usage",
    `a removal needs a complete checkout, and ${name}, which git tracks, is missing; nothing was removed`,
    { hints: remedies[missing.why](name) },
  );
}
