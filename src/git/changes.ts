import { CliError } from "../errors.ts";
import { pathBelowRoot, type Repository } from "./repository.ts";
import { runGit, streamGit, type RunOptions } from "./run.ts";

/** How the work tree differs from a commit. Paths are relative to the project root, "/", NFC. */
export interface Changes {
  /** Existing files that are new, renamed or differ from the commit. */
  readonly changed: Set<string>;
  /** Of these, files that the commit does not have. */
  readonly added: Set<string>;
  /** Folders that git reports only as a whole: changed submodules, nested repositories. */
  readonly changedFolders: Set<string>;
  /** New path to old path; every new path is also in `changed`. */
  readonly renamed: Map<string, string>;
  /** Files of the commit that were deleted, not renamed. */
  readonly deleted: Set<string>;
}

const shallowHints = [
  "fetch the missing history: git fetch --unshallow",
  "in CI, check out everything: `fetch-depth: 0` (GitHub), `GIT_DEPTH: 0` (GitLab)",
];

async function resolveCommit(
  repository: Repository,
  ref: string,
  options: RunOptions,
): Promise<string> {
  const refuse = (why: string, hints: readonly string[]): never => {
    const shown = ref.replace(/[\p{Cc}\p{Cf}]/gu, "�");
    throw new CliError("usage", `--since ${shown.slice(0, 200)}: ${why}`, { hints });
  };
  const refHints = ["name a commit, a tag or a branch, such as origin/main or HEAD~1"];
  if (ref.startsWith("-")) refuse("a commit's name does not begin with '-'", refHints);
  if (ref.trim() === "" || ref.includes("\0")) refuse("names no commit", refHints);
  if (ref === repository.head) return ref;
  const args = ["rev-parse", "--verify", "--quiet", `${ref}^{commit}`];
  const { code, stdout } = await runGit(repository.git, args, options);
  const id = stdout.trim();
  if (code === 0 && /^[0-9a-f]{40,64}$/.test(id)) return id;
  if (repository.isShallow) {
    return refuse("no such commit, and the history here is cut off (shallow clone)", shallowHints);
  }
  return refuse("no such commit in this repository", [
    ...refHints,
    "fetch a branch or tag of the remote first: git fetch origin --tags",
  ]);
}

const subproject = "160000";

/** Compares the index with the commit. Does not read the work tree and runs no filters. */
async function compareIndex(
  repository: Repository,
  commit: string,
  similarity: string,
  options: RunOptions,
): Promise<Changes> {
  const tree: Changes = {
    changed: new Set(),
    changedFolders: new Set(),
    renamed: new Map(),
    deleted: new Set(),
    added: new Set(),
  };
  const args = ["diff-index", "--cached", "--raw", "-z", "--no-ext-diff", "--no-textconv"];
  const limits = [`--find-renames=${similarity}`, "-l1000", "--ignore-submodules=none"];
  let header: string | undefined;
  let old: string | undefined;
  const all = [...args, ...limits, commit, "--", "."];
  for await (const parts of streamGit(repository.git, all, options)) {
    for (const part of parts) {
      if (header === undefined) {
        header = part;
        continue;
      }
      const path = pathBelowRoot(repository, part);
      // Two paths follow a rename.
      if (/[RC]\d*$/.test(header) && old === undefined) {
        old = path ?? "";
        continue;
      }
      if (path !== undefined) addEntry(tree, header, path, old);
      header = undefined;
      old = undefined;
    }
  }
  return tree;
}

/** `header` is `:oldMode newMode oldId newId status` (git-diff-index(1)). */
function addEntry(tree: Changes, header: string, path: string, old: string | undefined): void {
  const [oldMode = "", newMode = "", , , status = ""] = header.slice(1).split(" ");
  if (newMode === subproject) tree.changedFolders.add(path);
  else if (status.startsWith("D")) {
    if (oldMode !== subproject) tree.deleted.add(path);
  } else {
    tree.changed.add(path);
    if (status.startsWith("R") && old) tree.renamed.set(path, old);
    else if (status.startsWith("A") || status.startsWith("C")) tree.added.add(path);
  }
}

/** Adds the changes from the index to the work tree: changed, deleted and untracked files. */
async function addWorkTree(
  repository: Repository,
  tree: Changes,
  options: RunOptions,
): Promise<void> {
  const kinds = ["--untracked-files=all", "--no-renames", "--ignore-submodules=all"];
  const args = ["status", "--porcelain=v1", "-z", ...kinds, "--", "."];
  const oldPaths = new Map([...tree.renamed].map(([path, old]) => [old, path]));
  for await (const parts of streamGit(repository.git, args, options)) {
    for (const part of parts) {
      const path = pathBelowRoot(repository, part.slice(3));
      if (path === undefined) continue;
      const state = part.slice(0, 2);
      if (state === "DD" || (state[1] === "D" && state !== "UD")) addDeleted(tree, path);
      else if (path.endsWith("/")) tree.changedFolders.add(path.slice(0, -1));
      else if (state[1] !== " ") {
        tree.changed.add(path);
        if (state === "??" && !tree.deleted.has(path)) tree.added.add(path);
        tree.deleted.delete(path);
        // The old path of a rename exists again, so its new path is a new file.
        tree.renamed.delete(oldPaths.get(path) ?? "");
      }
    }
  }
}

function addDeleted(tree: Changes, path: string): void {
  const old = tree.renamed.get(path);
  tree.changed.delete(path);
  tree.renamed.delete(path);
  if (old !== undefined) tree.deleted.add(old);
  else if (!tree.added.has(path)) tree.deleted.add(path);
}

/**
 * Lists all differences between the work tree and the commit `ref` itself, not a
 * merge base. The work tree includes staged, unstaged and untracked files. Ignored
 * files never count. Only the index knows renames: a file moved without `git mv` or
 * `git add` is one deleted and one new file. Filters (LFS) do not run, so a filtered
 * file whose times differ from the index may count as changed.
 * Throws CliError `usage` when `ref` is unknown, when a shallow clone lacks it, or
 * when git fails. Throws the signal's reason when aborted.
 */
export async function changesSince(
  repository: Repository,
  ref: string,
  options: RunOptions = {},
): Promise<Changes> {
  const commit = await resolveCommit(repository, ref, options);
  const tree = await compareIndex(repository, commit, "50%", options).catch((error: unknown) => {
    options.signal?.throwIfAborted();
    if (!(error instanceof CliError)) throw error;
    // A partial clone lacks file contents. A 100% comparison needs ids only, and still finds moves.
    return compareIndex(repository, commit, "100%", options);
  });
  await addWorkTree(repository, tree, options);
  return tree;
}

/** Whether a file (path relative to the project root) changed. */
export function isChanged(changes: Changes, path: string): boolean {
  if (changes.changed.has(path)) return true;
  if (changes.changedFolders.size === 0) return false;
  for (let at = path.indexOf("/"); at >= 0; at = path.indexOf("/", at + 1)) {
    if (changes.changedFolders.has(path.slice(0, at))) return true;
  }
  return false;
}
