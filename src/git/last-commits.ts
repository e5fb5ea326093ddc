import { pathBelowRoot, shallowBoundary, type Repository } from "./repository.ts";
import { streamGit, type RunOptions } from "./run.ts";

/** The commit that last changed a file. */
export interface Commit {
  /** Full id. */
  readonly id: string;
  /** Commit time: UTC, RFC 3339 with `Z`, whole seconds. */
  readonly date: string;
}

export interface LastCommitOptions extends RunOptions {
  /** Whether to look up a file (path relative to the project root). Fewer files finish sooner. */
  wanted?: (path: string) => boolean;
  /** Symbolic links: once one is followed, all files it may lead to are looked up. */
  links?: { isFollowed(path: string): boolean; mayLeadTo(path: string): boolean };
}

const symbolicLink = "120000";

export interface LastCommits {
  /** By path relative to the project root, NFC. */
  readonly commits: Map<string, Commit>;
  /** Files whose last commit lies beyond the end of a shallow history. */
  readonly unknown: number;
}

/** Files of the checked-out commit: name in git to content id. */
async function listFiles(
  repository: Repository,
  head: string,
  options: LastCommitOptions,
): Promise<Map<string, string>> {
  const files = new Map<string, string>();
  const { wanted, links } = options;
  const args = ["ls-tree", "-r", "-z", "--full-name", head];
  for await (const parts of streamGit(repository.git, args, options)) {
    for (const part of parts) {
      const tab = part.indexOf("\t");
      const [mode, type, id = ""] = part.slice(0, tab).split(" ");
      const name = part.slice(tab + 1);
      const path = pathBelowRoot(repository, name);
      if (mode === symbolicLink && path !== undefined && links?.isFollowed(path)) {
        const { signal } = options;
        return await listFiles(repository, head, { signal, wanted: links.mayLeadTo });
      }
      if (type !== "blob" || path === undefined || wanted?.(path) === false) continue;
      files.set(name, id);
    }
  }
  return files;
}

function toCommit(line: string): Commit | undefined {
  const [id = "", seconds = ""] = line.split(" ");
  const date = new Date(Number(seconds) * 1000);
  const year = date.getUTCFullYear();
  // A commit's date comes from its author's machine and can be absurd.
  if (!(year >= 1970 && year <= 9999)) return undefined;
  return { id, date: date.toISOString().replace(".000Z", "Z") };
}

/** Content id after the commit: the last field before the status. */
function contentIdOf(header: string): string | undefined {
  const fields = header.split(" ");
  return fields[fields.length - 2];
}

/** State of one pass over `git log`. */
interface Pass {
  /** Files still to find: name in git to current content id. */
  readonly pending: Map<string, string>;
  readonly boundary: ReadonlySet<string>;
  readonly onFound: (name: string, commit: Commit | undefined, isBoundary: boolean) => void;
  /** The commit whose files follow in the output. */
  commit: Commit | undefined;
  isBoundary: boolean;
  /** Header of the file whose name is the next part. */
  header: string | undefined;
}

/** `part` is a commit (`id seconds`), a file header (git-diff-index(1), "raw output") or a file name. */
function readPart(pass: Pass, part: string): void {
  if (pass.header !== undefined) {
    if (pass.pending.get(part) === contentIdOf(pass.header)) {
      pass.pending.delete(part);
      pass.onFound(part, pass.commit, pass.isBoundary);
    }
    pass.header = undefined;
  } else if (part.startsWith(":") || part.startsWith("\n:")) {
    pass.header = part;
  } else if (part !== "") {
    pass.commit = toCommit(part);
    pass.isBoundary = pass.boundary.has(part.slice(0, part.indexOf(" ")));
  }
}

// -c lists only the files of a merge that differ from all parents.
// No renames: rename detection reads file contents.
const logArguments =
  "log --raw -c -z --no-abbrev --no-renames --ignore-submodules=all --no-ext-diff --no-textconv".split(
    " ",
  );

/**
 * Finds the last commit of each file of the checked-out commit below the root, in
 * one pass over `git log` that ends when all are found. Like `git log -1 -- FILE`, a
 * merge counts only for its own changes. A commit counts only when it produced the
 * current content, so changes that a merge discarded do not count. A renamed file has
 * the commit that renamed it. Uncommitted changes do not count. Omitted are files that
 * no commit contains and files whose commit has an impossible date. `unknown` counts files
 * of the oldest commit in a shallow history: there every file seems new.
 * Memory: one entry per file. Throws CliError `usage` when git fails, and the signal's
 * reason when aborted.
 */
export async function lastCommits(
  repository: Repository,
  options: LastCommitOptions = {},
): Promise<LastCommits> {
  const commits = new Map<string, Commit>();
  let unknown = 0;
  const { head, git, prefix } = repository;
  if (head === undefined) return { commits, unknown };
  const boundary = await shallowBoundary(repository, options);
  const pending = await listFiles(repository, head, options);
  const onFound: Pass["onFound"] = (name, commit, isBoundary) => {
    const path = pathBelowRoot(repository, name);
    if (isBoundary) unknown++;
    else if (commit && path !== undefined) commits.set(path, commit);
  };
  const pass: Pass = {
    pending,
    boundary,
    onFound,
    commit: undefined,
    isBoundary: false,
    header: undefined,
  };
  const args = [...logArguments, "--format=%H %ct", head, ...(prefix === "" ? [] : ["--", "."])];
  if (pending.size === 0) return { commits, unknown };
  for await (const parts of streamGit(git, args, options)) {
    for (const part of parts) readPart(pass, part);
    if (pending.size === 0) break;
  }
  return { commits, unknown };
}
