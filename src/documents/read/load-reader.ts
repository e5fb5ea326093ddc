import type { BinaryReader, Format, RowReader, TextReader } from "./reader.ts";
import { formats } from "./readers.ts";
import { readMarkdown } from "./readers/markdown/markdown.ts";
import { readText } from "./readers/text.ts";

type Loaded = TextReader | BinaryReader | RowReader;
// Markdown and text are small and nearly always needed, so they are imported statically.
const loaded = new Map<Format, Loaded>([
  [formats.markdown, readMarkdown],
  [formats.text, readText],
]);

/** Loads the reader of a format once. */
export async function loadReader<F extends Format>(
  format: F,
): Promise<Awaited<ReturnType<F["load"]>>> {
  const reader = loaded.get(format) ?? (await format.load());
  loaded.set(format, reader);
  return reader as Awaited<ReturnType<F["load"]>>;
}

/** The reader of a text format if it is already loaded. */
export function loadedTextReader(format: Format): TextReader | undefined {
  return format.gives === "text" ? (loaded.get(format) as TextReader | undefined) : undefined;
}
