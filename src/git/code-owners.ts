import { constants } from "node:fs";
import { open, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { CliError, codeOf, fileProblem } from "../errors.ts";

/** A CODEOWNERS pattern, split at "/" into steps. Plain data. */
interface PathPattern {
  /** `**` matches any number of steps; at the end, at least one. */
  readonly steps: readonly string[];
  /** Whether it also matches all paths below a matching folder. */
  readonly isFolderToo: boolean;
}

/**
 * Splits a pattern by the rules of gitignore(5): a slash before the end anchors it to the
 * top; otherwise it matches at any depth. With `anywhere` (GitLab) only a leading slash
 * anchors. Unlike in gitignore(5), `docs/*` does not match in subfolders, and `[` is a
 * plain character: docs.github.com, "About code owners". Undefined for a pattern that
 * can match nothing.
 */
function parsePathPattern(text: string, anywhere: boolean): PathPattern | undefined {
  const pattern = text.normalize("NFC");
  const steps = pattern.split("/").filter((step) => step !== "");
  if (steps.length === 0) return undefined;
  const isFolder = pattern.endsWith("/");
  const fromTop = pattern.startsWith("/") || (!anywhere && steps.length > 1);
  const last = steps[steps.length - 1];
  const all = [...(fromTop ? [] : ["**"]), ...steps, ...(isFolder ? ["**"] : [])];
  // `**/**` equals `**`.
  const short = all.filter((step, index) => step !== "**" || all[index - 1] !== "**");
  return { steps: short, isFolderToo: !isFolder && last !== "*" && last !== "**" };
}

/**
 * Whether a pattern of `*`, `?` and `\x` matches one step of a path. Backtracks only to
 * the latest star, so time is at most the product of the lengths; a regular expression
 * could backtrack exponentially.
 */
function matchesStep(pattern: string, step: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let index = 0; index < step.length;) {
    const sign = pattern[at];
    const isPlain = sign === "\\" && at + 1 < pattern.length;
    if (sign === "*") {
      star = at++;
      resume = index;
    } else if (sign === "?" || (isPlain ? pattern[at + 1] : sign) === step[index]) {
      at += isPlain ? 2 : 1;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++resume;
    } else return false;
  }
  while (pattern[at] === "*") at++;
  return at === pattern.length;
}

/** Whether a pattern matches a path (its steps, NFC). Same time bound as matchesStep(). */
function matchesPath(pattern: PathPattern, path: readonly string[]): boolean {
  const { steps, isFolderToo } = pattern;
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let index = 0; index < path.length;) {
    const step = steps[at];
    if (step === "**") {
      if (at === steps.length - 1) return true;
      star = at++;
      resume = index;
    } else if (step === undefined && isFolderToo) {
      return true;
    } else if (step !== undefined && matchesStep(step, path[index] ?? "")) {
      at++;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++resume;
    } else return false;
  }
  return at === steps.length;
}

/** An owner in API form: an e-mail address, or a handle as written (`@user`, `@org/team`). */
export interface CodeOwner {
  display_name?: string;
  email?: string;
}

/** One line. A line without owners removes the owners of earlier lines. */
interface OwnerRule {
  readonly line: number;
  readonly pattern: PathPattern;
  readonly owners: readonly CodeOwner[];
  /** `!pattern` (GitLab): the section has no owners for these files, whatever its other lines. */
  readonly isExclusion: boolean;
}

/** A section of the file (GitLab). The last matching line of each section counts. */
interface OwnerSection {
  readonly name: string;
  readonly rules: readonly OwnerRule[];
}

/** A line that was skipped. */
interface OwnerProblem {
  readonly line: number;
  readonly reason: string;
}

/** A CODEOWNERS file. Plain data that can be sent to another thread. */
export interface CodeOwners {
  /** Path relative to the top of the repository. */
  readonly file: string;
  /** Path from the top of the repository to the project root, with a trailing "/", or "". */
  readonly prefix: string;
  readonly sections: readonly OwnerSection[];
  readonly problems: readonly OwnerProblem[];
}

export interface CodeOwnersPlace {
  file?: string;
  prefix?: string;
}

// No person writes a line beyond these limits.
const maxPatternChars = 1000;
const maxOwners = 100;
const maxRules = 50_000;
const maxProblems = 20;

/** `[Name]`, `^[Optional]`, `[Name][2]`, then default owners: docs.gitlab.com, "CODEOWNERS syntax". */
const sectionLine = /^\^?\[([^\]]+)\](?:\[\d+\])?(?:\s+(.*))?$/;

/** Words of a line up to a comment; a backslash makes a space or `#` part of the word. */
function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [word] of line.matchAll(/(?:\\.|[^\s\\]|\\$)+/g)) {
    if (word.startsWith("#")) break;
    words.push(word);
  }
  return words;
}

/** Undefined when the word is not an owner. */
function toOwner(word: string): CodeOwner | undefined {
  if (word.startsWith("@")) return word.length > 1 ? { display_name: word } : undefined;
  const at = word.indexOf("@");
  return at > 0 && at < word.length - 1 ? { email: word } : undefined;
}

interface Parsing {
  isGitLab: boolean;
  sections: Map<string, { name: string; rules: OwnerRule[] }>;
  /** The section of the current line. */
  section: { name: string; rules: OwnerRule[] };
  defaults: readonly CodeOwner[];
  rules: number;
  problems: OwnerProblem[];
}

function ownersIn(parsing: Parsing, line: number, words: readonly string[]): CodeOwner[] {
  const owners: CodeOwner[] = [];
  for (const word of words) {
    const owner = toOwner(word);
    if (owner) owners.push(owner);
    else addProblem(parsing, line, `${word.slice(0, 60)} is neither a @handle nor an address`);
  }
  return owners;
}

function addProblem(parsing: Parsing, line: number, reason: string): void {
  if (parsing.problems.length < maxProblems) parsing.problems.push({ line, reason });
}

function addSection(parsing: Parsing, line: number, name: string, rest: string): void {
  const key = name.trim().toLowerCase();
  const section = parsing.sections.get(key) ?? { name: name.trim(), rules: [] };
  parsing.sections.set(key, section);
  parsing.section = section;
  parsing.defaults = ownersIn(parsing, line, wordsOf(rest).slice(0, maxOwners));
}

function addRule(parsing: Parsing, line: number, words: readonly string[]): void {
  const [word = "", ...rest] = words;
  const isExclusion = word.startsWith("!");
  if (isExclusion && !parsing.isGitLab) {
    return addProblem(parsing, line, "GitHub does not support a pattern that begins with !");
  }
  const text = isExclusion ? word.slice(1) : word;
  if (text.length > maxPatternChars || rest.length > maxOwners) {
    const most = `${maxPatternChars} characters in its pattern or ${maxOwners} owners`;
    return addProblem(parsing, line, `the line has more than ${most}`);
  }
  const pattern = parsePathPattern(text, parsing.isGitLab);
  if (!pattern) return addProblem(parsing, line, "the pattern matches nothing");
  if (++parsing.rules > maxRules) {
    if (parsing.rules === maxRules + 1)
      addProblem(parsing, line, "too many lines: the remaining lines are ignored");
    return;
  }
  const own = ownersIn(parsing, line, rest);
  // GitHub skips a line with an invalid owner; GitLab skips only the owner.
  if (own.length < (parsing.isGitLab ? Math.min(rest.length, 1) : rest.length)) return;
  const owners = own.length > 0 ? own : parsing.defaults;
  parsing.section.rules.push({ line, pattern, owners, isExclusion });
}

/**
 * Parses a CODEOWNERS file of GitHub, or of GitLab with sections, default owners and
 * exclusions. A section header, or a path below `.gitlab/`, selects the GitLab rules:
 * a pattern then matches at any depth unless it begins with "/".
 * Never throws: `problems` lists the first 20 invalid lines.
 */
export function parseCodeOwners(text: string, place: CodeOwnersPlace = {}): CodeOwners {
  const { file = "CODEOWNERS", prefix = "" } = place;
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  const general = { name: "", rules: [] };
  const parsing: Parsing = {
    isGitLab: file.startsWith(".gitlab/") || lines.some((line) => sectionLine.test(line.trim())),
    sections: new Map([["", general]]),
    section: general,
    defaults: [],
    rules: 0,
    problems: [],
  };
  for (const [index, raw] of lines.entries()) {
    const line = raw.trim();
    if (line === "" || line.startsWith("#")) continue;
    const header = sectionLine.exec(line);
    if (header) addSection(parsing, index + 1, header[1] ?? "", header[2] ?? "");
    else addRule(parsing, index + 1, wordsOf(line));
  }
  return { file, prefix, sections: [...parsing.sections.values()], problems: parsing.problems };
}

/** GitHub's order, then the place that only GitLab uses; the first existing file counts. */
const places = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"];

/** GitHub ignores a larger file: docs.github.com, "About code owners". */
const maxBytes = 3 * 1024 * 1024;

async function readCodeOwnersFile(top: string, file: string): Promise<string | undefined> {
  const refuse = (why: string, cause?: unknown): never => {
    throw new CliError("usage", `${file}: ${why}`, { cause });
  };
  try {
    const real = await realpath(join(top, file));
    if (!real.startsWith(top.endsWith(sep) ? top : top + sep)) {
      return refuse("a link that leaves the repository");
    }
    // Without O_NONBLOCK, opening a named pipe would block the run.
    const handle = await open(real, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      const stats = await handle.stat();
      if (!stats.isFile()) return refuse("is not a file");
      if (stats.size > maxBytes) return refuse("is larger than 3 MiB");
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(stats.size), 0, stats.size, 0);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (error instanceof CliError) throw error;
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    return refuse(`cannot be read: ${fileProblem(code)}`, error);
  }
}

/**
 * Finds and parses the CODEOWNERS file of a repository, or of a folder outside git.
 * `top` is a real path; `prefix` is the path from `top` to the project root.
 * Returns undefined when there is no file. Throws CliError `usage` when the file cannot
 * be read, is larger than 3 MiB, or is a link that leaves the repository.
 */
export async function findCodeOwners(place: {
  top: string;
  prefix: string;
}): Promise<CodeOwners | undefined> {
  for (const file of places) {
    const text = await readCodeOwnersFile(place.top, file);
    if (text !== undefined) return parseCodeOwners(text, { file, prefix: place.prefix });
  }
  return undefined;
}

/** The rules of a section, the last rule first. */
interface SectionIndex {
  /** Rules by the folder that a path must begin with; most rules name one. */
  byStart: Map<string, OwnerRule[]>;
  /** Rules without a fixed start: any path may match. */
  general: OwnerRule[];
  exclusions: OwnerRule[];
}

// Each thread builds its own index: only the parsed form is sent between threads.
const indexes = new WeakMap<CodeOwners, SectionIndex[]>();

function startOf(rule: OwnerRule): string {
  const { steps } = rule.pattern;
  const end = steps.findIndex((step) => /[*?\\]/.test(step));
  return (end < 0 ? steps : steps.slice(0, end)).join("/");
}

function indexOf(codeOwners: CodeOwners): SectionIndex[] {
  const known = indexes.get(codeOwners);
  if (known) return known;
  const built = codeOwners.sections.map(({ rules }) => {
    const index: SectionIndex = { byStart: new Map(), general: [], exclusions: [] };
    for (const rule of rules.toReversed()) {
      const start = startOf(rule);
      const same = index.byStart.get(start);
      if (rule.isExclusion) index.exclusions.push(rule);
      else if (start === "") index.general.push(rule);
      else if (same) same.push(rule);
      else index.byStart.set(start, [rule]);
    }
    return index;
  });
  indexes.set(codeOwners, built);
  return built;
}

function lastMatch(index: SectionIndex, path: string): OwnerRule | undefined {
  const steps = path.split("/");
  const matches = (rule: OwnerRule): boolean => matchesPath(rule.pattern, steps);
  if (index.exclusions.some(matches)) return undefined;
  let last: OwnerRule | undefined;
  const look = (rules: readonly OwnerRule[] | undefined): void => {
    for (const rule of rules ?? []) {
      if (last && rule.line < last.line) return;
      if (matches(rule)) last = rule;
    }
  };
  for (let end = path.indexOf("/"); end >= 0; end = path.indexOf("/", end + 1)) {
    look(index.byStart.get(path.slice(0, end)));
  }
  look(index.byStart.get(path));
  look(index.general);
  return last;
}

/**
 * Owners of a file (path relative to the project root, "/", NFC). The last matching
 * line counts; on GitLab, the last matching line of each section. Empty when no line
 * matches, or when that line names no owner. Case-sensitive, like git.
 */
export function ownersOf(codeOwners: CodeOwners, path: string): CodeOwner[] {
  const owners = new Map<string, CodeOwner>();
  for (const index of indexOf(codeOwners)) {
    for (const owner of lastMatch(index, codeOwners.prefix + path)?.owners ?? []) {
      owners.set(owner.email ?? owner.display_name ?? "", owner);
    }
  }
  return [...owners.values()];
}
