/** A text as one word of a command that people copy: no shell expands anything in it. */
export function commandWord(text: string): string {
  if (/^[\w./:@%+,=~-]+$/.test(text) && !text.startsWith("~")) return text;
  if (!/[$`\\!]/.test(text)) return `"${text.replaceAll('"', '\\"')}"`;
  return `'${text.replaceAll("'", "'\\''")}'`;
}
