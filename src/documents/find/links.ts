import { folderOf } from "../files/file-name.ts";
import { realpathSync, statSync } from "node:fs";
import { codeOf } from "../../errors.ts";
import type { DirectReach, Job } from "./folder.ts";
import type { PathFilter } from "../files/patterns.ts";
import { relativeTo } from "../files/root.ts";
import type { DocumentSettings } from "../map/settings.ts";
import { normalise } from "../files/source-file.ts";

type LinkTarget = { kind: "file" | "folder"; real: string } | { kind: "skipped"; reason: string };

/** A symbolic link that a walk found. */
export interface Link {
  kind: "file" | "folder";
  /** Root-relative path of the link. */
  path: string;
  /** Root-relative real path of the target. */
  real: string;
  /** The inputs that apply to the target. */
  jobs: readonly Job[];
}

/** The link targets of one search. Each is walked once, after all files that inputs reach. */
export interface Links {
  /** Queues the target for the next walk, or returns the reason to skip the link. */
  follow(link: Link): string | undefined;
  /** Empties the queue and returns its targets. */
  takeTargets(): Job[];
  /** Paths of the links that lead to a path, the last one first. */
  linksTo(path: string): string[];
  /** Settings whose filters match a file by its own path or by its path through the link. */
  settings: DocumentSettings;
}

interface Followed {
  link: Link;
  /** The walk covers the whole folder, not only the matches of a glob. */
  isWhole: boolean;
  /** The link that led to the folder of this link. */
  parent: Followed | undefined;
}

/** Resolves a link to a file or folder, or to the reason to skip it. */
export function resolveLink(path: string, root: string): LinkTarget {
  try {
    const absolute = realpathSync.native(path);
    const real = relativeTo(root, absolute);
    if (real === undefined) {
      return { kind: "skipped", reason: "symbolic link that leaves the project root" };
    }
    if (`/${real}/`.includes("/.knowctl/")) {
      return { kind: "skipped", reason: "symbolic link into the state folder" };
    }
    const stats = statSync(absolute);
    if (stats.isDirectory()) return { kind: "folder", real: normalise(real) };
    if (stats.isFile()) return { kind: "file", real: normalise(real) };
    return { kind: "skipped", reason: "symbolic link to something that is not a regular file" };
  } catch (error) {
    const reason = codeOf(error) === "ELOOP" ? "symbolic link in a loop" : "broken symbolic link";
    return { kind: "skipped", reason };
  }
}

/** Rebases the inputs that reach the folder link `path` to its target `real`. */
export function jobsBehind(path: string, real: string, jobs: readonly Job[]): Job[] {
  const whole = jobs.find(({ matches }) => !matches);
  if (whole) return [{ ...whole, base: real }];
  return jobs.map((job) => {
    const start = job.base === "" ? path : path.slice(job.base.length + 1);
    return { ...job, base: real, matches: (below) => job.matches?.(`${start}/${below}`) === true };
  });
}

/** `direct` answers which files the inputs reach without a link. */
export function createLinks(settings: DocumentSettings, direct: DirectReach): Links {
  const followed = new Map<string, Followed>();
  let targets: Job[] = [];
  let isFirstWalk = true;
  const linkTo = (path: string): Followed | undefined => {
    for (let at = path; ; at = folderOf(at)) {
      const found = followed.get(at);
      if (found || at === "") return found;
    }
  };
  const throughLink = (path: string): string => {
    const link = linkTo(path)?.link;
    if (!link) return path;
    return link.path + (link.real === "" ? `/${path}` : path.slice(link.real.length));
  };
  const byEitherPath = (filter: PathFilter | undefined): PathFilter | undefined =>
    filter && {
      ...filter,
      matches: (path) => filter.matches(path) || filter.matches(throughLink(path)),
    };
  const { only, exclude } = settings;
  return {
    settings: { ...settings, only: byEitherPath(only), exclude: byEitherPath(exclude) },
    follow(link) {
      const { kind, path, real, jobs } = link;
      // Without the target, so that a run counts all such links in one line.
      if (direct[kind](real)) return `symbolic link to a ${kind} that is included directly`;
      const earlier = followed.get(real);
      // In the first walk, two links to one folder may match different globs: both are followed.
      // A later walk follows each target once, because the links may form a loop.
      if (earlier && (earlier.isWhole || !isFirstWalk)) {
        return `symbolic link to a ${kind} that is already included`;
      }
      const isWhole = jobs.some(({ matches }) => !matches);
      followed.set(real, { link, isWhole, parent: earlier ? earlier.parent : linkTo(path) });
      targets.push(...jobs);
      return undefined;
    },
    takeTargets() {
      isFirstWalk = false;
      const taken = targets;
      targets = [];
      return taken;
    },
    linksTo(path) {
      const paths: string[] = [];
      for (let at = linkTo(path); at; at = at.parent) paths.push(at.link.path);
      return paths;
    },
  };
}
