import { fileProblem } from "../../../errors.ts";
import { codeSpansOf, createLookup, mathOf } from "../../text/structure.ts";
import { destination } from "../markdown/blocks.ts";
import { embedded, embedLine } from "./embed.ts";
import { count, type Fences } from "./fence.ts";
import { idOf, type Titled } from "./page.ts";
import { withoutSpans } from "./spans.ts";

const target = /^ {0,3}\(([^()\n]{1,200})\)=[ \t]*$/;
const heading = /^ {0,3}#{1,6}[ \t]/;
const underline = /^ {0,3}(?:=+|-+)[ \t]*$/;
/** An attribute list on a line of its own is of the block below it. */
const attributes = /^ {0,3}\{[ \t]*(?:[#.][^{}\n]*|[\w-]+="[^{}\n]*)\}[ \t]*$/;

/** A link with the title of what it leads to; undefined without one. */
const titleOf = (found: Titled | undefined): string | undefined =>
  found?.title && `[${found.title.replace(/[[\]]/g, "\\$&")}](${destination(found.address)})`;

/** `text <target>`. */
function split(content: string): { text: string | undefined; target: string } {
  const [, text, name] = /^([^]*?)[ \t\n]*<([^<>]*)>$/.exec(content) ?? [];
  return name === undefined || text === undefined
    ? { text: undefined, target: content }
    : { text: text.trim() || undefined, target: name.trim() };
}

const absent = fileProblem("ENOENT");
const escaped = (text: string): string => text.replace(/[[\]]/g, "\\$&");

/** A link or its text, to a label or a page of the project. */
function reference(fences: Fences, content: string, isPage: boolean): string {
  const { page, reading } = fences;
  const { text, target: name } = split(content);
  const found = isPage ? page.titled(name, reading.chain) : page.labelled(name);
  if (found && text !== undefined) return `[${escaped(text)}](${destination(found.address)})`;
  return titleOf(found) ?? text ?? name;
}

const codeText = (content: string): string => {
  const marks = content.includes("`") ? "``" : "`";
  return `${marks}${content}${marks}`;
};

// The roles that show an icon.
const icon = /^(?:octicon|fa[a-z]?|fa-[a-z]+|material-[a-z]+|far|fas|fab)$/;
// Roles of running text; those of other names show code, keys, or names of objects.
const prose = new Set(
  "abbr abbreviation acronym term numref any strong emphasis title-reference subject dfn manpage newsgroup program mailheader button u underline del strike smallcaps sc text span".split(
    " ",
  ),
);
const shownCode =
  /^(?:code|kbd|file|samp|command|envvar|option|token|literal|makevar|regexp|mimetype)$/;
const ofDomain = /:|^(?:class|func|meth|attr|mod|obj|exc|data|const)$/;

function roleText(fences: Fences, role: string, content: string, line: number | undefined): string {
  const name = role.toLowerCase().replace(/^(?:std|external(?:\+\w+)?):/, "");
  const { text, target: label } = split(content);
  if (name === "doc") return reference(fences, content, true);
  if (/^(?:ref|numref|eq|prf:ref|proof:ref|any)$/.test(name)) {
    return reference(fences, content, false);
  }
  if (name === "math") return `$${content}$`;
  if (name === "sub" || name === "subscript") return `<sub>${content}</sub>`;
  if (name === "sup" || name === "superscript") return `<sup>${content}</sup>`;
  if (name === "download" || name === "link") {
    return `[${escaped(text ?? label)}](${destination(label)})`;
  }
  if (name === "guilabel" || name === "menuselection") {
    return content.replace(/&(?=\S)/g, "").replaceAll("-->", "‣");
  }
  if (icon.test(name) || name === "raw" || name === "index")
    return name === "index" ? (text ?? content) : "";
  if (name === "eval") {
    count(fences, "expression", content, line);
    return "";
  }
  if (name.startsWith("cite")) return `[${label}]`;
  if (name === "pep" || name === "rfc") return text ?? `${name.toUpperCase()} ${label}`;
  if (prose.has(name)) return text ?? content;
  if (shownCode.test(name)) return codeText(content);
  if (!ofDomain.test(name)) return text ?? content;
  const short = label.startsWith("~") ? (/[^.]*$/.exec(label)?.[0] ?? "") : "";
  return codeText(text ?? (short || label.replace(/^[!~]/, "")));
}

const roleName = /\{([A-Za-z][\w:+.-]{0,60})\}$/;
const substitution = /\{\{[ \t]*([\w.-]{1,100})[ \t]*\}\}/g;
const expression = /\{\{([^{}\n]{1,500})\}\}/g;
const name = /^\s*\w+\s*$/;
const emptyLink = /(?<!!)\[\]\(<?([^()<>\s]{1,500})>?\)|<(?:project|path):([^<>\s]{1,500})>/g;

/** Links without text get the title of what they lead to. */
function linkText(fences: Fences, address: string, written: string): string {
  if (/^(?:https?|mailto):/.test(address)) return `<${address}>`;
  const name = address.replace(/^(?:project|path):/, "");
  if (/^(?:inv|wiki|rrid|ror|doi|gh|github|dl):/.test(name)) {
    return (/[^#/:]*$/.exec(name)?.[0] ?? "") || written;
  }
  const [path = "", label] = name.split("#");
  const found =
    path === ""
      ? fences.page.labelled(label ?? "")
      : fences.page.titled(path, fences.reading.chain);
  return titleOf(found) ?? `[${escaped(label ?? path)}](${destination(name)})`;
}

/** Text with what stands for its expressions: the names that nothing defines stay. */
function withExpressions(fences: Fences, text: string, line: number | undefined): string {
  const { page } = fences;
  const shown = text.replace(
    substitution,
    (written, name: string) => page.substitution(name) ?? written,
  );
  if (!shown.includes("{{") || !page.hasExpressions) return shown;
  const isInMath = createLookup(mathOf(shown));
  return shown.replace(expression, (written, code: string, at: number) => {
    if ((name.test(code) && !page.isComputed(code.trim())) || isInMath(at)) return written;
    const value = page.expression(code);
    if (value === undefined) count(fences, "expression", written, line);
    return value ?? "";
  });
}

/** Text between code. */
function plainPart(fences: Fences, text: string, line: number | undefined): string {
  const shown = text.includes("{{") ? withExpressions(fences, text, line) : text;
  if (!shown.includes("[]") && !shown.includes("<p")) return shown;
  return shown.replace(emptyLink, (written, address?: string, project?: string) =>
    linkText(fences, address ?? project ?? "", written),
  );
}

const fileName = /\.(?:md|markdown|rst|ipynb|txt|html?|pdf)$/i;
const namedLink = /(?<![!\\])\[((?:[^[\]`\n]|`[^`\n]*`){1,500})\]\(<?(#?)([\w.:/-]{1,200})>?\)/g;

/**
 * The link of a name that is no file: a label of the project, or an object that a program describes
 * and whose place is unknown here. MyST-Parser, "Cross-references".
 */
function linkOfName(fences: Fences, text: string, isFragment: boolean, name: string): string {
  const found = fences.page.labelled(name);
  if (found) return `[${text}](${destination(found.address)})`;
  const { around, chain } = fences.reading;
  // Objects have no such names: it is a path. That of an included file may count from elsewhere.
  if (name.includes("/") || (fileName.test(name) && chain.length < 2)) return "";
  const file = isFragment ? undefined : around.includes.read(name, chain);
  const isNothing = file && "problem" in file && file.problem === absent;
  return isNothing && !fences.page.titled(name, chain) ? text : "";
}

/** Links to names instead of files. */
function withNames(fences: Fences, text: string): string {
  if (!fences.page.isMyst || !text.includes("](")) return text;
  const isCode = createLookup(codeSpansOf(text));
  return text.replace(namedLink, (written, label: string, hash: string, name: string, at: number) =>
    isCode(at) ? written : linkOfName(fences, label, hash !== "", name) || written,
  );
}

/** The Markdown of a paragraph without roles, substitutions and attribute lists. */
export function readInline(fences: Fences, text: string, line?: number): string {
  if (!/[{<]|\[\]|\]\(/.test(text)) return text;
  const parts: string[] = [];
  let from = 0;
  for (const [start, end] of text.includes("`") ? codeSpansOf(text) : []) {
    const before = text.slice(from, start);
    const [whole, name] = roleName.exec(before.slice(-70)) ?? [];
    const isRole = name !== undefined && !before.endsWith(`\\${whole}`);
    parts.push(plainPart(fences, isRole ? before.slice(0, -(whole ?? "").length) : before, line));
    const marks = /^`+/.exec(text.slice(start, end))?.[0].length ?? 1;
    const content = text.slice(start + marks, end - marks).trim();
    parts.push(isRole ? roleText(fences, name, content, line) : text.slice(start, end));
    from = end;
  }
  parts.push(plainPart(fences, text.slice(from), line));
  return withNames(fences, withoutSpans(parts.join("")));
}

/** The lines of a paragraph or heading with what its roles show. */
const paragraphLines = (fences: Fences, lines: readonly string[], line?: number): string[] =>
  readInline(fences, lines.join("\n"), line).split("\n");

/** Gives the ids of targets to the heading behind them. */
function withIds(lines: readonly string[], ids: readonly string[]): string[] {
  const [first = "", next = ""] = lines;
  const isHeading = heading.test(first) || underline.test(next);
  const [id] = ids;
  if (!isHeading || id === undefined || /\{[^{}]*#[^{}]*\}[ \t]*$/.test(first)) return [...lines];
  return [`${first.trimEnd()} {#${id}}`, ...lines.slice(1)];
}

/**
 * Lines of MyST between fences: without comments, block breaks and targets, and with the texts of
 * roles. mystmd.org, "CommonMark / Markdown"; MyST-Parser, "Roles and directives".
 */
export function readMystText(
  fences: Fences,
  lines: readonly string[],
  first: number | undefined,
): string[] {
  const done: string[] = [];
  let paragraph: string[] = [];
  let ids: string[] = [];
  const lineOf = (at: number): number | undefined => (first === undefined ? undefined : first + at);
  const flush = (at: number): void => {
    if (paragraph.length === 0) return;
    for (const line of paragraphLines(
      fences,
      withIds(paragraph, ids),
      lineOf(at - paragraph.length),
    ))
      done.push(line);
    paragraph = [];
    ids = [];
  };
  for (const [at, line] of lines.entries()) {
    const id =
      target.exec(line)?.[1] ?? (attributes.test(line) ? /#([^\s{}]+)/.exec(line)?.[1] : undefined);
    const isComment = !fences.page.keepsHidden && /^ {0,3}%/.test(line);
    const isMark =
      isComment || id !== undefined || /^\+\+\+(?:\s|$)/.test(line) || attributes.test(line);
    const isBlank = line.trim() === "";
    const label = fences.page.isMystmd ? embedLine.exec(line)?.[1] : undefined;
    if (label !== undefined) {
      flush(at);
      done.push("", ...embedded(fences, label, { line: lineOf(at) }), "");
      continue;
    }
    if (!isMark && !isBlank) {
      if (heading.test(line)) flush(at);
      paragraph.push(line);
      if (heading.test(line)) flush(at + 1);
      continue;
    }
    flush(at);
    if (isComment) count(fences, "comment", "", lineOf(at));
    if (id !== undefined) {
      ids.push(idOf(id));
      fences.page.ids.add(idOf(id));
    }
    done.push("");
  }
  flush(lines.length);
  return done;
}
