import type { Listed, FileFacts } from "../../documents/files/source-file.ts";
import type { Context } from "../../context.ts";
import {
  comparableName,
  nameAnywhere,
  pathsInParts,
  mostParts,
} from "../../documents/parts/parts.ts";
import { formatOf } from "../../documents/formats/formats.ts";
import { scopeOf, type FindOptions } from "../../documents/find/scope.ts";
import { CliError } from "../../errors.ts";
import { changesSince, isChanged } from "../../git/changes.ts";
import { findCodeOwners, ownersOf, type CodeOwners } from "../../git/code-owners.ts";
import { lastCommits, type Commit, type LastCommitOptions } from "../../git/last-commits.ts";
import { openRepository, type Repository } from "../../git/repository.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import type { Output } from "../../output/terminal/output.ts";
import { countOf } from "../../output/terminal/progress.ts";

/** Changes of the inputs since a commit. */
export interface Since {
  ref: string;
  /** Whether a listed file, or a link to it, changed. */
  isSelected(listed: Listed): boolean;
  /** Whether the path itself changed, without links. */
  isChanged(path: string): boolean;
  /** Whether the commit does not have a changed file. */
  isAdded(path: string): boolean;
  /** Whether a file of the commit was deleted or renamed. */
  isGone(path: string): boolean;
  /** New path to old path. */
  renamed: ReadonlyMap<string, string>;
  deleted: ReadonlySet<string>;
  /** How many files of the inputs changed, renamed ones included. */
  changedCount: number;
  /** Whether a recorded part of a document (partsText()) was changed, added, deleted or renamed. */
  changesParts(parts: string): boolean;
}

/** The facts from git and CODEOWNERS that the options need. */
export interface GitFacts {
  since: Since | undefined;
  factsOf: ((path: string) => FileFacts | undefined) | undefined;
}

export interface GitRequest {
  find: FindOptions;
  inputs: readonly string[];
  /** Commit, tag or branch. */
  since: string | undefined;
  /** Read the last commit of each file, if there is a repository. */
  wantsCommits?: boolean | undefined;
}

function outsideGit(option: string, root: string): CliError {
  return new CliError("usage", `${option}: ${root} is not in a git repository`, {
    hints: [
      "run knowctl in a checkout with a .git folder, name that checkout with --root, or omit the option",
    ],
  });
}

/** Whether the inputs include a path, judged by its name alone. */
function createIsIncluded({ find, inputs }: GitRequest): (path: string) => boolean {
  const isInScope = scopeOf(inputs, find);
  return (path) => formatOf(path, find.settings.format) !== undefined && isInScope(path);
}

async function readSince(
  repository: Repository,
  ref: string,
  isIncluded: (path: string) => boolean,
  options: { signal: AbortSignal },
): Promise<Since> {
  const changes = await changesSince(repository, ref, options);
  const renamed = new Map([...changes.renamed].filter(([path]) => isIncluded(path)));
  const deleted = new Set([...changes.deleted].filter(isIncluded));
  const oldPaths = new Set(changes.renamed.values());
  let names: Set<string> | undefined;
  const touchedNames = (): Set<string> =>
    (names ??= new Set([...changes.changed, ...changes.deleted, ...oldPaths].map(comparableName)));
  return {
    ref,
    isChanged: (path) => isChanged(changes, path),
    isAdded: (path) => changes.added.has(path),
    isSelected(listed) {
      if (isChanged(changes, listed.path)) return true;
      // A new link may lead to a file that no earlier run found.
      return (
        listed.kind === "file" && listed.links?.some((link) => isChanged(changes, link)) === true
      );
    },
    isGone: (path) => deleted.has(path) || oldPaths.has(path),
    renamed,
    deleted,
    changedCount: [...changes.changed].filter(isIncluded).length,
    changesParts(parts) {
      const paths = pathsInParts(parts);
      const isTouched = (path: string): boolean => {
        const name = nameAnywhere(path);
        if (name !== undefined) return touchedNames().has(name);
        return isChanged(changes, path) || changes.deleted.has(path) || oldPaths.has(path);
      };
      // Beyond this number, not all of them are recorded.
      return paths.length >= mostParts || paths.some(isTouched);
    },
  };
}

async function readCommits(
  repository: Repository,
  output: Output | undefined,
  options: LastCommitOptions,
): Promise<ReadonlyMap<string, Commit>> {
  const { commits, unknown } = await lastCommits(repository, options);
  if (unknown > 0) {
    await output?.warn(
      `no commit found for ${countOf(unknown, "file")}: the history is cut off (shallow clone); ` +
        "fetch the whole history (git fetch --unshallow; in CI `fetch-depth: 0`, `GIT_DEPTH: 0`)",
    );
  }
  return commits;
}

async function readOwners(
  place: { top: string; prefix: string },
  output: Output | undefined,
): Promise<CodeOwners | undefined> {
  const found = await findCodeOwners(place);
  if (!found) {
    await output?.warn("no CODEOWNERS file found: documents get no owners from it");
    return undefined;
  }
  for (const { line, reason } of found.problems) {
    await output?.warn(neutraliseLine(`${found.file}:${line}: ${reason}`));
  }
  return found;
}

/**
 * Reads from git and CODEOWNERS the facts that the settings need. Throws CliError `usage`
 * outside git, for an unknown commit, and when a shallow clone lacks the commit of `--since`.
 */
export async function readGitFacts(
  context: Context,
  request: GitRequest,
  output: Output | undefined,
): Promise<GitFacts> {
  const { settings } = request.find;
  const { root, updatedAt, metaCommit, owners } = settings;
  const options = { signal: context.signal };
  const needsCommits = updatedAt === "git" || metaCommit;
  const wantsCommits = needsCommits || request.wantsCommits === true;
  const needed =
    (request.since !== undefined && "--since") ||
    (updatedAt === "git" && "updatedAt: git") ||
    (metaCommit && "--meta-commit");
  if (!needed && !wantsCommits && owners === undefined)
    return { since: undefined, factsOf: undefined };
  const repository = await openRepository(root, context.env, options);
  if (needed && !repository) throw outsideGit(needed, root);
  const isIncluded = createIsIncluded(request);
  const since =
    repository && request.since !== undefined
      ? await readSince(repository, request.since, isIncluded, options)
      : undefined;
  const isWanted = (path: string): boolean => isIncluded(path) && since?.isChanged(path) !== false;
  const links = {
    isFollowed: scopeOf(request.inputs, request.find),
    mayLeadTo: (path: string) => formatOf(path, settings.format) !== undefined,
  };
  const commits =
    repository && wantsCommits
      ? await readCommits(repository, needsCommits ? output : undefined, {
          ...options,
          wanted: isWanted,
          links,
        })
      : new Map<string, Commit>();
  const codeOwners =
    owners === "codeowners"
      ? await readOwners(repository ?? { top: root, prefix: "" }, output)
      : undefined;
  if (commits.size === 0 && !codeOwners) return { since, factsOf: undefined };
  return {
    since,
    factsOf(path) {
      const commit = commits.get(path);
      const fileOwners = codeOwners && ownersOf(codeOwners, path);
      return commit || fileOwners?.length ? { commit, owners: fileOwners } : undefined;
    },
  };
}
