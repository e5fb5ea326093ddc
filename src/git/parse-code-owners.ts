import { parsePathPattern, type PathPattern } from "./path-pattern.ts";

/** An owner in API form: an e-mail address, or a handle as written (`@user`, `@org/team`). */
export interface CodeOwner {
  display_name?: string;
  email?: string;
}

/** One line. A line without owners removes the owners of earlier lines. */
export interface OwnerRule {
  readonly line: number;
  readonly pattern: PathPattern;
  readonly owners: readonly CodeOwner[];
  /** `!pattern` (GitLab): the section has no owners for these files, whatever its other lines. */
  readonly isExclusion: boolean;
}

/** A section of the file (GitLab). The last matching line of each section counts. */
export interface OwnerSection {
  readonly name: string;
  readonly rules: readonly OwnerRule[];
}

/** A line that was skipped. */
export interface OwnerProblem {
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
