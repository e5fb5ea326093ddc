import { type Expansion, includedText, indented, type Replacement } from "./included.ts";
import { scanStructure } from "../../text/structure.ts";

// help.obsidian.md, "Embed files" and "Accepted file formats": everything else is a note.
const media =
  /\.(?:avif|bmp|gif|jpe?g|png|svg|webp|3gp|flac|m4a|mkv|mov|mp[34]|og[gv]|wav|webm|pdf|base|canvas|excalidraw)$/i;
// Not the text of a link after an exclamation mark: `Done![[1]](#note)`.
const embed =
  /^!\[\[([^[\]|#^\n\\]{1,300})(?:#([^[\]|\n\\]{1,300}))?(\\?\|[^[\]\n]{0,300})?\]\](?![([])/;

/** Names of headings in links lack some marks. */
const comparable = (text: string): string =>
  text
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim()
    .toLowerCase();

/** A heading with what is below it; `A#B` names the heading B below A. */
function belowHeading(text: string, name: string): string | undefined {
  const { headings } = scanStructure(text);
  const names = headings.map((heading) => comparable(heading.text));
  let at = -1;
  for (const each of name.split("#")) {
    at = names.indexOf(comparable(each), at + 1);
    if (at === -1) return undefined;
  }
  const first = headings[at];
  const next = headings.find(({ level }, index) => index > at && level <= (first?.level ?? 0));
  return text.slice(first?.start, next?.start);
}

/** The list item or the paragraph that ends with `^id`. */
function blockOf(text: string, id: string): string | undefined {
  const rows = text.split("\n");
  const mark = `^${id}`;
  const last = rows.findIndex(
    (row) => row.trimEnd().endsWith(mark) && !/\S\^/.test(row.slice(-mark.length - 2)),
  );
  if (last === -1) return undefined;
  const own = (rows[last] ?? "").trimEnd().slice(0, -mark.length).trimEnd();
  if (/^\s*(?:[-*+]|\d{1,9}[.)])\s/.test(own)) return own.trim();
  // Below a table or a quotation, the mark has a line of its own.
  let end = last;
  if (own === "") while (end > 0 && rows[end - 1]?.trim() === "") end--;
  let from = end;
  while (from > 0 && rows[from - 1]?.trim() !== "") from--;
  return [...rows.slice(from, end), own].join("\n").trimEnd();
}

/**
 * `![[note]]`, `![[note#Heading]]` and `![[note#^block]]` of Obsidian. What cannot be read stays as
 * written: elsewhere, double brackets are text.
 */
export function replaceEmbed(expansion: Expansion, at: number): Replacement | undefined {
  const { text } = expansion;
  const [whole, name = "", section, shown] = embed.exec(text.slice(at, at + 1000)) ?? [];
  if (whole === undefined || media.test(name.trim())) return undefined;
  const target = name.trim().replace(/\.md$/i, "");
  const choose = (note: string): string | undefined => {
    if (section === undefined) return note;
    return section.startsWith("^") ? blockOf(note, section.slice(1)) : belowHeading(note, section);
  };
  const part = { target: `${target}.md`, section, choose, folders: [""], isNote: true };
  const body = includedText(expansion, part, at, false);
  if (body === "") return undefined;
  // In a cell of a table the bar is escaped, and a row is one line.
  const isCell = shown?.startsWith("\\") === true;
  const row = (): string =>
    body
      .trim()
      .replace(/\s*\n\s*/g, " ")
      .replaceAll("|", "\\|");
  return { end: at + whole.length, text: isCell ? row() : indented(body, text, at) };
}
