import * as z from "zod/mini";
import { CliError, codeOf, fileProblem, issueText, messageOf } from "../../errors.ts";
import type { Finding } from "./rule.ts";
import { readFileSync, statSync } from "node:fs";

/** The known findings of one rule in one file. Never the text of a line: it may hold a secret. */
export interface BaselineEntry {
  path: string;
  rule: string;
  fingerprints: readonly string[];
}

/** Whether a rule is about secrets: no baseline excuses one, also not one that somebody committed. */
export const isSecretRule = (rule: string): boolean => rule.startsWith("secret-");

/** Whether this run looked for findings of a rule in a file. */
export type WasChecked = (entry: { path: string; rule: string }) => boolean;

export interface BaselineComparison<Each> {
  /** The findings that the baseline does not contain, in their order. */
  kept: Each[];
  /** Number of the others. */
  known: number;
  /** Entries with the fingerprints that no longer occur. */
  fixed: BaselineEntry[];
}

const BaselineFile = z.strictObject({
  version: z.literal(1),
  type: z.literal("lint-baseline"),
  findings: z.array(
    z.strictObject({
      path: z.string(),
      rule: z.string(),
      count: z.int(),
      fingerprints: z.array(z.string().check(z.regex(/^[0-9a-f]{16}$/, "not a fingerprint"))),
    }),
  ),
});

/** Number of findings of some entries. */
export function countEntries(entries: readonly BaselineEntry[]): number {
  return entries.reduce((sum, { fingerprints }) => sum + fingerprints.length, 0);
}

const order = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** One entry for each path and rule, sorted; each fingerprint once. */
function sortedEntries(entries: Iterable<BaselineEntry>): BaselineEntry[] {
  const byPlace = new Map<string, { path: string; rule: string; found: Set<string> }>();
  for (const { path, rule, fingerprints } of entries) {
    const place = JSON.stringify([path, rule]);
    let entry = byPlace.get(place);
    if (!entry) byPlace.set(place, (entry = { path, rule, found: new Set() }));
    for (const each of fingerprints) entry.found.add(each);
  }
  return [...byPlace.values()]
    .filter(({ found }) => found.size > 0)
    .map(({ path, rule, found }) => ({ path, rule, fingerprints: [...found].toSorted(order) }))
    .toSorted((a, b) => order(a.path, b.path) || order(a.rule, b.rule));
}

/**
 * The entries of a new baseline: the findings of this run, and those of the old baseline that this
 * run did not look for.
 */
export function baselineOf(
  findings: Iterable<Finding>,
  old: readonly BaselineEntry[] = [],
  wasChecked: WasChecked = () => true,
): BaselineEntry[] {
  const kept = old.filter((entry) => !wasChecked(entry));
  const found: BaselineEntry[] = [];
  for (const { path, rule, fingerprint } of findings) {
    found.push({ path, rule, fingerprints: [fingerprint] });
  }
  return sortedEntries([...kept, ...found].filter(({ rule }) => !isSecretRule(rule)));
}

/**
 * The entries as the JSON of a baseline file, in pieces. One line for each path and rule, sorted:
 * branches that change different files merge without a conflict.
 */
export function* baselineText(entries: readonly BaselineEntry[]): Generator<string> {
  yield '{\n  "version": 1,\n  "type": "lint-baseline",\n  "findings": [';
  let separator = "\n";
  for (const { path, rule, fingerprints } of sortedEntries(entries)) {
    const line = { path, rule, count: fingerprints.length, fingerprints };
    yield `${separator}    ${JSON.stringify(line)}`;
    separator = ",\n";
  }
  yield separator === "\n" ? "]\n}\n" : "\n  ]\n}\n";
}

const deleteHint = "delete it and run again with --write-baseline";

function refuse(name: string, problem: string, cause?: unknown): CliError {
  return new CliError("usage", `${name}: ${problem}`, {
    hints: [`restore it, or ${deleteHint}`],
    cause,
  });
}

/**
 * Parses a baseline file. `name` is its name as typed. Throws CliError `usage` for anything but a
 * baseline of version 1, with the entry that is wrong.
 */
export function parseBaseline(text: string, name: string): BaselineEntry[] {
  let value: unknown;
  try {
    value = JSON.parse(text.replace(/^\ufeff/, ""));
  } catch (error) {
    const isConflict = /^(?:<{7}|>{7}) /m.test(text);
    const problem = isConflict ? "has an unsolved merge conflict" : "is not JSON";
    throw refuse(name, problem, error);
  }
  const { type, version } = (value ?? {}) as { type?: unknown; version?: unknown };
  if (type !== "lint-baseline") throw refuse(name, "is JSON, but not a baseline of knowctl lint");
  if (version !== 1) {
    throw new CliError("usage", `${name}: a baseline of version ${JSON.stringify(version)}`, {
      hints: [`this knowctl reads version 1; use the version that wrote it, or ${deleteHint}`],
    });
  }
  const result = BaselineFile.safeParse(value);
  if (!result.success) {
    const [issue] = result.error.issues;
    const place = (issue?.path ?? []).map(String).join(".");
    throw refuse(
      name,
      `is not a valid baseline: ${place}: ${issue ? issueText(issue) : "unknown"}`,
    );
  }
  const { findings } = result.data;
  const wrong = findings.find(({ count, fingerprints }) => count !== fingerprints.length);
  if (wrong) {
    const { path, rule, count, fingerprints } = wrong;
    const counts = `count ${count}, number of fingerprints ${fingerprints.length}`;
    throw refuse(name, `the entry of ${rule} in ${path} is damaged: ${counts}`);
  }
  return sortedEntries(findings.filter(({ rule }) => !isSecretRule(rule)));
}

/** Compares findings with a baseline. */
export function compareWithBaseline<Each extends Finding>(
  findings: readonly Each[],
  baseline: readonly BaselineEntry[],
  wasChecked: WasChecked = () => true,
): BaselineComparison<Each> {
  const keyOf = (path: string, rule: string, print: string) => JSON.stringify([path, rule, print]);
  const open = new Set(
    baseline.flatMap(({ path, rule, fingerprints }) =>
      fingerprints.map((print) => keyOf(path, rule, print)),
    ),
  );
  const kept = findings.filter(
    (each) => !open.delete(keyOf(each.path, each.rule, each.fingerprint)),
  );
  const fixed = baseline.filter(wasChecked).map(({ path, rule, fingerprints }) => ({
    path,
    rule,
    fingerprints: fingerprints.filter((print) => open.has(keyOf(path, rule, print))),
  }));
  return {
    kept,
    known: findings.length - kept.length,
    fixed: fixed.filter(({ fingerprints }) => fingerprints.length > 0),
  };
}

/** To read a pipe without a writer would block, to replace a socket breaks it. */
function refuseSpecial(path: string, name: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (!found || found.isFile() || found.isDirectory()) return;
  throw new CliError("usage", `--baseline ${name}: it is not a regular file`, {
    hints: ["name a file that --write-baseline may replace, or a new one"],
  });
}

/**
 * Reads a baseline file. `name` is its name as typed. A missing file is an error, or, with
 * `mayBeMissing`, an empty baseline. Throws CliError `usage`, also like parseBaseline().
 */
export function readBaseline(path: string, name: string, mayBeMissing = false): BaselineEntry[] {
  let text: string;
  try {
    refuseSpecial(path, name);
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof CliError) throw error;
    const isMissing = codeOf(error) === "ENOENT";
    if (isMissing && mayBeMissing) return [];
    const problem = fileProblem(codeOf(error) ?? messageOf(error));
    throw new CliError("usage", `--baseline ${name}: cannot be read: ${problem}`, {
      hints: isMissing
        ? ["write it first: add --write-baseline"]
        : ["name a file that --write-baseline wrote"],
      cause: error,
    });
  }
  return parseBaseline(text, name);
}
