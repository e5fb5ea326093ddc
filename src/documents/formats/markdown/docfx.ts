import {
  type Expansion,
  includedText,
  indented,
  linesIn,
  type Part,
  type Replacement,
} from "./included.ts";
import { docfxText } from "./blocks.ts";

// dotnet.github.io/docfx, "Markdown": includes, code snippets, tabs, cross references.

/** What only pages of DocFX have, for a pattern. */
export const docfxMarks = String.raw`<xref:(?=[^\s<>])|\[(?=[^[\]\n]{1,500}\]\(<?xref:)|\]\(<?~/|^[ \t>]*#{1,6}[ \t]+\[(?=[^\n]{1,500}\]\(#tab/)|:::(?=(?:image|no-loc)[ \t])|\[!(?:div|DIV|[Vv][Ii][Dd][Ee][Oo])\b|@(?=["'A-Za-z])|\{\{[<%]|\{%`;

const tab = /^([ \t>]*)#{1,6}[ \t]+\[([^\n]{1,500}?)\]\(#tab\/[^()\n]{0,200}\)[ \t]*#*/;
// Between angle brackets it may have parentheses: those of a method.
const reference =
  /^\[([^[\]\n]{1,500})\]\((?:<xref:([^\s<>]{1,500})>|xref:([^\s()<>"]{1,500}))(?:[ \t]+"[^"\n]*")?\)/;
const autoReference = /^<xref:([^\s<>]{1,500})>/;
// It ends before two punctuations, and before one with nothing behind it.
const shortReference =
  /^@(?:(["'])([^\n]{1,500}?)\1|([A-Za-z](?:[^\s"'<>[\]|.,;:!?~]|[.,;:!?~](?![\s"'<>[\]|.,;:!?~]|$)){0,500}))/;
const inlineDirective = /^:::((?:image|no-loc)[ \t][^\n]{0,1000}?:::)/;
/** The text of `:::no-loc text="…":::`. */
const textIn = (list: string): string => /\btext="([^"]*)"/.exec(list)?.[1] ?? "";
const quoted = /^\[!(?:div|video)\b[^\]\n]{0,500}\]/i;

/** The name that the documentation of an API gives what has the uid. */
function apiName(uid: string, query: string): string {
  const display = new URLSearchParams(query).get("displayProperty")?.toLowerCase();
  const names = decodeURIComponent(uid.replace(/%(?![\da-f]{2})/gi, "%25"))
    .replace(/\*$|#.*$/g, "")
    .replace(/\(.*$/, "")
    .replace(/\x60+\d+/g, "")
    .split(".");
  if (display === "fullname") return names.join(".");
  return names.slice(display === "namewithtype" ? -2 : -1).join(".");
}

/** A link to the page with a uid; without one its text, else `unknown`, or the name of the API. */
function linkTo(
  { around, chain }: Expansion,
  address: string,
  text: string | undefined,
  unknown?: string,
): string {
  const [, uid = "", query = "", fragment = ""] = /^([^?#]*)(\?[^#]*)?(#.*)?$/.exec(address) ?? [];
  const page = around.includes.pageWithUid(uid, chain);
  if (!page) return text ?? unknown ?? apiName(uid, query);
  const shown = text ?? new URLSearchParams(query).get("text") ?? page.title ?? uid;
  return `[${shown}](</${page.path.replace(/[%?#<>]/g, encodeURIComponent)}${fragment}>)`;
}

/** Replaces what only pages of DocFX have. */
export function replaceDocfxMark(
  expansion: Expansion,
  at: number,
  mark: string,
): Replacement | undefined {
  const { text, isCode, log, around } = expansion;
  // Shortcodes of other generators are text.
  if (isCode(at) || mark.startsWith("{")) return undefined;
  const rest = text.slice(at, at + 1200);
  const prefix = around.site?.prefix ?? "";
  if (mark.startsWith("](")) {
    const angle = mark.includes("<") ? "<" : "";
    return { end: at + mark.length, text: `](${angle}/${prefix}` };
  }
  if (mark.startsWith("<")) {
    const [whole, address = ""] = autoReference.exec(rest) ?? [];
    return whole === undefined
      ? undefined
      : { end: at + whole.length, text: linkTo(expansion, address, undefined) };
  }
  if (mark === "@") {
    const [whole, , quoted, plain = ""] = shortReference.exec(rest) ?? [];
    if (whole === undefined || text[at - 1] === "\\") return undefined;
    // Most are no references: what names no page stays as it is.
    const link = linkTo(expansion, quoted ?? plain, undefined, "");
    return link === "" ? undefined : { end: at + whole.length, text: link };
  }
  if (mark === ":::") {
    const [whole, list = ""] = inlineDirective.exec(rest) ?? [];
    return whole === undefined
      ? undefined
      : {
          end: at + whole.length,
          text: docfxText(list.replace('source="~/', `source="/${prefix}`)) ?? textIn(list),
        };
  }
  if (mark.startsWith("[!")) {
    const [whole] = quoted.exec(rest) ?? [];
    if (whole === undefined) return undefined;
    if (/^\[!v/i.test(whole)) log.add("directive", "VIDEO", at);
    return { end: at + whole.length, text: "" };
  }
  if (mark === "[") {
    const [whole, shown = "", angled, plain = ""] = reference.exec(rest) ?? [];
    if (whole === undefined) return undefined;
    // It would be a link in a link.
    const text = autoReference.test(shown) ? undefined : shown;
    return { end: at + whole.length, text: linkTo(expansion, angled ?? plain, text) };
  }
  const [whole, before = "", name = ""] = tab.exec(rest) ?? [];
  return whole === undefined ? undefined : { end: at + whole.length, text: `${before}**${name}**` };
}

const fileOf = (name: string): string => name.replace(/^~\//, "/");

/** `[!INCLUDE [title](~/includes/x.md)]`. */
export function replaceDocfx(expansion: Expansion, at: number): Replacement | undefined {
  const { text } = expansion;
  const [whole, name] =
    /^\[!include[ \t]*\[[^\]\n]*\]\([ \t]*([^()\n]+?)[ \t]*\)[ \t]*\]/i.exec(
      text.slice(at, at + 1000),
    ) ?? [];
  if (whole === undefined || name === undefined) return undefined;
  // dotnet.github.io/docfx, "Include Markdown Files".
  const part = { target: fileOf(name), folders: [""], rebases: true };
  const body = includedText(expansion, part, at, false);
  return { end: at + whole.length, text: indented(body, text, at) };
}

// A comment with nothing but `<name>` or `</name>`.
const tagLine =
  /^\s*(?:\/\/+|#+|'+|--|;+|%+|<!--|\/\*|@\*|\(\*|rem\b)\s*<(\/?)([\w.-]{1,100})>\s*(?:-->|\*[/@)])?\s*$/i;

/** The lines between `// <name>` and `// </name>`, or of a region; without the marks of others. */
function snippetOf(text: string, name: string): string | undefined {
  const marks = text.split("\n").map((row) => ({ row, mark: tagLine.exec(row) }));
  const isMark = (mark: RegExpExecArray | null, slash: string): boolean =>
    mark?.[1] === slash && mark[2]?.toLowerCase() === name.toLowerCase();
  const first = marks.findIndex(({ mark }) => isMark(mark, ""));
  if (first === -1) return linesIn(text, { section: name });
  const last = marks.findIndex(({ mark }, index) => index > first && isMark(mark, "/"));
  return marks
    .slice(first + 1, last === -1 ? undefined : last)
    .filter(({ mark }) => !mark)
    .map(({ row }) => row)
    .join("\n");
}

/** The ranges in a text like `2,5-7,9-`. */
function rangesOf(text: string): NonNullable<Part["lines"]> {
  return [...text.matchAll(/(\d{1,9})(?:[ \t]*(-)[ \t]*L?(\d{1,9})?)?/g)].map(
    ([, from, dash, to]) => ({
      from: Number(from),
      to: Number(to ?? (dash === undefined ? from : Number.MAX_SAFE_INTEGER)),
    }),
  );
}

/** Which part of its file a snippet shows. */
function partOf(file: string, lines: string | undefined, name: string | undefined): Part {
  const target = fileOf(file);
  if (lines !== undefined) return { target, lines: rangesOf(lines), folders: [""] };
  if (name === undefined) return { target, folders: [""] };
  return { target, section: name, choose: (text) => snippetOf(text, name), folders: [""] };
}

const listMarks = /(?:[-*+]|\d{1,9}[.)])(?=[ \t])/g;

/** A block of code in a quotation or a list: what stands before its line, or its width, stands before each. */
function placed(block: string, { text }: Expansion, at: number, end: number): string {
  const before = text.slice(Math.max(0, at - 200), at);
  const prefix = before.slice(before.lastIndexOf("\n") + 1);
  const rest = prefix.replace(listMarks, (mark) => " ".repeat(mark.length));
  const own = /^[ \t>]*$/.test(rest) ? block.replaceAll("\n", `\n${rest}`) : `\n${block}`;
  return /^[ \t]*(?:\n|$)/.test(text.slice(end, end + 200)) ? own : `${own}\n`;
}

function codeText(
  expansion: Expansion,
  part: Part,
  language: string,
  range: [number, number],
): string {
  const body = includedText(expansion, part, range[0], true);
  const info = language || (/\.(\w+)$/.exec(part.target)?.[1] ?? "");
  return body === "" ? "" : placed(`\`\`\`\`${info}\n${body}\n\`\`\`\``, expansion, ...range);
}

const link =
  /^\[!code(?:-([\w+#.-]{1,50}))?[ \t]*\[[^\]\n]*\]\([ \t]*([^()\n?#"]+?)[ \t]*(?:\?([^()\n#"\s]*))?(?:#([^()\n"\s]*))?[ \t]*(?:"[^"\n]*")?[ \t]*\)[ \t]*\]/i;

/** `[!code-csharp[name](x.cs?name=region)]`, also with `?range=2,5-7`, `?start=2&end=5`, `#L2-L5` and `#region`. */
export function replaceDocfxCode(expansion: Expansion, at: number): Replacement | undefined {
  const [whole, language = "", file = "", query = "", fragment] =
    link.exec(expansion.text.slice(at, at + 1000)) ?? [];
  if (whole === undefined) return undefined;
  const options = new URLSearchParams(query);
  const option = (key: string): string | undefined => options.get(key) ?? undefined;
  const [start, stop] = [option("start"), option("end")];
  const ends =
    start === undefined && stop === undefined ? undefined : `${start ?? 1}-${stop ?? ""}`;
  const rows = /^L\d+(?:-L?\d+)?$/i.test(fragment ?? "") ? fragment : undefined;
  const part = partOf(file, option("range") ?? ends ?? rows, option("name") ?? fragment);
  const end = at + whole.length;
  return { end, text: codeText(expansion, part, language, [at, end]) };
}

/** `:::code language="csharp" source="x.cs" id="region":::`, also with `range="2,5-7"`. */
export function replaceCodeDirective(expansion: Expansion, at: number): Replacement | undefined {
  const [whole, list = ""] =
    /^:::[ \t]*code[ \t]([^\n]*?):::/.exec(expansion.text.slice(at, at + 1000)) ?? [];
  const pairs = [...list.matchAll(/([a-z-]{1,50})="([^"]*)"/g)];
  const options = new Map(pairs.map(([, key = "", value = ""]) => [key, value]));
  const file = options.get("source");
  if (whole === undefined || file === undefined) return undefined;
  const part = partOf(file, options.get("range"), options.get("id"));
  const end = at + whole.length;
  const shown = codeText(expansion, part, options.get("language") ?? "", [at, end]);
  return { end, text: shown };
}
