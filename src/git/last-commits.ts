import { pathBelowRoot, shallowBoundary, type Repository } from "./repository.ts";
import { streamGit, type RunOptions } from "./run.ts";

/** A commit as the source of a file. */
export interface Commit {
  /** Full id. */
  readonly id: string;
  /** When it was committed: UTC, RFC 3339 with `Z`, whole seconds. */
  readonly date: string;
}

export interface LastCommitOptions extends RunOptions {
  /** Whether a file (path relative to the project root) matters; the fewer, the sooner done. */
  wanted?: (path: string) => boolean;
  /** Symbolic links that may lead to files elsewhere: with one, all files that may be behind it matter. */
  links?: { isFollowed(path: string): boolean; mayLeadTo(path: string): boolean };
}

const symbolicLink = "120000";

export interface LastCommits {
  /** By path relative to the project root, NFC. */
  readonly commits: Map<string, Commit>;
  /** Files whose last commit lies beyond the end of a shallow history. */
  readonly unknown: number;
}

/** Files of the checked-out commit as git names them, with the id of their content. */
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
  // A commit's date is whatever its author's machine said.
  if (!(year >= 1970 && year <= 9999)) return undefined;
  return { id, date: date.toISOString().replace(".000Z", "Z") };
}

/** The id of the content after the commit: the last one before the status. */
function contentIn(header: string): string | undefined {
  const fields = header.split(" ");
  return fields[fields.length - 2];
}

/** One pass over `git log`: what it still looks for, and what it found. */
interface Pass {
  /** Name as git has it to the id of its content now. */
  readonly pending: Map<string, string>;
  readonly boundary: ReadonlySet<string>;
  readonly found: (name: string, commit: Commit | undefined, isBoundary: boolean) => void;
  /** The commit whose files follow, and of them the one whose name comes next. */
  commit: Commit | undefined;
  isBoundary: boolean;
  header: string | undefined;
}

/** `part` is a commit (`id seconds`), a file's line (git-diff-index(1), "raw output"), or its name. */
function takePart(pass: Pass, part: string): void {
  if (pass.header !== undefined) {
    if (pass.pending.get(part) === contentIn(pass.header)) {
      pass.pending.delete(part);
      pass.found(part, pass.commit, pass.isBoundary);
    }
    pass.header = undefined;
  } else if (part.startsWith(":") || part.startsWith("\n:")) {
    pass.header = part;
  } else if (part !== "") {
    pass.commit = toCommit(part);
    pass.isBoundary = pass.boundary.has(part.slice(0, part.indexOf(" ")));
  }
}

// -c: of a merge, the files that differ from all its parents. No renames: they read contents.
const logArguments =
  "log --raw -c -z --no-abbrev --no-renames --ignore-submodules=all --no-ext-diff --no-textconv".split(
    " ",
  );

/**
 * For each file of the checked-out commit below the root, the last commit that
 * changed it, in one pass over `git log` that ends when all are found. As
 * `git log -1 -- FILE`, a merge counts only for what it changed itself, and what
 * a merge threw away does not count: a commit is taken only when it left the
 * content that is there now. A renamed file has the commit that renamed it.
 * Changes that are not committed do not count. Left out are files that no commit
 * holds, those whose commit has no possible date, and those that a shallow
 * history shows only in its oldest commit, where all files seem new (`unknown`).
 * Memory: one entry a file. Throws CliError `usage` when git fails; the signal's
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
  const found: Pass["found"] = (name, commit, isBoundary) => {
    const path = pathBelowRoot(repository, name);
    if (isBoundary) unknown++;
    else if (commit && path !== undefined) commits.set(path, commit);
  };
  const pass: Pass = {
    pending,
    boundary,
    found,
    commit: undefined,
    isBoundary: false,
    header: undefined,
  };
  const args = [...logArguments, "--format=%H %ct", head, ...(prefix === "" ? [] : ["--", "."])];
  if (pending.size === 0) return { commits, unknown };
  for await (const parts of streamGit(git, args, options)) {
    for (const part of parts) takePart(pass, part);
    if (pending.size === 0) break;
  }
  return { commits, unknown };
}
