import type { Examine, Examined, ExaminedPage } from "../../documents/inspect/inspection.ts";
import type { DocumentSettings } from "../../documents/map/settings.ts";
import type { Parsed } from "../../documents/formats/format.ts";
import {
  createLevels,
  mayBe,
  type Level,
  type LevelOf,
  type LintConfig,
  lintUsesPatterns,
} from "./levels.ts";
import { placeFindings, type LintFinding, type Raw } from "./place.ts";
import type { FolderRule, LintPage, PageRule, RowPlace, Rule } from "./rule.ts";
import { isOfLibrary } from "./page/library.ts";
import { loadGlobs } from "../../documents/files/patterns.ts";

/** How documents are checked: plain data, which goes to the threads that read files. */
export interface LintSetup {
  config: LintConfig;
  /** Names of the only rules to run; undefined for all. */
  only?: readonly string[] | undefined;
  /**
   * For an upload: findings of level error refuse the document, and nothing else is reported.
   * `secrets`: only those of the group secrets. Undefined for `lint`.
   */
  refuses?: "all" | "secrets" | undefined;
  /** Keys of the active profile. */
  keys: readonly string[];
}

/** The result of `lint` for one page. */
export interface PageReport {
  findings: readonly LintFinding[];
  /** What folder rules noted, by the name of the rule. */
  facts: Readonly<Record<string, unknown>>;
  row?: RowPlace | undefined;
}

// A page of generated text can have a finding in each line. One more finding counts the rest.
const mostPerRule = 1000;

function parsedOf({ parsed, document }: ExaminedPage): Parsed {
  if (parsed) return parsed;
  const body = (document?.sections ?? []).map(({ text }) => text ?? "").join("\n\n");
  return { frontMatter: undefined, body, bodyLine: 1, isMarkdown: false, warnings: [] };
}

function pageFor(
  { keys, refuses, config: { staleDays } }: LintSetup,
  page: ExaminedPage,
  settings: DocumentSettings,
): LintPage {
  const { path, part, source, document, skipped, facts, line } = page;
  const parsed = parsedOf(page);
  const onlySent = refuses !== undefined;
  const read = { path, part, source, parsed, document, skipped, settings, facts, line };
  return { ...read, keys, staleDays, onlySent };
}

function rowOf({ part, line, document }: LintPage): RowPlace | undefined {
  return part === 0 ? undefined : { line: line ?? null, id: document?.id ?? `row ${part}` };
}

function check(rule: PageRule, severity: Level, page: LintPage, into: Raw[]): void {
  if (severity === "off") return;
  let count = 0;
  for (const found of rule.check(page)) {
    if (++count <= mostPerRule) into.push({ rule, severity, found });
  }
  if (count <= mostPerRule) return;
  const message = `${count - mostPerRule} more findings of this rule in this page`;
  into.push({ rule, severity, found: { message } });
}

/** What nobody may send, whoever wrote it. */
const ofAnyAuthor = new Set(["secrets", "hidden", "access"]);

/** The rules that look at a page: of a copy of a library, nobody corrects links and words here. */
function rulesFor<Each extends Rule>(
  rules: readonly Each[],
  { path, settings }: LintPage,
): readonly Each[] {
  return isOfLibrary(path, settings) ? rules.filter(({ group }) => ofAnyAuthor.has(group)) : rules;
}

const nameOf = (path: string): string => path || "stdin";

function refusal(rules: readonly PageRule[], page: LintPage, levelOf: LevelOf): string | undefined {
  const raw: Raw[] = [];
  for (const rule of rulesFor(rules, page)) {
    if (levelOf(rule, page.path) !== "error") continue;
    if (rule.group === "secrets" && page.settings.allowsSecrets(page.path)) continue;
    check(rule, "error", page, raw);
  }
  if (raw.length === 0) return undefined;
  const placed = placeFindings({ ...page, row: rowOf(page) }, raw);
  const [first] = placed;
  if (!first) return undefined;
  const { line, column, endLine, endColumn } = first;
  // A finding about the whole page has no extent: no line would lead to its text.
  const isWhole = page.part === 0 && line === endLine && column === endColumn;
  const place = line === null || isWhole ? "" : `:${line}:${column}`;
  const names = new Set(
    raw.filter(({ rule }) => rule.group === "secrets").map(({ rule }) => rule.name),
  );
  const isSecret = names.has(first.rule);
  // A title is sent three times, and its secret stands at one place.
  const places = placed
    .filter(({ rule }) => names.has(rule))
    .map((each) => `${each.line}:${each.column}`);
  const more = new Set(places).size - 1;
  const others = more > 0 ? ` and ${more} more (\`knowctl lint\` lists each)` : "";
  const way = isSecret
    ? `remove it${others}, or send it with --allow-secrets`
    : "change the document, or send it with --no-lint";
  return `${nameOf(page.path)}${place}: ${first.message} (${first.rule}); ${way}`;
}

export const isPageRule = (rule: Rule): rule is PageRule => rule.kind === "page";
export const isFolderRule = (rule: Rule): rule is FolderRule => rule.kind === "folder";

/** The rules that a setup runs, in their order. */
export function rulesToRun({ config, only }: LintSetup, rules: readonly Rule[]): Rule[] {
  return rules
    .filter(({ name }) => only?.includes(name) ?? true)
    .filter((rule) => mayBe(rule, config, ["error", "warning", "note"]));
}

/** The check of an upload: error findings refuse the document. Undefined if no rule can be one. */
function createRefusal(
  setup: LintSetup,
  settings: DocumentSettings,
  rules: readonly Rule[],
): Examine | undefined {
  const { config, refuses } = setup;
  const errors = rules
    .filter(isPageRule)
    .filter((rule) => refuses === "all" || rule.group === "secrets")
    .filter((rule) => mayBe(rule, config, ["error"]));
  if (errors.length === 0) return undefined;
  const levelOf = createLevels(config);
  return (page): Examined | undefined => {
    if (!page.document) return undefined;
    const refused = refusal(errors, pageFor(setup, page, settings), levelOf);
    return refused === undefined ? undefined : { refused };
  };
}

function factsOf(rules: readonly FolderRule[], page: LintPage): Record<string, unknown> {
  const facts: Record<string, unknown> = {};
  for (const rule of rulesFor(rules, page)) {
    const fact: unknown = rule.collect(page);
    if (fact !== undefined) facts[rule.name] = fact;
  }
  return facts;
}

/**
 * Creates the check of `lint`, or with `setup.refuses` that of an upload. `rules` are all rules
 * that may run. Patterns of the configuration need loadGlobs() first.
 */
export function createExamine(
  setup: LintSetup,
  settings: DocumentSettings,
  rules: readonly Rule[],
): Examine | undefined {
  if (setup.refuses !== undefined) return createRefusal(setup, settings, rules);
  const wanted = rulesToRun(setup, rules);
  const pageRules = wanted.filter(isPageRule);
  const folderRules = wanted.filter(isFolderRule);
  const levelOf = createLevels(setup.config);
  return (examined): Examined => {
    const page = pageFor(setup, examined, settings);
    const raw: Raw[] = [];
    for (const rule of rulesFor(pageRules, page)) {
      if (rule.group === "secrets" && settings.allowsSecrets(page.path)) continue;
      check(rule, levelOf(rule, page.path), page, raw);
    }
    const row = rowOf(page);
    const report: PageReport = {
      findings: placeFindings({ ...page, row }, raw),
      facts: factsOf(folderRules, page),
      row,
    };
    // As JSON: a piece of a page would keep the whole page in memory.
    return { report: JSON.stringify(report) };
  };
}

function makesErrors({ rules = {}, overrides = [] }: LintConfig): boolean {
  const all = [rules, ...overrides.map((each) => each.rules)];
  return all.some((levels) => Object.values(levels).includes("error"));
}

/** The code of the other rules is not loaded for an upload, unless the configuration makes one an error. */
async function loadRules({ refuses, config }: LintSetup): Promise<readonly Rule[]> {
  return refuses === undefined || makesErrors(config)
    ? (await import("./rules.ts")).rules
    : (await import("./rules/secrets.ts")).secretsRules;
}

/** Creates the checks of a setup, after loading the rules that it needs. */
export async function openExamine(
  setup: LintSetup,
  settings: DocumentSettings,
): Promise<Examine | undefined> {
  if (lintUsesPatterns(setup.config)) await loadGlobs();
  return createExamine(setup, settings, await loadRules(setup));
}
