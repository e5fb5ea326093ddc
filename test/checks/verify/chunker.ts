/** A service's chunker, for tests: overlap, title before each chunk, context around it. */
export interface ChunkStyle {
  /** Characters of a chunk, about. */
  size: number;
  overlap: number;
  title: boolean;
  /** Text before and after each chunk, as a language model would write it. */
  summary: boolean;
  /** Cuts anywhere, else at white space. */
  midWord: boolean;
}

const summaries = [
  "This document explains how people of the company ask for things and who decides.",
  "The chunk continues the description with details, exceptions and an example.",
];

export function chunkText(sections: readonly string[], title: string, style: ChunkStyle): string[] {
  const text = sections.join("\n\n").trim();
  const chunks: string[] = [];
  let start = 0;
  while (start < text.length) {
    let end = Math.min(text.length, start + style.size);
    if (!style.midWord && end < text.length) {
      const space = text.slice(start, end).search(/\s\S*$/u);
      if (space > style.size / 2) end = start + space;
    }
    const content = text.slice(start, end).trim();
    const before =
      (style.title ? `${title}\n\r\n` : "") + (style.summary ? `${summaries[0]}\n` : "");
    chunks.push(`${before}${content}${style.summary ? `\n${summaries[1]}` : ""}`);
    if (end === text.length) break;
    start = Math.max(start + 1, end - style.overlap);
  }
  return chunks;
}
