import { closeSync, openSync, readSync } from "node:fs";
import { openFlags } from "../files/bytes/file-bytes.ts";
import { splitFrontMatter, type FrontMatter } from "./front-matter.ts";

// The longest front matter, and its fences.
const head = Buffer.allocUnsafeSlow(68 * 1024);
const firstBytes = 4096;

/**
 * The front matter at the beginning of a file; undefined without one. `isSure` is false where only
 * reading the whole file tells: an empty file, UTF-16, a fence without front matter, an error.
 */
export function readFrontMatter(
  absolutePath: string,
  path: string,
): { frontMatter: FrontMatter | undefined; isSure: boolean } {
  const unsure = { frontMatter: undefined, isSure: false };
  let descriptor: number | undefined;
  try {
    descriptor = openSync(absolutePath, openFlags);
    const first = readSync(descriptor, head, 0, firstBytes, 0);
    const isOpen = /^(?:\uFEFF)?(?:---|\+\+\+|\{)/.test(
      head.toString("utf8", 0, Math.min(first, 8)),
    );
    if (!isOpen) return { ...unsure, isSure: first > 0 && (head[0] ?? 0) < 0xfe };
    const rest = head.length - firstBytes;
    const more = first === firstBytes ? readSync(descriptor, head, first, rest, first) : 0;
    const text = head.toString("utf8", 0, first + more).replace(/^\uFEFF/, "");
    const { frontMatter } = splitFrontMatter(text.replace(/\r\n?/g, "\n"), path);
    return { frontMatter, isSure: frontMatter !== undefined };
  } catch {
    // The run that reads this file reports why.
    return unsure;
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}
