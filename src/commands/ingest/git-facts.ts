import type { Listed } from "../../documents/find/source-file.ts";
import type { Context } from "../../context.ts";
import type { FileFacts } from "../../documents/map/facts.ts";
import { formatOf } from "../../documents/read/readers.ts";
import { scopeOf } from "../../documents/find/scope.ts";
import type { DocumentSettings } from "../../documents/map/settings.ts";
import { CliError } from "../../errors.ts";
import { changesSince, isTaken } from "../../git/changes.ts";
import { findCodeOwners, ownersOf } from "../../git/code-owners.ts";
import { lastCommits, type Commit, type LastCommitOptions } from "../../git/last-commits.ts";
import type { CodeOwners } from "../../git/parse-code-owners.ts";
import { openRepository, type Repository } from "../../git/repository.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import type { Output } from "../../output/terminal/output.ts";
import { countOf } from "../../output/terminal/progress.ts";

/** What changed since a commit, as far as the inputs reach. */
export interface Since {
  ref: string;
  isTaken(listed: Listed): boolean;
  /** The same for a path that is no link. */
  isChanged(path: string): boolean;
  /** Whether the file of the commit is gone, deleted or renamed. */
  isGone(path: string): boolean;
  /** New path to old path. */
  renamed: ReadonlyMap<string, string>;
  deleted: ReadonlySet<string>;
  /** How many files of the inputs changed, renamed ones included. */
  changedCount: number;
  /** Whether an image anywhere in the project changed, came or went. */
  changesImages: boolean;
}

const imageName = /\.(?:png|jpe?g|gif|webp)$/i;

/** What git and CODEOWNERS say of the files, as far as it is asked for. */
export interface GitFacts {
  since: Since | undefined;
  factsOf: ((path: string) => FileFacts | undefined) | undefined;
}

export interface GitRequest {
  settings: DocumentSettings;
  inputs: readonly string[];
  /** A commit's name. */
  since: string | undefined;
}

function outsideGit(option: string, root: string): CliError {
  return new CliError("usage", `${option}: ${root} is in no git repository`, {
    hints: [
      "run it in a checkout that has its .git folder, name its folder with --root, or leave the option out",
    ],
  });
}

/** Whether a path is one that the inputs take, as far as its name tells. */
function takes({ settings, inputs }: GitRequest, cwd: string): (path: string) => boolean {
  const isInScope = scopeOf(inputs, { cwd, settings });
  return (path) => formatOf(path, settings.format) !== undefined && isInScope(path);
}

async function readSince(
  repository: Repository,
  ref: string,
  isOurs: (path: string) => boolean,
  options: { signal: AbortSignal },
): Promise<Since> {
  const changes = await changesSince(repository, ref, options);
  const renamed = new Map([...changes.renamed].filter(([path]) => isOurs(path)));
  const deleted = new Set([...changes.deleted].filter(isOurs));
  const left = new Set(changes.renamed.values());
  return {
    ref,
    isChanged: (path) => isTaken(changes, path),
    isTaken(listed) {
      if (isTaken(changes, listed.path)) return true;
      // A new link may lead to a file that no run has found before.
      return (
        listed.kind === "file" && listed.links?.some((link) => isTaken(changes, link)) === true
      );
    },
    isGone: (path) => deleted.has(path) || left.has(path),
    renamed,
    deleted,
    changedCount: [...changes.taken].filter(isOurs).length,
    changesImages: [changes.taken, changes.deleted, left].some((paths) =>
      [...paths].some((path) => imageName.test(path)),
    ),
  };
}

async function readCommits(
  repository: Repository,
  output: Output,
  options: LastCommitOptions,
): Promise<ReadonlyMap<string, Commit>> {
  const { commits, unknown } = await lastCommits(repository, options);
  if (unknown > 0) {
    await output.warn(
      `${countOf(unknown, "file")} without a commit: the history is cut off (shallow clone); ` +
        "fetch all of it (git fetch --unshallow; in CI `fetch-depth: 0`, `GIT_DEPTH: 0`)",
    );
  }
  return commits;
}

async function readOwners(
  place: { top: string; prefix: string },
  output: Output,
): Promise<CodeOwners | undefined> {
  const found = await findCodeOwners(place);
  if (!found) {
    await output.warn("no CODEOWNERS file found: no owners are taken from it");
    return undefined;
  }
  for (const { line, reason } of found.problems) {
    await output.warn(neutraliseLine(`${found.file}:${line}: ${reason}`));
  }
  return found;
}

/**
 * Asks git and CODEOWNERS what the settings want to know of the files. Throws
 * CliError `usage` outside git, for an unknown commit, and where a history that
 * was cut off (shallow clone) lacks the commit of `--since`.
 */
export async function readGitFacts(
  context: Context,
  request: GitRequest,
  output: Output,
): Promise<GitFacts> {
  const { settings } = request;
  const { root, updatedAt, metaCommit, owners } = settings;
  const options = { signal: context.signal };
  const wantsCommits = updatedAt === "git" || metaCommit;
  const needed =
    (request.since !== undefined && "--since") ||
    (updatedAt === "git" && "updatedAt: git") ||
    (metaCommit && "--meta-commit");
  if (!needed && owners === undefined) return { since: undefined, factsOf: undefined };
  const repository = await openRepository(root, context.env, options);
  if (needed && !repository) throw outsideGit(needed, root);
  const isOurs = takes(request, context.cwd);
  const since =
    repository && request.since !== undefined
      ? await readSince(repository, request.since, isOurs, options)
      : undefined;
  const isWanted = (path: string): boolean => isOurs(path) && since?.isChanged(path) !== false;
  const links = {
    isFollowed: scopeOf(request.inputs, { cwd: context.cwd, settings }),
    mayLeadTo: (path: string) => formatOf(path, settings.format) !== undefined,
  };
  const commits =
    repository && wantsCommits
      ? await readCommits(repository, output, { ...options, wanted: isWanted, links })
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
      const named = codeOwners && ownersOf(codeOwners, path);
      return commit || named?.length ? { commit, owners: named } : undefined;
    },
  };
}
