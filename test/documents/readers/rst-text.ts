import type { Parsed } from "../../../src/documents/read/reader.ts";
import type { Includes } from "../../../src/documents/read/parts/includes.ts";
import { readRst } from "../../../src/documents/read/readers/rst/rst.ts";

/** Reads a text whose includes are the given files, by the target as written. */
export function readText(text: string, files: Record<string, string> = {}): Parsed {
  const includes: Includes = {
    parts: new Set(),
    readNote: () => undefined,
    isInVault: () => false,
    read(target, chain) {
      const found = files[target];
      const path = target.startsWith("/") ? target.slice(1) : `docs/${target}`;
      if (chain.includes(path)) return { problem: "a cycle" };
      return found === undefined ? { problem: "no such file" } : { text: found, path };
    },
  };
  return readRst(text, "docs/a.rst", { includes, componentAttributes: [] });
}

/** The Markdown of a text. */
export const bodyOf = (text: string, files?: Record<string, string>): string =>
  readText(text, files).body.trim();
