import { posix } from "node:path";
import { withoutExtension } from "../../documents/files/file-name.ts";
import type {
  Cause,
  LintPage,
  PageFact,
  ComparedPage,
  Finding,
  FolderRule,
  PageRule,
} from "./rule.ts";
import { createFields } from "../../documents/front-matter/fields.ts";
import { readableName, titleHeading } from "../../documents/map/map-fields.ts";
import { comparePaths } from "../../documents/files/source-file.ts";
import type { LevelOf } from "./levels.ts";
import { placeFindings, type LintFinding, type Raw } from "./place.ts";

/** A document for a message: `docs/a.md`, `people.csv row 3`. */
export const documentName = ({ path, part }: { path: string; part: number }): string =>
  part === 0 ? path : `${path} row ${part}`;

// ISO 639-1 codes of languages that documentation is often written in or translated to.
const languages = new Set(
  (
    "af am ar az be bg bn bs ca cs cy da de el en eo es et eu fa fi fr ga gl gu he hi hr hu hy id is it ja jp ka kk km " +
    "kn ko kr lo lt lv mk ml mn mr ms my nb ne nl nn no pa pl pt ro ru si sk sl sq sr sv sw ta te th tl tr " +
    "tw ua uk ur uz vi zh"
  ).split(" "),
);
const language = /^([a-z]{2})(?:[-_](?:[a-z]{2}|[a-z]{4}|\d{3}))?$/i;
const suffix = /[._-]((?:[a-z]{2})(?:[-_][a-z]{2,4})?)$/i;
const version =
  /^(?:(?:version|release|v|r)?[-_.]?\d+(?:[._-]\d+)*(?:[._]x|[-_.]?(?:alpha|beta|rc)\d*)?|next|latest|stable|current|main|master|dev|devel|legacy|archived?|old|(?:\d+(?:st|nd|rd|th)?|first|second|third|fourth|fifth)[-_.]edition)$/i;

const isLanguage = (name: string): boolean => {
  const [, code = ""] = language.exec(name) ?? [];
  return languages.has(code.toLowerCase());
};

/** The language in one name of a path: `de`, `pages.de`, `install.pt-br`, `README-fr`. */
function languageIn(name: string): string | undefined {
  if (isLanguage(name)) return name;
  const [, ending] = suffix.exec(name) ?? [];
  return ending !== undefined && isLanguage(ending) ? ending : undefined;
}

/** The language of a path, by the names of its folders, else of the file; "" for none. */
export function languageOf(path: string): string {
  const names = withoutExtension(path).split("/");
  const file = names.pop() ?? "";
  // `pages.de/git-am.md` is German: the name of a file can end like the code of a language.
  const inFolders = names.map((name) => languageIn(name)).findLast((each) => each !== undefined);
  return (inFolders ?? languageIn(file))?.toLowerCase().replace("_", "-") ?? "";
}

/** The version of a path, by the names of its folders: `v2`, `1.x`, `latest`; "" for none. */
export function versionOf(path: string): string {
  const folders = path.split("/").slice(0, -1);
  return folders
    .filter((name) => version.test(name))
    .join("/")
    .toLowerCase();
}

const editions =
  /\d+(?:[._-]\d+)+|\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\b/gi;

/** The version or the month in the name of a file: `2.8.1.md`, `notes-2-8.md`, `june-report.pdf`; "" for none. */
export function versionInName(path: string): string {
  const name = withoutExtension(path.slice(path.lastIndexOf("/") + 1)).replaceAll("_", "-");
  return name.match(editions)?.join(" ").toLowerCase() ?? "";
}

/** The folder that two paths have in common; "" for the root. */
export function commonFolder(one: string, other: string): string {
  const names = one.split("/").slice(0, -1);
  const others = other.split("/").slice(0, -1);
  const end = names.findIndex((name, at) => name !== others[at]);
  return names.slice(0, end === -1 ? names.length : end).join("/");
}

/** The name of a page for comparison: that of its folder for an index, without the day of a post. */
function pageName(path: string): string {
  const page = withoutExtension(path).replace(/\/(?:_?index|readme)$/i, "");
  return page
    .slice(page.lastIndexOf("/") + 1)
    .replace(/^\d{4}-\d\d-\d\d-/, "")
    .replace(/[^\p{L}\p{N}]/gu, "")
    .toLowerCase();
}

/** Whether two files have the same name: `a/leave.md`, `b/leave.md` and `c/leave/index.md`. */
export const haveSameName = (one: string, other: string): boolean =>
  posix.basename(one) === posix.basename(other) || pageName(one) === pageName(other);

// A post says what was true on its day: `_posts/`, `2024-01-31-title.md`.
const post = /(?:^|\/)(?:_posts\/|\d{4}[-/]\d{1,2}[-/]\d{1,2}[-_/])/;

/** Whether a file is a post of a blog, by its path. */
export const isPost = (path: string): boolean => post.test(path);

function hasOwnTitle({ parsed, path, settings }: LintPage): boolean {
  const { title, semanticIdentifier } = settings.keys;
  const fields = createFields(parsed.frontMatter, path);
  if (fields.take(title) ?? fields.take(semanticIdentifier)) return true;
  if (parsed.title !== undefined && parsed.title.trim() !== "") return true;
  return parsed.isMarkdown && titleHeading(parsed.body) !== undefined;
}

/** Whether the name of the file replaces the title of a page, because it has none. */
export function isNamedByFile(page: LintPage): boolean {
  const { path, part, document } = page;
  const made = readableName(path) + (part === 0 ? "" : ` ${part}`);
  return document?.title === made && !hasOwnTitle(page);
}

/** Pairs each fact whose key an earlier one has with the first of them. Facts without a key are ignored. */
export function* findRepeated<Fact>(
  facts: readonly PageFact<Fact>[],
  keyOf: (fact: PageFact<Fact>) => string | undefined,
): Generator<[later: PageFact<Fact>, first: PageFact<Fact>]> {
  const firsts = new Map<string, PageFact<Fact>>();
  for (const fact of facts) {
    const key = keyOf(fact);
    if (key === undefined) continue;
    const first = firsts.get(key);
    if (first) yield [fact, first];
    else firsts.set(key, fact);
  }
}

/** A page with what folder rules noted about it, by the name of the rule. */
export interface NotedPage extends ComparedPage {
  facts: Readonly<Record<string, unknown>>;
}

const factsOf = (pages: readonly NotedPage[], rule: string): PageFact<unknown>[] =>
  pages.flatMap(({ path, part, row, facts }) =>
    facts[rule] === undefined ? [] : [{ path, part, row, fact: facts[rule] }],
  );

/** The findings about a document without the equal title of one that has another one's text. */
const withoutEffects = (raw: readonly Raw[]): Raw[] =>
  raw.filter(
    ({ rule }) =>
      rule.name !== "duplicate-title" || !raw.some((each) => each.rule.name === "near-duplicate"),
  );

/**
 * Runs the folder rules. `sourceOf` reads the text of a file again; it is called once for each file
 * with a finding. `isWhole`: see FolderRule.
 */
export function comparePages(
  rules: readonly FolderRule[],
  pages: readonly NotedPage[],
  levelOf: LevelOf,
  sourceOf: (path: string) => string | undefined,
  isWhole: boolean,
): LintFinding[] {
  const ordered = pages.toSorted((a, b) => comparePaths(a.path, b.path) || a.part - b.part);
  const found = new Map<string, ComparedPage & { raw: Raw[] }>();
  for (const rule of rules) {
    const facts = factsOf(ordered, rule.name);
    for (const { path, part, row, ...each } of rule.compare(facts, isWhole)) {
      const severity = levelOf(rule, path);
      if (severity === "off") continue;
      const key = `${part}/${path}`;
      let page = found.get(key);
      if (!page) found.set(key, (page = { path, part, row, raw: [] }));
      page.raw.push({ rule, severity, found: each });
    }
  }
  return [...found.values()].flatMap(({ path, part, row, raw }) =>
    placeFindings(
      { path, source: part === 0 ? sourceOf(path) : undefined, row },
      withoutEffects(raw),
    ),
  );
}

// Fewer pages are listed, so that each can be corrected.
const fewestOfMost = 8;

/** The folders above a path, from the root, which is "". */
const foldersAbove = (path: string): string[] => {
  const names = path.split("/").slice(0, -1);
  return ["", ...names.map((_, index) => names.slice(0, index + 1).join("/"))];
};

function countByFolder(paths: Iterable<string>): Map<string, number> {
  const counts = new Map<string, number>();
  for (const path of paths) {
    for (const folder of foldersAbove(path)) counts.set(folder, (counts.get(folder) ?? 0) + 1);
  }
  return counts;
}

/**
 * The findings, with one for each folder whose most pages have a finding of a rule that says so
 * (`ofMost`): such a folder has a way of its own, and one cause. `paths` are those of all pages. Of
 * files that other pages include, a rule may say nothing (`ignoresParts`).
 */
export function byMost(
  findings: readonly LintFinding[],
  paths: ReadonlySet<string>,
  included: ReadonlySet<string>,
  rules: readonly PageRule[],
): LintFinding[] {
  const names = new Set(rules.filter((rule) => rule.ignoresParts).map(({ name }) => name));
  let rest = findings.filter(({ rule, path }) => !names.has(rule) || !included.has(path));
  for (const { name, ofMost } of rules) {
    const found = ofMost ? rest.filter(({ rule }) => rule === name) : [];
    if (!ofMost || found.length < fewestOfMost) continue;
    const all = countByFolder(paths);
    const withIt = countByFolder(new Set(found.map(({ path }) => path)));
    const isMost = (folder: string): boolean => {
      const count = withIt.get(folder) ?? 0;
      return count >= fewestOfMost && 2 * count > (all.get(folder) ?? 0);
    };
    const firsts = new Set<string>();
    rest = rest.flatMap((each) => {
      const folder = each.rule === name ? foldersAbove(each.path).find(isMost) : undefined;
      if (folder === undefined) return [each];
      if (firsts.has(folder)) return [];
      firsts.add(folder);
      const where = folder === "" ? "" : ` in ${folder}`;
      const message = `${ofMost(withIt.get(folder) ?? 0)}${where}; this is the first`;
      return [{ ...each, message }];
    });
  }
  return rest;
}

// More places with one message are one finding.
const mostEqual = 3;

/** A text without the versions in its paths. */
const withoutVersions = (text: string): string =>
  text.replace(/\S*\/\S*/g, (path) =>
    path
      .split("/")
      .filter((name) => !version.test(name))
      .join("/"),
  );

/** A cause and those around it, the widest first. */
const chainOf = (cause: Cause): Cause[] => [...(cause.wider ? chainOf(cause.wider) : []), cause];

/**
 * Returns a function that finds the widest cause that a finding has in common with enough others; of
 * more than three places with one message, it is the message; of the same page in several versions, the page.
 */
function createFindCause(findings: readonly LintFinding[]) {
  const counts = new Map<string, { count: number; different: Set<string> }>();
  const add = (key: string, one: string): void => {
    const known = counts.get(key) ?? { count: 0, different: new Set() };
    counts.set(key, known);
    known.count++;
    known.different.add(one);
  };
  const keyOf = (rule: string, { key }: Cause): string => `${rule} ${key}`;
  const ofMessage = ({ rule, message, cause }: LintFinding): string =>
    `${rule}\n${cause?.each ?? message}`;
  const ofPage = ({ rule, path, message }: LintFinding): string =>
    `${rule}\n${withoutVersions(path)}\n${withoutVersions(message)}`;
  for (const each of findings) {
    const version = versionOf(each.path);
    if (version !== "") add(ofPage(each), version);
    if (!each.cause) continue;
    for (const one of chainOf(each.cause)) add(keyOf(each.rule, one), one.each ?? each.message);
    add(ofMessage(each), each.message);
  }
  const ofVersions = (each: LintFinding): { key: string; what: string } | undefined => {
    if (versionOf(each.path) === "") return undefined;
    const isInSeveral = (counts.get(ofPage(each))?.different.size ?? 0) > 1;
    return isInSeveral
      ? { key: ofPage(each), what: "places in several versions show it" }
      : undefined;
  };
  return (each: LintFinding): { key: string; what: string } | undefined => {
    if (!each.cause) return ofVersions(each);
    const isMany = (cause: Cause): boolean => {
      const { count = 0, different } = counts.get(keyOf(each.rule, cause)) ?? {};
      return count > 1 && (different?.size ?? 0) > cause.least;
    };
    const found = chainOf(each.cause).find(isMany);
    if (found) return { key: keyOf(each.rule, found), what: found.what };
    const isRepeated = (counts.get(ofMessage(each))?.count ?? 0) > mostEqual;
    return isRepeated ? { key: ofMessage(each), what: "places show it" } : ofVersions(each);
  };
}

/** The findings in the order of reports, with one at the first place of each cause of several. */
export function byCause(findings: readonly LintFinding[]): LintFinding[] {
  const findCause = createFindCause(findings);
  const causes = findings.map((each) => findCause(each));
  const counts = new Map<string, number>();
  for (const cause of causes) if (cause) counts.set(cause.key, (counts.get(cause.key) ?? 0) + 1);
  return findings.flatMap(({ cause: _own, ...finding }, index) => {
    const cause = causes[index];
    const count = cause && counts.get(cause.key);
    if (!cause || count === 1) return [finding];
    counts.delete(cause.key);
    if (count === undefined) return [];
    return [{ ...finding, message: `${finding.message}; ${count} ${cause.what}` }];
  });
}

/** The order of reports: by path and place. */
export const byPlace = (a: Finding, b: Finding): number =>
  comparePaths(a.path, b.path) ||
  (a.line ?? 0) - (b.line ?? 0) ||
  (a.column ?? 0) - (b.column ?? 0) ||
  comparePaths(a.rule, b.rule);
