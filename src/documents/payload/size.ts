import type { IngestionDocument } from "../../api/schemas.ts";

/** What documents cost the service, as far as their text tells. */
export interface Size {
  /** Characters of the text. */
  characters: number;
  /** Estimated, see estimateTokens(). */
  tokens: number;
  /** Estimated: one for each 512 tokens of a document that are begun. */
  chunks: number;
}

export const noSize = (): Size => ({ characters: 0, tokens: 0, chunks: 0 });

const tokensInChunk = 512;

/**
 * Estimated number of tokens in a text: one for each Chinese, Japanese or Korean character, and one
 * for each four other characters.
 */
export function estimateTokens(text: string): number {
  let ideographs = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code < 0x1100 || code > 0xffdc) continue;
    const isWide = code <= 0x11ff || (code >= 0x2e80 && code <= 0xd7ff) || code >= 0xf900;
    if (isWide) ideographs++;
  }
  return Math.round(ideographs + (text.length - ideographs) / 4);
}

/** Adds the text of the document in a request's body. */
export function addSize(sum: Size, body: Uint8Array): void {
  const json = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  const { document } = JSON.parse(json) as { document: IngestionDocument };
  let tokens = 0;
  for (const { text = "" } of document.sections) {
    sum.characters += text?.length ?? 0;
    tokens += estimateTokens(text ?? "");
  }
  sum.tokens += tokens;
  sum.chunks += Math.max(1, Math.ceil(tokens / tokensInChunk));
}
