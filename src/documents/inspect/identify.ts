import { closeSync, openSync, readSync } from "node:fs";
import { CliError } from "../../errors.ts";
import { loadGlobs } from "../find/patterns.ts";
import { createFields } from "../front-matter/fields.ts";
import { splitFrontMatter, type FrontMatter } from "../front-matter/front-matter.ts";
import { effectiveFor } from "../map/effective.ts";
import { defaultId } from "../map/mapping.ts";
import {
  compileSettings,
  usesPatterns,
  type DocumentSettings,
  type RawSettings,
} from "../map/settings.ts";
import { openFlags } from "../read/bytes/file-bytes.ts";
import { isPacked } from "../read/file-name.ts";
import { formatOf, formats } from "../read/readers.ts";
import type { NewId, ReadItem } from "./inspection.ts";
import { placeOf } from "./recorded.ts";
import { normalise } from "./stamp.ts";

/** Formats whose files may begin with front matter. */
export const withFrontMatter: readonly unknown[] = [
  formats.markdown,
  formats.mdx,
  formats.rst,
  formats.asciidoc,
];

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

/** The keys that a page of HTML, and the properties of a file, give their document. */
const propertyKeys: ReadonlySet<string> = new Set([
  "title",
  "description",
  "author",
  "keywords",
  "subject",
  "link",
  "updated",
  "lang",
]);

function idOf(item: ReadItem, settings: DocumentSettings): string | undefined {
  const { path } = item;
  const { keys } = settings;
  const format = formatOf(path, settings.format);
  const pathId = defaultId(path, settings);
  if (format === formats.text) return pathId;
  if (!format || format.gives === "rows" || isPacked(path)) return undefined;
  const skipping = [...keys.ingest, ...keys.draft];
  if (!withFrontMatter.includes(format)) {
    const isFixed = ![...keys.id, ...skipping].some((key) => propertyKeys.has(key));
    return isFixed ? pathId : undefined;
  }
  const { frontMatter, isSure } = readFrontMatter(placeOf(item, settings.root), path);
  if (!frontMatter) return isSure ? pathId : undefined;
  if (skipping.some((key) => frontMatter.data[key] !== undefined)) return undefined;
  try {
    const own = createFields(frontMatter, path).takeText(keys.id);
    return own ? normalise(own.value) : pathId;
  } catch (error) {
    // A bad value: reading the file reports it.
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

/** Returns the id of a new file, see Inspector.identify(). Never throws CliError. */
export type Identify = (item: ReadItem) => NewId | undefined;

/** Creates an Identify for settings as plain data. Does not load the readers. */
export async function loadIdentify(raw: RawSettings): Promise<Identify> {
  if (usesPatterns(raw)) await loadGlobs();
  const settings = compileSettings(raw);
  return (item) => {
    const id = idOf(item, settings);
    if (id === undefined) return undefined;
    return { id, ownPair: effectiveFor(item.path, settings).ccPairId };
  };
}
