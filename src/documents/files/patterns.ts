import type fastGlob from "fast-glob";
import type micromatch from "micromatch";
import { CliError } from "../../errors.ts";

interface Libraries {
  fastGlob: typeof fastGlob;
  micromatch: typeof micromatch;
}

// Loaded on demand: most runs name files and folders and need no glob library.
let loaded: Libraries | undefined;

function libraries(): Libraries {
  if (!loaded) throw new Error("loadGlobs() has to be awaited before patterns are used");
  return loaded;
}

/** Loads the glob libraries once. Await it before you compile or split the first pattern. */
export async function loadGlobs(): Promise<void> {
  const [glob, match] = await Promise.all([import("fast-glob"), import("micromatch")]);
  loaded ??= { fastGlob: glob.default, micromatch: match.default };
}

/** Whether a path contains a glob character. Other paths need no loadGlobs(). */
export function mayBeGlob(path: string): boolean {
  return /[*?![({\\]/.test(path);
}

/** Path filter compiled from patterns; paths are root-relative with "/". */
export interface PathFilter {
  readonly patterns: readonly string[];
  /** Whether the filter matches the path of a file. */
  matches(path: string): boolean;
  /** Whether the filter matches everything below this folder, so that a walk need not enter it. */
  covers(folder: string): boolean;
  /** The patterns, without negated ones, of which no path or folder was asked that one matches. */
  unused(): string[];
}

const maxPatternChars = 1000;
const maxAlternatives = 1000;

// Braces multiply: `{a,b}` eighteen times took 13 s to compile. A pattern may be part of an
// untrusted repository.
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

// A star that has a choice: in a name with several, or `**` between folders. Each of them multiplies
// the time of a match by the length of the path: `*a*a*a*a*b` takes hours for a long name.
const maxStarsInNames = 4;
const maxStarFolders = 3;

const starsIn = (name: string): number => name.match(/\*+|[+!]\(/g)?.length ?? 0;

/** Of each `{a,b}` only the alternative with the most stars. */
function widestAlternatives(pattern: string): string {
  const widest = pattern.replace(/\{([^{}]*)\}/g, (_, inside: string) =>
    inside.split(",").reduce((most, each) => (starsIn(each) > starsIn(most) ? each : most)),
  );
  return widest === pattern ? pattern : widestAlternatives(widest);
}

function hasTooManyStars(pattern: string): boolean {
  const literal = pattern.replace(/\\.|\[[^\]]*\]/g, "x");
  const names = widestAlternatives(literal).split("/");
  const folders = names.slice(0, -1).filter((name) => name === "**").length;
  const stars = names.map((name) => starsIn(name)).filter((count) => count > 1);
  const inNames = stars.reduce((sum, count) => sum + count, 0);
  return folders > maxStarFolders || inNames > maxStarsInNames;
}

/** Throws CliError `usage` for a pattern that would take too long to compile or to match. */
export function checkPattern(pattern: string, origin: string): void {
  // Not truncated: redaction could not recognise a truncated key.
  const shown = pattern.length > 60 ? `of ${pattern.length} characters` : pattern;
  const refuse = (why: string): never => {
    throw new CliError("usage", `${origin}: pattern ${shown} ${why}`, {
      hints: ["write several simpler patterns instead"],
    });
  };
  if (pattern.trim() === "") {
    throw new CliError("usage", `${origin}: the pattern is empty`, {
      hints: ["remove it, or write a pattern, for example docs/**/*.md"],
    });
  }
  if (pattern.includes("\0")) refuse("contains a NUL character");
  if (pattern.length > maxPatternChars) refuse(`is longer than ${maxPatternChars} characters`);
  if (countAlternatives(pattern) > maxAlternatives) {
    refuse(`expands to more than ${maxAlternatives} alternatives`);
  }
  if (hasTooManyStars(pattern)) refuse("has too many stars");
  // Nested repetition, for example `+(+(a))`, backtracks without end.
  if (/[@+*?!]\([^)]*[@+*?!]\(/.test(pattern)) refuse("nests one extended group in another");
}

/** Compiles one pattern that matches whole paths. Call checkPattern() first. */
export function compilePattern(pattern: string, dot: boolean): (path: string) => boolean {
  return libraries().micromatch.matcher(pattern, { dot, nonegate: true });
}

/**
 * Checks and cleans a pattern of the configuration or of a filter flag. Throws CliError `usage`,
 * also for a pattern that leaves the root.
 */
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
  // As in .gitignore, a pattern without a slash matches at any depth.
  const anchored = pattern.includes("/") ? pattern : `**/${pattern}`;
  const direct = compilePattern(anchored, true);
  if (anchored.endsWith("/**")) return { matches: direct, covers: direct };
  const last = anchored.slice(anchored.lastIndexOf("/") + 1);
  if (!wholeFolders && isGlob(last)) return { matches: direct, covers: () => false };
  const covers = compilePattern(`${anchored}/**`, true);
  return { matches: (path) => direct(path) || covers(path), covers };
}

/**
 * Creates a filter that matches if one pattern matches. A pattern that begins with `!` excludes
 * paths. A pattern that names a folder matches everything in it. With `wholeFolders` (for
 * exclusions), a glob that matches a folder does the same. Returns undefined for no patterns.
 * Throws CliError `usage`.
 */
export function createFilter(
  patterns: readonly string[],
  origin: string,
  wholeFolders = false,
): PathFilter | undefined {
  if (patterns.length === 0) return undefined;
  const wanted: CompiledPattern[] = [];
  const unwanted: CompiledPattern[] = [];
  const unused = new Map<CompiledPattern, string>();
  for (const pattern of patterns) {
    const negative = pattern.startsWith("!") && !pattern.startsWith("!(");
    const clean = cleanPattern(negative ? pattern.slice(1) : pattern, origin);
    const compiled = compileFilterPattern(clean, wholeFolders);
    (negative ? unwanted : wanted).push(compiled);
    if (!negative) unused.set(compiled, pattern);
  }
  // Each pattern is asked, also after one that matches: else the later ones would count as unused.
  const any = (test: "matches" | "covers", path: string): boolean => {
    let found = false;
    for (const each of wanted) {
      if (!each[test](path)) continue;
      unused.delete(each);
      found = true;
    }
    return found;
  };
  return {
    patterns,
    matches: (path) =>
      (wanted.length === 0 || any("matches", path)) && !unwanted.some((each) => each.matches(path)),
    covers: (folder) => unwanted.length === 0 && any("covers", folder),
    unused: () => [...unused.values()],
  };
}

/** Whether a pattern is a glob by fast-glob's rules. */
export function isGlob(pattern: string): boolean {
  return mayBeGlob(pattern) && libraries().fastGlob.isDynamicPattern(pattern);
}

/** A glob, split into the folder where the search starts and the pattern below it. */
export interface SplitGlob {
  /** Absolute if the glob is absolute, else relative to the same folder; "." for none. */
  base: string;
  pattern: string;
}

/** Splits a glob at its first dynamic segment. Braces over folders result in several parts. */
export function splitGlob(glob: string): SplitGlob[] {
  return libraries()
    .fastGlob.generateTasks(glob)
    .flatMap((task) =>
      task.positive.map((pattern) => {
        const segments = task.base === "." ? 0 : task.base.split("/").length;
        return { base: task.base, pattern: pattern.split("/").slice(segments).join("/") };
      }),
    );
}
