import { realpathSync, statSync } from "node:fs";
import { codeOf } from "../../errors.ts";
import type { DirectReach, Job } from "./folder.ts";
import type { PathFilter } from "./patterns.ts";
import { relativeTo } from "./root.ts";
import type { DocumentSettings } from "../map/settings.ts";
import { normalise } from "../inspect/stamp.ts";

type LinkTarget = { kind: "file" | "folder"; real: string } | { kind: "skipped"; reason: string };

/** A symbolic link that a walk came to. */
export interface Link {
  kind: "file" | "folder";
  /** Root-relative path of the link, and of what it leads to. */
  path: string;
  real: string;
  /** What the inputs take of the target. */
  jobs: readonly Job[];
}

/** The targets of the links of one search: each is walked once, after all that the inputs reach. */
export interface Links {
  /** Keeps the target for the next walk, or returns the reason to skip the link. */
  follow(link: Link): string | undefined;
  /** The targets that were kept since the last call. */
  takeTargets(): Job[];
  /** Paths of the links that lead to a path, the last one first. */
  linksTo(path: string): string[];
  /** Filters that take or leave a file by its own path and by the one through its link. */
  settings: DocumentSettings;
}

interface Followed {
  link: Link;
  /** All of the folder is walked, not only what a glob matches. */
  isWhole: boolean;
  /** The link that led to the folder of this one. */
  before: Followed | undefined;
}

/** What a link leads to, as far as that can be a document or hold some. */
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
    const reason =
      codeOf(error) === "ELOOP" ? "symbolic link in a loop" : "symbolic link that leads nowhere";
    return { kind: "skipped", reason };
  }
}

/** The inputs that reach the folder link `path`, as inputs of the folder `real`. */
export function jobsBehind(path: string, real: string, jobs: readonly Job[]): Job[] {
  const whole = jobs.find(({ matches }) => !matches);
  if (whole) return [{ ...whole, base: real }];
  return jobs.map((job) => {
    const start = job.base === "" ? path : path.slice(job.base.length + 1);
    return { ...job, base: real, matches: (below) => job.matches?.(`${start}/${below}`) === true };
  });
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf("/")));
}

/** `direct` answers what the inputs reach without a link. */
export function createLinks(settings: DocumentSettings, direct: DirectReach): Links {
  const followed = new Map<string, Followed>();
  let targets: Job[] = [];
  let isFirstWalk = true;
  const linkTo = (path: string): Followed | undefined => {
    for (let at = path; ; at = parentOf(at)) {
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
      const shown = real === "" ? "the project root" : real;
      if (direct[kind](real)) return `symbolic link to ${shown}, which is taken itself`;
      const earlier = followed.get(real);
      // Two links may match different globs. Later ones are not followed twice: they may be a loop.
      if (earlier && (earlier.isWhole || !isFirstWalk)) {
        return `symbolic link to ${shown}, which is taken already`;
      }
      const isWhole = jobs.some(({ matches }) => !matches);
      followed.set(real, { link, isWhole, before: earlier ? earlier.before : linkTo(path) });
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
      for (let at = linkTo(path); at; at = at.before) paths.push(at.link.path);
      return paths;
    },
  };
}
