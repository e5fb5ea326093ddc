import { scanStructure } from "../../documents/text/structure.ts";
import { hash } from "node:crypto";
import type { Cause, Finding, Span, Found, RowPlace, RuleText, Severity } from "./rule.ts";
import { createLines } from "../lines.ts";
import { findSecrets, hideSecrets } from "./secrets/find-secrets.ts";

/** A `knowctl-disable-next-line` comment. */
interface Disable {
  /** Where each named rule stands in the text. */
  rules: readonly { name: string; start: number; end: number }[];
  /** Offsets of the text that it covers: the next line, or the code block there; `to` is the end. */
  from: number;
  to: number;
  /** Nothing but front matter and such comments stands before it: it also covers the whole page. */
  isAtTop: boolean;
}

const word = "knowctl-disable-next-line";

// The comments of Markdown and HTML, MDX, reStructuredText and AsciiDoc, each alone on its line.
const comment = new RegExp(
  String.raw`^[ \t]*(?:<!--|\{/\*|\.\.|//)[ \t]*${word}[ \t]+([^\n]*)$`,
  "gm",
);
const frontMatter = /^(---|\+\+\+)[ \t]*\r?\n[\s\S]*?\n\1[ \t]*(?:\r?\n|$)/;

function rulesIn(text: string, offset: number): Disable["rules"] {
  const list = text.replace(/[ \t]*(?:-->|\*\/\}).*$/, "").split(/[ \t]--(?:[ \t]|$)/, 1)[0] ?? "";
  return [...list.matchAll(/[^\s,]+/g)].map((match) => ({
    name: match[0],
    start: offset + match.index,
    end: offset + match.index + match[0].length,
  }));
}

function lineEnd(text: string, offset: number): number {
  const end = text.indexOf("\n", offset);
  return end === -1 ? text.length : end;
}

/** The start of the first line after `offset` that is not blank. */
function nextText(text: string, offset: number): number {
  let start = lineEnd(text, offset) + 1;
  while (start < text.length) {
    const end = lineEnd(text, start);
    if (text.slice(start, end).trim() !== "") break;
    start = end + 1;
  }
  return Math.min(start, text.length);
}

const delimiter = /^(?:-{4,}|\.{4,}|={4,}|\*{4,}|\+{4,})$/;

/** The end of a delimited block of AsciiDoc, which may have an attribute line before it. */
function endOfDelimited(text: string, start: number): number | undefined {
  const line = (at: number): string => text.slice(at, lineEnd(text, at)).trimEnd();
  const from = /^\[.*\]$/.test(line(start)) ? nextText(text, start) : start;
  const mark = line(from);
  if (!delimiter.test(mark)) return undefined;
  for (let at = lineEnd(text, from) + 1; at < text.length; at = lineEnd(text, at) + 1) {
    if (line(at) === mark) return lineEnd(text, at);
  }
  return text.length;
}

/** The end of an indented block of reStructuredText: of a directive, or after `::`. */
function endOfIndented(text: string, start: number): number | undefined {
  const first = text.slice(start, lineEnd(text, start)).trimEnd();
  if (!/^[ \t]*\.\. [\w:-]+::|::$/.test(first)) return undefined;
  const indent = first.search(/\S/);
  let end = lineEnd(text, start);
  for (let at = end + 1; at < text.length; at = lineEnd(text, at) + 1) {
    const line = text.slice(at, lineEnd(text, at));
    if (line.trim() !== "" && line.search(/\S/) <= indent) break;
    end = lineEnd(text, at);
  }
  return end;
}

/** The comments in the text of a file that switch rules off. Comments in code count as text. */
export function disablesIn(text: string): Disable[] {
  if (!text.includes(word)) return [];
  const { opaque } = scanStructure(text);
  const isCode = (offset: number): boolean =>
    opaque.some(([start, end]) => start < offset && offset < end);
  let top = frontMatter.exec(text)?.[0].length ?? 0;
  const found: Disable[] = [];
  for (const match of text.matchAll(comment)) {
    const at = match.index;
    if (isCode(at)) continue;
    const list = match[1] ?? "";
    const rules = rulesIn(list, at + match[0].length - list.length);
    const from = nextText(text, at);
    const fence = opaque.find(([start]) => start === from);
    const to =
      fence?.[1] ??
      1 + (endOfDelimited(text, from) ?? endOfIndented(text, from) ?? lineEnd(text, from));
    const isAtTop = text.slice(top, at).trim() === "";
    if (isAtTop) top = lineEnd(text, at);
    found.push({ rules, from, to, isAtTop });
  }
  return found;
}

/** Whether a comment switches a rule off at an offset; undefined stands for the whole page. */
export function isDisabled(
  disables: readonly Disable[],
  rule: string,
  offset: number | undefined,
): boolean {
  return disables.some(
    ({ rules, from, to, isAtTop }) =>
      rules.some(({ name }) => name === rule) &&
      (offset === undefined ? isAtTop : from <= offset && offset < to),
  );
}

/** What makes a finding the same one in a later run. */
interface FingerprintSource {
  rule: string;
  /** Relative to the project root. */
  path: string;
  /**
   * The line of the finding (see lineAt); for a row the id of its document; "" for a finding about
   * a whole file.
   */
  text: string;
}

// 64 bits: two findings of one rule in one file never meet by chance, and a line of a baseline
// stays readable.
const digits = 16;

const digest = (parts: readonly unknown[]): string =>
  hash("sha256", JSON.stringify(parts), "hex").slice(0, digits);

/**
 * The fingerprint of a finding: 16 hexadecimal digits from rule, path and text. Differences in white
 * space do not count, nor does the number of the line: edits above a finding keep its fingerprint.
 */
export function fingerprintOf({ rule, path, text }: FingerprintSource): string {
  return digest([rule, path, text.normalize("NFC").replace(/\s+/g, " ").trim()]);
}

/**
 * Tells findings with the same fingerprint apart, as in equal lines of a file: each one after the
 * first gets another fingerprint, by its number among them. The findings are in the order of their
 * paths and places.
 */
export function distinctFingerprints<Each extends Pick<Finding, "path" | "fingerprint">>(
  findings: readonly Each[],
): Each[] {
  const counts = new Map<string, number>();
  return findings.map((each) => {
    const key = `${each.fingerprint} ${each.path}`;
    const before = counts.get(key) ?? 0;
    counts.set(key, before + 1);
    if (before === 0) return each;
    return { ...each, fingerprint: digest([each.fingerprint, before]) };
  });
}

// A notebook can be one line of many megabytes, with a thousand findings.
const mostAround = 1000;

/** The line of `source` on which a span begins, without its line end; of a long one what is around. */
export function lineAt(source: string, { start }: Span): string {
  const near = source.slice(Math.max(0, start - mostAround), start);
  const [rest = ""] = source.slice(start, start + mostAround).split("\n", 1);
  return near.slice(near.lastIndexOf("\n") + 1) + rest;
}

/**
 * Covers the secrets of a text with `*`; every other offset stays the same. Take lines for
 * fingerprints from the covered text: a fingerprint in a shared baseline would else confirm a
 * guessed password. The first two characters stay: reports show them too, and another secret in the
 * same place is another finding.
 */
export function coverSecrets(source: string, secrets: readonly Span[]): string {
  let covered = "";
  let at = 0;
  for (const { start, end } of secrets.toSorted((a, b) => a.start - b.start)) {
    const from = Math.max(at, Math.min(end, start + 2));
    if (end <= from) continue;
    covered += source.slice(at, from) + source.slice(from, end).replace(/[^\n]/g, "*");
    at = end;
  }
  return covered + source.slice(at);
}

/** A finding with what `--fix` needs. */
export interface LintFinding extends Finding {
  span?: Span | undefined;
  fix?: string | undefined;
  cause?: Cause | undefined;
}

/** A finding of a rule, before its place is known. */
export interface Raw {
  rule: RuleText;
  severity: Severity;
  found: Found;
}

/** The file that findings are about. */
interface PlacedFile {
  path: string;
  /** As in LintPage. */
  source: string | undefined;
  row?: RowPlace | undefined;
}

// An exception for secrets counts only in a trusted configuration: command-line.md, 2.
const canDisable = ({ group }: RuleText): boolean => group !== "secrets";

interface Place extends Pick<Finding, "line" | "column" | "endLine" | "endColumn"> {
  /** What makes the place the same one in a later run; see fingerprintOf(). */
  text: string;
}

/** Returns a function that finds the place of a span; undefined stands for the whole file. */
function createPlaces(
  { source, row }: PlacedFile,
  raw: readonly Raw[],
): (span: Span | undefined) => Place {
  if (source === undefined) {
    const line = row?.line ?? null;
    const column = line === null ? null : 1;
    return () => ({ line, column, endLine: line, endColumn: column, text: row?.id ?? "" });
  }
  const lines = createLines(source);
  const secrets = raw.flatMap(({ rule, found }) =>
    rule.group === "secrets" && found.span ? [found.span] : [],
  );
  // Rules that compare documents run without those about secrets, and --rule may leave these out.
  const covered = coverSecrets(source, [...secrets, ...findSecrets(source)]);
  return (span) => {
    if (!span) return { line: 1, column: 1, endLine: 1, endColumn: 1, text: "" };
    const start = lines.at(span.start);
    const end = lines.at(span.end);
    return { ...start, endLine: end.line, endColumn: end.column, text: lineAt(covered, span) };
  };
}

/** Findings of a document without lines: those that say the same are one. */
function joined(raw: readonly Raw[]): Raw[] {
  const all = new Map<string, { each: Raw; count: number }>();
  for (const each of raw) {
    const key = `${each.rule.name} ${each.found.message}`;
    all.set(key, { each, count: (all.get(key)?.count ?? 0) + 1 });
  }
  return [...all.values()].map(({ each, count }) => {
    const { found } = each;
    const message = count === 1 ? found.message : `${found.message}, ${count} times`;
    return { ...each, found: { ...found, message } };
  });
}

/**
 * Turns what rules found in one file into findings with line and column, and leaves out those that
 * a comment in the file switches off.
 */
export function placeFindings(file: PlacedFile, raw: readonly Raw[]): LintFinding[] {
  if (raw.length === 0) return [];
  const { path, source } = file;
  const disables = source === undefined ? [] : disablesIn(source);
  const placeOf = createPlaces(file, raw);
  const findings: LintFinding[] = [];
  for (const { rule, severity, found } of source === undefined ? joined(raw) : raw) {
    const span = source === undefined ? undefined : found.span;
    if (canDisable(rule) && isDisabled(disables, rule.name, span?.start)) continue;
    const message = rule.group === "secrets" ? found.message : hideSecrets(found.message);
    const { fix, cause } = found;
    const { text, ...place } = placeOf(span);
    const isFixable = span !== undefined && fix !== undefined;
    findings.push({
      rule: rule.name,
      severity,
      path,
      ...place,
      message,
      fingerprint: fingerprintOf({ rule: rule.name, path, text }),
      fixable: isFixable,
      ...(isFixable ? { span, fix } : {}),
      ...(cause ? { cause } : {}),
    });
  }
  return findings;
}
