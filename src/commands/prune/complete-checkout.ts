import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { findMissingFile } from "../../git/missing-files.ts";
import { openRepository } from "../../git/repository.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";

function isInGit(root: string): boolean {
  for (let folder = root; ; folder = dirname(folder)) {
    if (existsSync(join(folder, ".git"))) return true;
    if (dirname(folder) === folder) return false;
  }
}

/**
 * Throws CliError `usage` when a tracked file is missing below the root: its document would seem
 * to have no file. Outside git there is nothing to check.
 */
export async function refuseIncompleteCheckout(
  { env, signal }: Context,
  root: string,
): Promise<void> {
  if (!isInGit(root)) return;
  const repository = await openRepository(root, env, { signal });
  const missing = repository && (await findMissingFile(repository, { signal }));
  if (missing === undefined) return;
  throw new CliError(
    "usage",
    `prune needs a complete checkout, and ${neutraliseLine(missing)} is missing; nothing was removed`,
    {
      hints: [
        "restore it (`git restore`, `git sparse-checkout disable`, `git submodule update --init`)",
        "or commit its removal",
      ],
    },
  );
}
