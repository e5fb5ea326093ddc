import { countBefore } from "../../documents/text/count-before.ts";
import type { Span } from "./rule.ts";
import { accessSync, constants, readFileSync, realpathSync, statSync } from "node:fs";
import { isAbsolute, relative, sep } from "node:path";
import { isUtf8 } from "node:buffer";
import { isSameVersion } from "../../documents/files/bytes/content.ts";
import { CliError, codeOf, writeProblem } from "../../errors.ts";
import { replaceFile } from "../../replace-file.ts";

/** A change that a rule proposes: `fix` replaces the span. */
export interface Fix {
  rule: string;
  span: Span;
  fix: string;
}

interface FixedText {
  text: string;
  /** The fixes in the text, in the order of their places. */
  applied: Fix[];
  /** Fixes that touch an applied one. A second run finds them again if they are still needed. */
  left: Fix[];
}

const isEmpty = ({ start, end }: Span): boolean => start === end;

/** Whether two fixes, the first not behind the second, change the same place. */
function overlap(first: Span, second: Span): boolean {
  if (second.start < first.end) return true;
  // Of two insertions at one place, the right order is unknown.
  return second.start === first.start && isEmpty(first) && isEmpty(second);
}

function checkSpan({ rule, span: { start, end } }: Fix, length: number): void {
  const isValid = Number.isInteger(start) && Number.isInteger(end) && 0 <= start && start <= end;
  if (!isValid || end > length) {
    throw new RangeError(`rule ${rule}: fix from ${start} to ${end} of ${length} characters`);
  }
}

/**
 * Applies the fixes that do not overlap; of two that do, the earlier one wins. Offsets are those of
 * `source`, in UTF-16 units.
 */
export function applyFixes(source: string, fixes: readonly Fix[]): FixedText {
  const sorted = fixes.toSorted(({ span: a }, { span: b }) => a.start - b.start || a.end - b.end);
  const applied: Fix[] = [];
  const left: Fix[] = [];
  let text = "";
  let at = 0;
  for (const each of sorted) {
    checkSpan(each, source.length);
    const last = applied.at(-1);
    if (last && overlap(last.span, each.span)) {
      left.push(each);
      continue;
    }
    text += source.slice(at, each.span.start) + each.fix;
    at = each.span.end;
    applied.push(each);
  }
  return { text: text + source.slice(at), applied, left };
}

/** A file to fix. */
interface FixRequest {
  /** Absolute project root. */
  root: string;
  /** Relative to the root. */
  path: string;
  absolutePath: string;
  /** The text in which the rules found their spans: LintPage.source. */
  source: string;
  fixes: readonly Fix[];
}

/** What happened to a file. */
export interface FixOutcome {
  path: string;
  /** The rules whose fixes are in the file now, by name. */
  applied: readonly { rule: string; places: number }[];
  /** Number of fixes that touch an applied one: a second run applies them. */
  left: number;
  /** Why the file was not changed; `applied` is then empty. */
  refused?: string;
}

class Refusal extends Error {}

const changed = "it changed after it was read";

/** The place of a file without links. */
function realPlace({ root, absolutePath }: FixRequest): string {
  const real = realpathSync(absolutePath);
  const path = relative(realpathSync(root), real);
  if (path === ".." || path.startsWith(`..${sep}`) || isAbsolute(path)) {
    throw new Refusal("it is a link that leads out of the project");
  }
  return real;
}

const mark = "\ufeff";

function decode(bytes: Buffer): { mark: string; text: string } {
  if (!isUtf8(bytes) || bytes.includes(0)) throw new Refusal("it is not UTF-8 text");
  const text = bytes.toString("utf8");
  return text.startsWith(mark) ? { mark, text: text.slice(1) } : { mark: "", text };
}

const withLf = (text: string): string => text.replace(/\r\n?/g, "\n");

/** Returns a function from an offset in text with LF to the offset in `raw`, where it may be CRLF. */
function offsetsIn(raw: string): (offset: number) => number {
  // For each CRLF, the offset of its LF where all line ends are LF.
  const ends: number[] = [];
  for (let at = raw.indexOf("\r\n"); at >= 0; at = raw.indexOf("\r\n", at + 2)) {
    ends.push(at - ends.length);
  }
  return (offset) => offset + countBefore(ends.length, (at) => (ends[at] ?? 0) < offset);
}

/** The fixes for the text as it is in the file, with the line end of its first line. */
function inFile(raw: string, fixes: readonly Fix[]): Fix[] {
  if (!raw.includes("\r")) return [...fixes];
  const offsetOf = offsetsIn(raw);
  const lineEnd = /\r\n?|\n/.exec(raw)?.[0] ?? "\n";
  return fixes.map(({ rule, span, fix }) => ({
    rule,
    span: { start: offsetOf(span.start), end: offsetOf(span.end) },
    fix: fix.replaceAll("\n", lineEnd),
  }));
}

function placesByRule(fixes: readonly Fix[]): FixOutcome["applied"] {
  const names = [...new Set(fixes.map(({ rule }) => rule))].toSorted();
  return names.map((name) => ({
    rule: name,
    places: fixes.filter(({ rule }) => rule === name).length,
  }));
}

function fix(request: FixRequest): FixOutcome {
  const { path, source } = request;
  const real = realPlace(request);
  accessSync(real, constants.W_OK);
  const before = statSync(real, { bigint: true });
  if (!before.isFile()) throw new Refusal("it is not a regular file");
  const { mark: start, text: raw } = decode(readFileSync(real));
  if (withLf(raw) !== source) throw new Refusal(changed);
  const { applied, left, text } = applyFixes(raw, inFile(raw, request.fixes));
  // A CR that a fix moves before an LF would become one line end with it.
  if (withLf(text) !== applyFixes(source, request.fixes).text) {
    throw new Refusal("it has CR and LF as line ends");
  }
  if (text !== raw) {
    const isWanted = (): boolean => isSameVersion(before, statSync(real, { bigint: true }));
    const exactMode = Number(before.mode) & 0o777;
    if (!replaceFile(real, [start, text], { exactMode, isWanted })) throw new Refusal(changed);
  }
  return { path, applied: placesByRule(applied), left: left.length };
}

/** Why a file was left alone, by the code of an error that concerns this file alone. */
function refusalOf(code: string): string | undefined {
  if (code === "ENOENT" || code === "ENOTDIR") return changed;
  if (!["EACCES", "EPERM", "EROFS"].includes(code)) return undefined;
  return `it cannot be written: ${writeProblem(code)}`;
}

/**
 * Applies fixes to a file of the project. Byte order mark, line ends, mode and a link to the file
 * stay. Readers see the old or the new file, never a part. Does not change a file that is not UTF-8,
 * cannot be written, lies outside the root behind a link, or changed since `source` was read;
 * `refused` says which. Throws CliError `local` if the disk fails.
 */
export function fixFile(request: FixRequest): FixOutcome {
  try {
    return fix(request);
  } catch (error) {
    const { path } = request;
    if (error instanceof Refusal) {
      return { path, applied: [], left: 0, refused: error.message };
    }
    const code = codeOf(error);
    if (code === undefined || error instanceof CliError) throw error;
    const refused = refusalOf(code);
    if (refused !== undefined) return { path, applied: [], left: 0, refused };
    throw new CliError("local", `cannot write ${path}: ${writeProblem(code)}`, {
      hints: ["check that the disk is not full, then run the command again"],
      cause: error,
    });
  }
}
