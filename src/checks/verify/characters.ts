/** Characters as texts are compared by them. Pure. */

/** White space keeps its place, as one space. Other control characters show nothing. */
const controls = /[\0-\u0008\u000e-\u001f]+/g;
const plainText = /^[\u0020-\u007e]*$/;

/**
 * The visible characters of a text in order, with one space for each run of white space. The text is
 * decomposed (NFD): a chunk may end between a letter and its accent. Halves of characters that a
 * chunk cuts stay as they are.
 */
export function visibleText(text: string): string {
  const whole = plainText.test(text) ? text : text.normalize("NFD").replace(controls, "");
  return whole.replace(/\s+/g, " ");
}

/**
 * What the public service removes from each section before it cuts it: specials, emoji, dashes and
 * curly quotes ("General Punctuation"), arrows, dingbats. See `clean_text` in
 * backend/onyx/utils/text_processing.py of onyx-dot-app/onyx.
 */
const removable = /[\u2000-\u206f\u2190-\u21ff\u2700-\u27bf\ufff0-\uffff\u{1f000}-\u{1f9ff}]/u;
const removables = new RegExp(removable, "gu");

/** Also half of an emoji that a chunk cuts. */
export const hasRemovable = (text: string): boolean =>
  removable.test(text) || /[\ud83c-\ud83e]/u.test(text);

export const withoutRemovable = (text: string): string => text.replace(removables, "");

/** Those of them that people see: others can be added to a text without a trace. */
const seen = "[\\u2010-\\u2027\\u2030-\\u205e\\u2190-\\u21ff\\u2700-\\u27bf\\u{1f000}-\\u{1f9ff}]+";
const inWord = new RegExp(`[\\p{L}\\p{N}]${seen}(?=[\\p{L}\\p{N}])`, "gu");
/** Cells of tables and ends of sentences may have two spaces as they are. */
const spaced = new RegExp(`[^\\s|.:!?][^\\S\\n]${seen}[^\\S\\n](?=[^\\s|])`, "gu");
const mostSpaced = 20;

/**
 * How many places show that such characters were removed: within a word, nobody writes the text
 * without them; between two spaces, the chunks keep both.
 */
export function removalsShown(section: string, chunks: readonly string[]): number {
  const count = section.match(inWord)?.length ?? 0;
  const places = [...section.matchAll(spaced)].slice(0, mostSpaced);
  const shown = places.filter(({ 0: { length }, index }) => {
    const around = withoutRemovable(section.slice(Math.max(0, index - 8), index + length + 8));
    return chunks.some((chunk) => chunk.includes(around));
  });
  return count + shown.length;
}
