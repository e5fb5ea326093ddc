import { lineOfKey } from "../../../documents/front-matter/front-matter.ts";
import type { LintPage, Span } from "../rule.ts";

/** The line of a key of the front matter. Undefined in files without text, and in rows. */
export function spanOfKey({ source, parsed }: LintPage, key: string): Span | undefined {
  const { frontMatter } = parsed;
  // Properties of a file have no lines.
  if (source === undefined || !frontMatter || frontMatter.block === "") return undefined;
  const line = lineOfKey(frontMatter, key);
  let start = 0;
  for (let count = 1; count < line; count++) {
    const next = source.indexOf("\n", start);
    if (next === -1) return undefined;
    start = next + 1;
  }
  const end = source.indexOf("\n", start);
  const text = source.slice(start, end === -1 ? source.length : end);
  if (!text.includes(key)) return undefined;
  const indent = text.length - text.trimStart().length;
  return { start: start + indent, end: start + text.trimEnd().length };
}

/** The first of the keys that the front matter has. */
export function keyOf({ parsed }: LintPage, keys: readonly string[]): string | undefined {
  const data = parsed.frontMatter?.data;
  return data && keys.find((key) => Object.hasOwn(data, key));
}
