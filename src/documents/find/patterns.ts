import type fastGlob from "fast-glob";
import type micromatch from "micromatch";
import { CliError } from "../../errors.ts";

interface Libraries {
  fastGlob: typeof fastGlob;
  micromatch: typeof micromatch;
}

// Most runs name files and folders: they start without these.
let loaded: Libraries | undefined;

function libraries(): Libraries {
  if (!loaded) throw new Error("loadGlobs() has to be awaited before patterns are used");
  return loaded;
}

/** Loads, once, what patterns and globs take: wait for it before the first of them is compiled or split. */
export async function loadGlobs(): Promise<void> {
  const [glob, match] = await Promise.all([import("fast-glob"), import("micromatch")]);
  loaded ??= { fastGlob: glob.default, micromatch: match.default };
}

/** Whether a path holds anything that could make a glob of it; all other paths need no loadGlobs(). */
export function mayBeGlob(path: string): boolean {
  return /[*?![({\\]/.test(path);
}

/** Path filter compiled from patterns; paths are root-relative with "/". */
export interface PathFilter {
  readonly patterns: readonly string[];
  /** Whether the path of a file is named. */
  matches(path: string): boolean;
  /** Whether everything below this folder is named, so that a walk need not enter it. */
  covers(folder: string): boolean;
}

const maxPatternChars = 1000;
const maxAlternatives = 1000;

// Braces multiply: `{a,b}` eighteen times took 13 s to compile. A pattern may
// come from a repository that somebody else wrote.
function countAlternatives(pattern: string): number {
  let total = 1;
  for (const [, inside = ""] of pattern.matchAll(/\{([^{}]*)/g)) {
    const range = /^(-?\d+)\.\.(-?\d+)(?:\.\.-?\d+)?$/.exec(inside);
    const choices = range
      ? Math.abs(Number(range[2]) - Number(range[1])) + 1
      : inside.split(",").length;
    total *= Math.max(2, choices);
    if (total > maxAlternatives) break;
  }
  return total;
}

/** Throws CliError `usage` for a pattern that would take too long to compile or to match. */
export function checkPattern(pattern: string, origin: string): void {
  // Not cut: the part of a key that a cut leaves could not be told from other text.
  const shown = pattern.length > 60 ? `of ${pattern.length} characters` : pattern;
  const refuse = (why: string): never => {
    throw new CliError("usage", `${origin}: pattern ${shown} ${why}`, {
      hints: ["give several simpler patterns instead"],
    });
  };
  if (pattern.trim() === "") {
    throw new CliError("usage", `${origin}: the pattern is empty`, {
      hints: ["leave it out, or write one such as docs/**/*.md"],
    });
  }
  if (pattern.includes("\0")) refuse("holds a NUL character");
  if (pattern.length > maxPatternChars) refuse(`is longer than ${maxPatternChars} characters`);
  if (countAlternatives(pattern) > maxAlternatives) {
    refuse(`expands to more than ${maxAlternatives} alternatives`);
  }
  // Nested repetition such as `+(+(a))` backtracks without end.
  if (/[@+*?!]\([^)]*[@+*?!]\(/.test(pattern)) refuse("nests one extended group in another");
}

/** Compiles one pattern that matches whole paths. Check it first. */
export function compilePattern(pattern: string, dot: boolean): (path: string) => boolean {
  return libraries().micromatch.matcher(pattern, { dot, nonegate: true });
}

/** Checks and cleans a pattern of the configuration or of a filter flag: always below the root. */
export function cleanPattern(pattern: string, origin: string): string {
  checkPattern(pattern, origin);
  if (/^([/\\]|[A-Za-z]:)/.test(pattern) || /(^|[/\\])\.\.([/\\]|$)/.test(pattern)) {
    throw new CliError("usage", `${origin}: pattern ${pattern} leaves the project root`, {
      hints: ["write it relative to the project root, without `..`"],
    });
  }
  const clean = pattern.replace(/^(\.\/)+/, "").replace(/\/+$/, "");
  return clean === "." || clean === "" ? "**" : clean;
}

interface CompiledPattern {
  matches: (path: string) => boolean;
  covers: (folder: string) => boolean;
}

function compileFilterPattern(pattern: string, wholeFolders: boolean): CompiledPattern {
  // As in .gitignore, a pattern without a slash counts at any depth.
  const anchored = pattern.includes("/") ? pattern : `**/${pattern}`;
  const direct = compilePattern(anchored, true);
  if (anchored.endsWith("/**")) return { matches: direct, covers: direct };
  const last = anchored.slice(anchored.lastIndexOf("/") + 1);
  if (!wholeFolders && isGlob(last)) return { matches: direct, covers: () => false };
  const covers = compilePattern(`${anchored}/**`, true);
  return { matches: (path) => direct(path) || covers(path), covers };
}

/**
 * Filter of patterns, of which one has to match; those that begin with `!` take
 * out again. A pattern that names a folder stands for all that is in it; with
 * `wholeFolders` (for exclusions) one that merely matches a folder does too.
 * Undefined for no patterns. Throws CliError `usage`.
 */
export function createFilter(
  patterns: readonly string[],
  origin: string,
  wholeFolders = false,
): PathFilter | undefined {
  if (patterns.length === 0) return undefined;
  const wanted: CompiledPattern[] = [];
  const unwanted: CompiledPattern[] = [];
  for (const pattern of patterns) {
    const negative = pattern.startsWith("!") && !pattern.startsWith("!(");
    const clean = cleanPattern(negative ? pattern.slice(1) : pattern, origin);
    (negative ? unwanted : wanted).push(compileFilterPattern(clean, wholeFolders));
  }
  const any = (list: CompiledPattern[], path: string): boolean =>
    list.some((each) => each.matches(path));
  return {
    patterns,
    matches: (path) => (wanted.length === 0 || any(wanted, path)) && !any(unwanted, path),
    covers: (folder) => unwanted.length === 0 && wanted.some((each) => each.covers(folder)),
  };
}

/** Whether an argument has to be expanded, by fast-glob's rules. */
export function isGlob(pattern: string): boolean {
  return mayBeGlob(pattern) && libraries().fastGlob.isDynamicPattern(pattern);
}

/** A glob as the folder where the search starts and the pattern below it. */
export interface SplitGlob {
  /** Relative to where the glob is relative to, or absolute; "." for none. */
  base: string;
  pattern: string;
}

/** Splits a glob at its first dynamic segment; braces over folders give several parts. */
export function splitGlob(glob: string): SplitGlob[] {
  return libraries()
    .fastGlob.generateTasks(glob)
    .flatMap((task) =>
      task.positive.map((pattern) => {
        const steps = task.base === "." ? 0 : task.base.split("/").length;
        return { base: task.base, pattern: pattern.split("/").slice(steps).join("/") };
      }),
    );
}
