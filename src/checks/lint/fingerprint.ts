import { hash } from "node:crypto";
import type { Finding, Span } from "./rule.ts";

/** What makes a finding the same one in a later run. */
export interface FingerprintSource {
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

/** The line of `source` on which a span begins, without its line end. */
export function lineAt(source: string, { start }: Span): string {
  const from = start === 0 ? 0 : source.lastIndexOf("\n", start - 1) + 1;
  const to = source.indexOf("\n", start);
  return source.slice(from, to < 0 ? undefined : to);
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
