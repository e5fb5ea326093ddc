import { hash } from "node:crypto";
import type { Span } from "./rule.ts";

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

function digest({ rule, path, text }: FingerprintSource, occurrence: number): string {
  const line = text.normalize("NFC").replace(/\s+/g, " ").trim();
  return hash("sha256", JSON.stringify([rule, path, line, occurrence]), "hex").slice(0, digits);
}

/**
 * Returns a function that makes the fingerprint of a finding: 16 hexadecimal digits from rule, path,
 * the text without differences in white space, and how often the three occurred before. The number
 * of the line does not count, so edits above a finding keep its fingerprint. Use one function for
 * all findings of a file, in the order of their places.
 */
export function createFingerprints(): (source: FingerprintSource) => string {
  const seen = new Map<string, number>();
  return (source) => {
    const first = digest(source, 0);
    const occurrence = seen.get(first) ?? 0;
    seen.set(first, occurrence + 1);
    return occurrence === 0 ? first : digest(source, occurrence);
  };
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
