import type { Included, Surroundings } from "../format.ts";
import type { Parsed } from "../format.ts";
import { textOf, isMap, type Value, type ValueMap } from "../../front-matter/values.ts";
import { withoutExtension } from "../../files/file-name.ts";
import { scanStructure } from "../../text/structure.ts";
import {
  type Expansion,
  includedText,
  indentBefore,
  indented,
  readProjectFile,
  type Replacement,
  withoutPair,
} from "./included.ts";

// help.obsidian.md: "Internal links", "Embed files", "Basic formatting syntax", "Properties".

/** Whether a page is a note in a vault of Obsidian. */
export const isVault = ({ site }: Surroundings): boolean => site?.generator === "obsidian";

/** What only notes in a vault have, for a pattern: links, highlights, footnotes, block ids, and what plugins run. */
export const vaultMarks = String.raw`\[\[|(?<!=)==(?!=)|\^\[|\^(?=[A-Za-z\d-]+[ \t]*$)|<%|(?<![\x60~])(?:\x60{3,}|~{3,})[ \t]*(?:dataview(?:js)?|query|tasks|base)[ \t]*$`;

// "Accepted file formats": everything else is a note.
const imageFile = /\.(?:avif|bmp|gif|jpe?g|png|svg|webp)$/i;
const otherFile = /\.(?:3gp|flac|m4a|mkv|mov|mp[34]|og[gv]|wav|webm|pdf)$/i;
// What they show, only a program knows.
const programFile = /\.(?:base|canvas|excalidraw)$/i;
// Not the text of a link after an exclamation mark: `Done![[1]](#note)`.
const embed =
  /^!\[\[([^[\]|#^\n\\]{0,300})(?:#([^[\]|\n\\]{0,300}))?(\\?\|[^[\]\n]{0,300})?\]\](?![([])/;
const wikilink =
  /^\[\[([^[\]|#\n\\]{0,300})(#[^[\]|\n\\]{1,300})?(?:\\?\|([^[\]\n]{0,1000}))?\]\](?!\()/;

/** The address of a file that the links of notes find by its name, with the last heading of `#A#B`. */
function addressOf(name: string, section = ""): string {
  const heading = section.slice(section.lastIndexOf("#") + 1).trim();
  // A block has no address of its own.
  const fragment = heading === "" || heading.startsWith("^") ? "" : `#${heading}`;
  const text = `${name.trim()}${fragment}`;
  return `<${text.replace(/[%?<>]/g, encodeURIComponent).replaceAll("\\", "")}>`;
}

/** What a link shows that has no text of its own: `Note > Heading`. */
const shownName = (name: string, section = ""): string =>
  [name, ...section.split("#")]
    .map((each) => each.trim())
    .filter((each) => each !== "")
    .join(" > ");

/** `[[Note]]`, `[[Note|text]]`, `[[Note#Heading]]` and `[[#Heading]]` as a link of Markdown. */
function replaceWikilink({ text, chain, around }: Expansion, at: number): Replacement | undefined {
  const [whole, name = "", section, alias = ""] = wikilink.exec(text.slice(at, at + 2000)) ?? [];
  // What is written as code shows the link itself.
  if (whole === undefined || text.slice(Math.max(0, at - 6), at) === "<code>") return undefined;
  const shown = alias.trim() || shownName(name, section);
  if (shown === "") return undefined;
  // In a note that another one shows, it leads to a place of its own note.
  const own = name.trim() === "" && chain.length > 1 ? (chain.at(-1) ?? "") : "";
  const note = withoutExtension(own.slice(around.site?.prefix.length ?? 0));
  const address = addressOf(own === "" ? name : note, section);
  return { end: at + whole.length, text: address === "<>" ? shown : `[${shown}](${address})` };
}

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

// A disk may hold names in another normal form than texts do.
const comparablePath = (path: string): string => `/${path}`.normalize("NFC").toLowerCase();

/** `![[note]]`, `![[note#Heading]]`, `![[note#^block]]`, and parts of the note itself. */
function embeddedNote(
  expansion: Expansion,
  at: number,
  name: string,
  section: string | undefined,
): string {
  const { chain, around } = expansion;
  const { includes } = around;
  const own = chain.at(-1) ?? "";
  const target = name === "" ? own : `${name.replace(/\.md$/i, "")}.md`;
  const isOwn = section !== undefined && comparablePath(own).endsWith(comparablePath(target));
  const find = (): Included => {
    // A part of a note in itself is no cycle, unless that part has such a part again.
    if (isOwn) return includes.read(`/${own}`, chain.at(-2) === own ? chain : chain.slice(0, -1));
    const byName = isVault(around) ? includes.readNote(target, chain) : undefined;
    const found = byName ?? readProjectFile(target, includes, chain, [""]);
    return "problem" in found ? (includes.readNote(target, chain) ?? found) : found;
  };
  const choose = (note: string): string | undefined => {
    if (section === undefined) return note;
    return section.startsWith("^") ? blockOf(note, section.slice(1)) : belowHeading(note, section);
  };
  return includedText(expansion, { target, section, choose, folders: [""], find }, at, false);
}

/** The image or the other file that a note embeds; the size of an image is not its description. */
function embeddedFile(name: string, section: string | undefined, shown: string): string {
  const isSize = /^\d+(?:x\d+)?$/.test(shown);
  if (!imageFile.test(name)) return `[${shown || name}](${addressOf(name)})`;
  return `![${isSize ? "" : shown}](${addressOf(name, section && "")})`;
}

/**
 * An image, or the text of another note. Outside of a vault, what cannot be read stays as written:
 * there, double brackets are text.
 */
export function replaceEmbed(expansion: Expansion, at: number): Replacement | undefined {
  const { text, around } = expansion;
  const [whole, written = "", section, shown = ""] = embed.exec(text.slice(at, at + 1000)) ?? [];
  const name = written.trim();
  if (whole === undefined || (name === "" && (section === undefined || !isVault(around)))) {
    return undefined;
  }
  const end = at + whole.length;
  if (programFile.test(name)) {
    if (!isVault(around)) return undefined;
    expansion.log.add("include", name, at);
    return { end, text: "" };
  }
  const isFile = imageFile.test(name) || otherFile.test(name);
  if (isFile) {
    const label = shown.replace(/^\\?\|/, "").trim();
    return isVault(around) ? { end, text: embeddedFile(name, section, label) } : undefined;
  }
  const body = embeddedNote(expansion, at, name, section);
  if (body === "") return isVault(around) ? { end, text: "" } : undefined;
  // In a cell of a table the bar is escaped, and a row is one line.
  const isCell = shown.startsWith("\\");
  const row = (): string =>
    body
      .trim()
      .replace(/\s*\n\s*/g, " ")
      .replaceAll("|", "\\|");
  return { end, text: isCell ? row() : indented(body, text, at) };
}

/** A block of a plugin, which shows what its program finds. */
function replaceQuery(expansion: Expansion, at: number, mark: string): Replacement | undefined {
  const { text, log } = expansion;
  if (indentBefore(text, at) === undefined || !expansion.opensFence(at)) return undefined;
  const [marks = ""] = /^[\x60~]+/.exec(mark) ?? [];
  const close = new RegExp(`\\n[ \\t]*${marks}+[ \\t]*(?=\\n|$)`, "g");
  close.lastIndex = at;
  const found = close.exec(text);
  log.add("directive", mark.replace(/^[\x60~\s]+/, ""), at);
  return { end: found ? close.lastIndex : text.length, text: "" };
}

/** Replaces what only notes in a vault have. */
export function replaceVaultMark(
  expansion: Expansion,
  at: number,
  mark: string,
): Replacement | undefined {
  const { text, log, nextOf, isCode } = expansion;
  if (/^[\x60~]/.test(mark)) return replaceQuery(expansion, at, mark);
  if (isCode(at)) return undefined;
  if (mark === "[[") return replaceWikilink(expansion, at);
  if (mark === "==") return withoutPair(expansion, at, mark);
  if (mark === "<%") {
    const close = nextOf("%>", at);
    if (close === -1) return undefined;
    log.add("expression", text.slice(at, close + 2), at);
    return { end: close + 2, text: "" };
  }
  if (mark === "^[") {
    const [whole, note = ""] =
      /^\^\[((?:[^[\]\n]|\[[^[\]\n]{0,300}\]){1,2000})\]/.exec(text.slice(at, at + 2100)) ?? [];
    return whole === undefined ? undefined : { end: at + whole.length, text: ` (${note})` };
  }
  // An id of a block. `2 ^3` is a formula.
  const [id = ""] = /^\^[\w-]+/.exec(text.slice(at, at + 200)) ?? [];
  const isId = /(?:^|\s)$/.test(text.slice(Math.max(0, at - 1), at)) && !/^\^\d{0,2}$/.test(id);
  return isId ? { end: at + id.length, text: "" } : undefined;
}

const wholeLink = /\[\[([^[\]|#\n]{0,300})(#[^[\]|\n]{1,300})?(?:\|([^[\]\n]{0,1000}))?\]\]/g;

/** A property as a note shows it: with the texts of its links. */
function shownValue(value: Value): Value {
  if (Array.isArray(value)) return value.map(shownValue);
  if (value !== null && isMap(value)) return shownProperties(value);
  const text = textOf(value);
  if (text?.includes("[[") !== true) return value;
  return text.replace(
    wholeLink,
    (_whole, name: string, section?: string, alias?: string) =>
      alias?.trim() || shownName(name, section),
  );
}

function shownProperties(data: ValueMap): ValueMap {
  const shown = Object.create(null) as ValueMap;
  for (const [key, value] of Object.entries(data)) shown[key] = shownValue(value);
  return shown;
}

/** Front matter and title of a note: its file name is its title. */
export function noteProperties(
  frontMatter: Parsed["frontMatter"],
  path: string,
): Pick<Parsed, "frontMatter" | "title"> {
  const name = path.slice(path.lastIndexOf("/") + 1);
  const shown = frontMatter && { ...frontMatter, data: shownProperties(frontMatter.data) };
  return { frontMatter: shown, title: withoutExtension(name) };
}
