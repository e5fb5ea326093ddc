import type { BinaryReader, Format, LaterReader, RowReader, TextReader } from "./format.ts";
import { formats, readText } from "./formats.ts";
import { readMarkdown } from "./markdown/markdown.ts";

type Loaded = TextReader | LaterReader | BinaryReader | RowReader;
// Markdown and text are small and nearly always needed, so they are imported statically.
const atHand: ReadonlyMap<Format, TextReader> = new Map<Format, TextReader>([
  [formats.markdown, readMarkdown],
  [formats.text, readText],
]);
const loaded = new Map<Format, Loaded>(atHand);

/** Loads the reader of a format once. */
export async function loadReader<F extends Format>(
  format: F,
): Promise<Awaited<ReturnType<F["load"]>>> {
  const reader = loaded.get(format) ?? (await format.load());
  loaded.set(format, reader);
  return reader as Awaited<ReturnType<F["load"]>>;
}

/** The reader of a format that needs no promise. */
export const readerAtHand = (format: Format): TextReader | undefined => atHand.get(format);
