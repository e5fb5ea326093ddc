import { closeSync, constants, existsSync, openSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import ignore from "ignore";
import { codeOf, fileProblem } from "../../errors.ts";
import { relativeTo, withSlashes } from "./root.ts";

const ignoreFiles = [".gitignore", ".knowctlignore"] as const;

/** The ignore rules in effect in one folder: its own first, then those of the folders above. */
export interface IgnoreRules {
  /** Path of the folder they belong to, root-relative, with a trailing "/"; "" for the root. */
  readonly prefix: string;
  /** For a folder above the root: the path from it to the root, with a trailing "/"; else "". */
  readonly above: string;
  readonly matcher: Matcher;
  readonly parent: IgnoreRules | undefined;
}

interface Matcher {
  /** False only when no rule can match a path that ends in this name. */
  mayMatch(name: string): boolean;
  test(path: string): { ignored: boolean; unignored: boolean };
}

// The library caches every path it tests. A new matcher from time to time keeps the memory of a
// long walk flat.
const testsBeforeReset = 1024;

/**
 * Checks the last segment of a path. The folders above were checked before, so a rule can only
 * match through its own last segment. Most rules end in a name or `*.ending`. This check avoids
 * most library calls, which cost more than a stat.
 */
function createNameCheck(text: string): (name: string) => boolean {
  const names = new Set<string>();
  const endings: string[] = [];
  for (const line of text.split("\n")) {
    const rule = line.trimEnd().replace(/^!/, "").replace(/\/$/, "");
    if (rule === "" || rule.startsWith("#")) continue;
    const last = rule.slice(rule.lastIndexOf("/") + 1);
    const ending = last.startsWith("*") ? last.slice(1) : last;
    if (/[*?[\]\\]/.test(ending) || ending === "") return () => true;
    if (last === ending) names.add(last);
    else endings.push(ending);
  }
  return (name) => names.has(name) || endings.some((ending) => name.endsWith(ending));
}

function createMatcher(text: string): Matcher {
  const create = (): ignore.Ignore => ignore({ ignorecase: false }).add(text);
  let matcher = create();
  let tests = 0;
  return {
    mayMatch: createNameCheck(text),
    test(path) {
      if (++tests > testsBeforeReset) {
        matcher = create();
        tests = 0;
      }
      return matcher.test(path);
    },
  };
}

function readIgnoreFile(folder: string, name: string, root: string): string | undefined {
  const path = join(folder, name);
  let descriptor: number;
  try {
    // A link could apply the rules of a file outside the root. A link within the root is fine.
    const real = realpathSync.native(path);
    if (relativeTo(root, real) === undefined && real !== join(realpathSync.native(folder), name)) {
      throw Object.assign(new Error("outside"), { code: "a link that leaves the project root" });
    }
    descriptor = openSync(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw error;
  }
  try {
    return readFileSync(descriptor, "utf8");
  } finally {
    closeSync(descriptor);
  }
}

/** An ignore file that cannot be read. */
interface IgnoreProblem {
  name: string;
  reason: string;
}

/**
 * Adds the ignore files of a folder to the rules above it. `hasEntry`, if known, answers whether
 * the folder contains a name; it avoids opening missing files. Reports problems instead of
 * throwing: one bad file does not end a walk.
 */
export function extendIgnoreRules(
  parent: IgnoreRules | undefined,
  folder: { absolute: string; prefix: string; above?: string },
  root: string,
  report: (problem: IgnoreProblem) => void,
  hasEntry?: (name: string) => boolean,
): IgnoreRules | undefined {
  let text = "";
  for (const name of ignoreFiles) {
    if (hasEntry?.(name) === false) continue;
    try {
      // Later rules win, so .knowctlignore can override .gitignore.
      text += `${readIgnoreFile(folder.absolute, name, root) ?? ""}\n`;
    } catch (error) {
      report({ name, reason: `cannot be read: ${fileProblem(codeOf(error))}` });
    }
  }
  if (text.trim() === "") return parent;
  const { prefix, above = "" } = folder;
  return { prefix, above, matcher: createMatcher(text), parent };
}

/** The ignore rules of the folders above the project root, up to the git root. */
export function ignoreRulesAbove(
  root: string,
  report: (problem: IgnoreProblem) => void,
): IgnoreRules | undefined {
  const folders: string[] = [];
  for (let at = root; !existsSync(join(at, ".git")); at = dirname(at)) {
    if (dirname(at) === at) return undefined;
    folders.unshift(dirname(at));
  }
  let rules: IgnoreRules | undefined;
  for (const absolute of folders) {
    const above = `${withSlashes(relativeTo(absolute, root) ?? "")}/`;
    rules = extendIgnoreRules(rules, { absolute, prefix: "", above }, absolute, report);
  }
  return rules;
}

/** False only when no rule can match a path that ends in this name. */
export function mayBeIgnored(name: string, rules: IgnoreRules | undefined): boolean {
  for (let at = rules; at; at = at.parent) if (at.matcher.mayMatch(name)) return true;
  return false;
}

/**
 * Whether a path is ignored. Expects that the folders above it are not ignored. The innermost
 * ignore file with a matching rule decides, as in git.
 */
export function isIgnored(
  path: string,
  isFolder: boolean,
  rules: IgnoreRules | undefined,
): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (!mayBeIgnored(name, rules)) return false;
  for (let at: IgnoreRules | undefined = rules; at; at = at.parent) {
    if (!at.matcher.mayMatch(name)) continue;
    const below = at.above + path.slice(at.prefix.length) + (isFolder ? "/" : "");
    const { ignored, unignored } = at.matcher.test(below);
    if (ignored) return true;
    if (unignored) return false;
  }
  return false;
}

/** Whether the name is that of a file with ignore rules. */
export function isIgnoreFile(name: string): boolean {
  return ignoreFiles.some((each) => each === name);
}

/**
 * Returns whether the ignore files of a project leave a root-relative path out, or a folder above it.
 * Nothing needs to be there.
 */
export function createIgnoreTest(root: string): (path: string) => boolean {
  const silent = (): void => {};
  const known = new Map<string, IgnoreRules | undefined | "ignored">();
  const rulesOf = (folder: string): IgnoreRules | undefined | "ignored" => {
    if (known.has(folder)) return known.get(folder);
    const above =
      folder === ""
        ? ignoreRulesAbove(root, silent)
        : rulesOf(posix.dirname(`/${folder}`).slice(1));
    const isOut = above === "ignored" || (folder !== "" && isIgnored(folder, true, above));
    const place = { absolute: join(root, folder), prefix: folder === "" ? "" : `${folder}/` };
    const rules = isOut ? "ignored" : extendIgnoreRules(above, place, root, silent);
    known.set(folder, rules);
    return rules;
  };
  return (path) => {
    // The library refuses the root and names of dots alone: no rule is about them.
    if (!ignore.isPathValid(path)) return false;
    const rules = rulesOf(posix.dirname(`/${path}`).slice(1));
    // A link to a folder may lack the slash.
    return rules === "ignored" || isIgnored(path, false, rules) || isIgnored(path, true, rules);
  };
}
