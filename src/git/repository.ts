import { realpathSync, lstatSync, readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { dirname, resolve, sep, join } from "node:path";
import { CliError, codeOf, fileProblem } from "../errors.ts";
import { gitEnvironment, reasonIn, runGit, type Git, type RunOptions, streamGit } from "./run.ts";

/** The git work tree that contains the project root. Plain data. */
export interface Repository {
  /** Project root: absolute real path. */
  readonly root: string;
  /** Top folder of the work tree: the root or a folder above it. */
  readonly top: string;
  /** Path from `top` to `root`, NFC, with a trailing "/"; "" when they are the same. */
  readonly prefix: string;
  /** Id of the checked-out commit; undefined before the first commit. */
  readonly head: string | undefined;
  /** Whether history was cut off (`git clone --depth`). */
  readonly isShallow: boolean;
  readonly git: Git;
}

const maxFilters = 100;

/**
 * Settings that disable every configured filter. git would run filters
 * (gitattributes(5)) to compare a file of the work tree with its commit.
 */
async function settingsAgainstFilters(git: Git, options: RunOptions): Promise<string[]> {
  const args = ["config", "--name-only", "-z", "--get-regexp", "^filter\\."];
  const { code, stdout, stderr } = await runGit(git, args, options);
  // Code 1: no filters are configured.
  if (code !== 0 && code !== 1)
    throw new CliError("usage", `git config failed: ${reasonIn(stderr)}`);
  const names = new Set<string>();
  for (const key of stdout.split("\0")) {
    if (key.lastIndexOf(".") > 6) names.add(key.slice(7, key.lastIndexOf(".")));
  }
  // `-c` ends the key at the first "=", so a filter named with "=" could not be disabled.
  const unsafeName = [...names].find((name) => /[=\n]/.test(name));
  if (unsafeName !== undefined || names.size > maxFilters) {
    const what =
      unsafeName === undefined ? `more than ${maxFilters} filters` : `a filter named ${unsafeName}`;
    throw new CliError("usage", `the git configuration has ${what}, which knowctl cannot disable`, {
      hints: ["to list the filters: git config --show-origin --get-regexp '^filter'"],
    });
  }
  return [...names].flatMap((name) => [
    `filter.${name}.clean=`,
    `filter.${name}.smudge=`,
    `filter.${name}.process=`,
    `filter.${name}.required=false`,
  ]);
}

function refusal(root: string, stderr: string): CliError {
  const owner = /dubious ownership in repository at '([^\n]*)'/.exec(stderr)?.[1];
  if (owner === undefined) {
    return new CliError("usage", `git cannot read the repository of ${root}: ${reasonIn(stderr)}`);
  }
  return new CliError("usage", `git refuses ${root}: the repository belongs to another user`, {
    hints: [`if you trust it: git config --global --add safe.directory '${owner}'`],
  });
}

/**
 * Top folder and prefix from the two lines that git printed. Both may contain line
 * breaks, so this uses the split at which top and prefix add up to the root.
 */
function splitTopAndPrefix(
  root: string,
  printed: string,
): { top: string; prefix: string } | undefined {
  for (
    let lineEnd = printed.indexOf("\n");
    lineEnd >= 0;
    lineEnd = printed.indexOf("\n", lineEnd + 1)
  ) {
    const prefix = printed.slice(lineEnd + 1);
    if (!/(^|[^/]\/)$/.test(prefix)) continue;
    let top = root;
    for (let steps = prefix.split("/").length - 1; steps > 0; steps--) top = dirname(top);
    const below = root.slice(top.length).split(sep).filter(Boolean).join("/");
    const fits = prefix.normalize("NFC") === (below === "" ? "" : `${below.normalize("NFC")}/`);
    if (fits && isSameFolder(printed.slice(0, lineEnd), top)) {
      return { top, prefix: prefix.normalize("NFC") };
    }
  }
  return undefined;
}

function isSameFolder(one: string, other: string): boolean {
  try {
    return realpathSync.native(resolve(one)) === realpathSync.native(other);
  } catch {
    return false;
  }
}

/** Whether git may know a `.git`: it is a file or a link, or a folder with a HEAD, which may be a link to nothing. */
function mayBeRepository(path: string): boolean {
  try {
    const stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isDirectory() !== true) return stats !== undefined;
    return lstatSync(join(path, "HEAD"), { throwIfNoEntry: false }) !== undefined;
  } catch {
    // What cannot be looked at may be there.
    return true;
  }
}

/** Whether a folder or one above it may be a repository: without one there is nothing to ask git about. */
function hasRepository(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (mayBeRepository(join(at, ".git"))) return true;
    if (at === dirname(at)) return false;
  }
}

type Place = Pick<Repository, "root" | "top" | "prefix" | "head" | "isShallow">;

// `--revs-only`: before the first commit HEAD is no error, and prints nothing.
const placeArguments =
  "rev-parse --is-shallow-repository --show-toplevel --show-prefix --revs-only HEAD^{commit}".split(
    " ",
  );

/** Asks git once, and only where a repository can be. Returns and throws as openRepository(). */
async function findPlace(git: Git, options: RunOptions): Promise<Place | undefined> {
  options.signal?.throwIfAborted();
  const root = git.folder;
  if (!hasRepository(root)) return undefined;
  const { code, stdout, stderr } = await runGit(git, placeArguments, options);
  if (code !== 0) {
    if (/not a git repository \(or any|must be run in a work tree/.test(stderr)) return undefined;
    throw refusal(root, stderr);
  }
  // The line before the commit is a prefix, which is empty or ends with "/".
  const [, isShallow, paths = "", head] =
    /^(true|false)\n([^]*?)\n(?:([0-9a-f]{40,64})\n)?$/.exec(stdout) ?? [];
  const place = splitTopAndPrefix(root, paths);
  if (!place) {
    throw new CliError(
      "usage",
      `the git repository of ${root} has its work tree in another folder`,
      {
        hints: ["to see that folder: git config core.worktree"],
      },
    );
  }
  return { root, ...place, head, isShallow: isShallow === "true" };
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Opens the repository whose work tree contains `root` (absolute real path). Returns
 * undefined outside git, in a bare repository and in a .git folder. `env` is the
 * caller's environment (PATH, HOME, …); its GIT_ variables are dropped.
 * No program from the repository's configuration is ever run.
 * Throws CliError `usage` when git is missing, when it refuses the repository of another
 * user, or when the work tree does not contain `root`. Throws the signal's reason when aborted.
 */
export async function openRepository(
  root: string,
  env: Environment,
  options: RunOptions = {},
): Promise<Repository | undefined> {
  const git: Git = { folder: root, env: gitEnvironment(env), settings: [] };
  const place = await findPlace(git, options);
  if (!place) return undefined;
  return { ...place, git: { ...git, settings: await settingsAgainstFilters(git, options) } };
}

/** Id of the checked-out commit of `root`, for which no file is compared. Otherwise as openRepository(). */
export async function headOf(
  root: string,
  env: Environment,
  options: RunOptions = {},
): Promise<string | undefined> {
  return (await findPlace({ folder: root, env: gitEnvironment(env), settings: [] }, options))?.head;
}

/** Turns a name in git into a path relative to the project root, NFC; undefined outside the root. */
export function pathBelowRoot(repository: Repository, name: string): string | undefined {
  const path = name.normalize("NFC");
  return path.startsWith(repository.prefix) ? path.slice(repository.prefix.length) : undefined;
}

/** Ids of the commits at which a shallow history ends. Throws CliError `usage`. */
export async function shallowBoundary(
  repository: Repository,
  options: RunOptions = {},
): Promise<ReadonlySet<string>> {
  if (!repository.isShallow) return new Set();
  const shallowPath = await runGit(repository.git, ["rev-parse", "--git-path", "shallow"], options);
  try {
    const file = resolve(repository.root, shallowPath.stdout.replace(/\n$/, ""));
    return new Set((await readFile(file, "utf8")).split("\n").filter(Boolean));
  } catch (error) {
    throw new CliError(
      "usage",
      `cannot read git's list of shallow commits: ${fileProblem(codeOf(error))}`,
      { hints: ["fetch the whole history: git fetch --unshallow"], cause: error },
    );
  }
}

/** The last name of an address or path: `git@host:team/handbook.git` is `handbook`. */
function nameIn(url: string): string | undefined {
  const path = url.replace(/[/\\]+$/, "").replace(/\.git$/, "");
  return path.split(/[/\\:]/).at(-1) || undefined;
}

/**
 * The name of the repository at its remote: `origin`, else the first one. Undefined without a remote,
 * and where git or the repository cannot be used. Contacts nobody.
 */
export async function remoteName(
  folder: string,
  env: Environment,
  options: RunOptions = {},
): Promise<string | undefined> {
  const git: Git = { folder, env: gitEnvironment(env), settings: [] };
  const args = ["config", "--local", "-z", "--get-regexp", "^remote\\..*\\.url$"];
  let stdout: string;
  try {
    ({ stdout } = await runGit(git, args, options));
  } catch {
    options.signal?.throwIfAborted();
    return undefined;
  }
  const urls = stdout.split("\0").map((entry) => {
    const end = entry.indexOf("\n");
    return { key: entry.slice(0, end), url: entry.slice(end + 1) };
  });
  const remote = urls.find(({ key }) => key === "remote.origin.url") ?? urls[0];
  return remote && nameIn(remote.url);
}

/** A tracked file that the work tree lacks. */
export interface MissingFile {
  /** Path below the project root. */
  name: string;
  /** `left-out`: a sparse checkout or skip-worktree; `assumed`: git does not look (assume-unchanged). */
  why: "left-out" | "submodule" | "assumed" | "deleted";
}

// `git ls-files -s -v`: a tag (S: left out, lower case: assumed unchanged), mode, object, stage, name.
const listedEntry = /^(\S) (\d+) \S+ \d\t([^]*)$/;
const submoduleMode = "160000";

function isEmptyFolder(path: string): boolean {
  try {
    return readdirSync(path).length === 0;
  } catch {
    return true;
  }
}

function isGone(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return true;
  }
}

/** The first missing file of a submodule that was fetched. */
async function findInSubmodule(
  { root, git }: Repository,
  name: string,
  options: RunOptions,
): Promise<MissingFile | undefined> {
  const inner = await openRepository(join(root, name), git.env, options);
  // A folder with files but without a repository belongs to the one around it.
  if (inner === undefined || inner.prefix !== "") return undefined;
  const missing = await findMissingFile(inner, options);
  return missing && { ...missing, name: `${name}/${missing.name}` };
}

/**
 * The first tracked file below the project root that the work tree lacks although nobody removed it: a
 * sparse checkout leaves it out, git was told not to look at it, or its submodule was not fetched. With
 * `deletions` also a file that was deleted without a commit. Looks into submodules. Undefined for a
 * complete checkout. Throws CliError `usage` when git fails.
 */
export async function findMissingFile(
  repository: Repository,
  options: RunOptions & { deletions?: boolean } = {},
): Promise<MissingFile | undefined> {
  const { root, git } = repository;
  for await (const entries of streamGit(git, ["ls-files", "-s", "-v", "-z"], options)) {
    for (const entry of entries) {
      const [, tag = "", mode, name = ""] = listedEntry.exec(entry) ?? [];
      const place = join(root, name);
      if (mode === submoduleMode) {
        if (isEmptyFolder(place)) return { name, why: "submodule" };
        const inner = await findInSubmodule(repository, name, options);
        if (inner) return inner;
      } else if (tag.toUpperCase() === "S" && isGone(place)) return { name, why: "left-out" };
      else if (tag !== tag.toUpperCase() && isGone(place)) return { name, why: "assumed" };
    }
  }
  if (options.deletions !== true) return undefined;
  for await (const [name = ""] of streamGit(git, ["ls-files", "-d", "-z"], options)) {
    return { name, why: "deleted" };
  }
  return undefined;
}
