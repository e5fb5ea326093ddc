import { boxLabels, directiveNames, isForWeb, versionLabels } from "../directives.ts";
import { argumentOf, type Directive, type Handle, pageOf } from "./rst-include.ts";
import { textOf } from "./rst-lines.ts";
import { imageHtml } from "./rst-inline.ts";
import { addHtml, addText, inItem, leaveOut, nameOf, within, type Block } from "./rst-reading.ts";

/** Content only; the argument is a name or a number of columns. */
const inner: Handle = (block, { body }) => block.readInner(body);

/** Content without arguments. */
const whole: Handle = (block, { content }) => block.readInner(content);

/** Content that can have sections, for pages of some formats. */
const part: Handle = (block, directive) => {
  if (isForWeb(argumentOf(directive))) block.readInner(directive.body, true);
};

const longestEntry = 500;

const nothing: Handle = () => undefined;

function addLabel({ reading }: Block, label: string): void {
  addText(
    reading,
    `**${label.replace(/\*+|\s+/g, (found) => (found.startsWith("*") ? "" : " "))}**`,
  );
}

function labelled(label: string): Handle {
  const title = `<div class="admonition"><p class="admonition-title">${label}</p>`;
  return (block, directive) =>
    within(block.reading, title, "</div>", () => whole(block, directive));
}

/** A title and content. */
const titled: Handle = (block, directive) => {
  const title = argumentOf(directive);
  const { body, options } = directive;
  if (title !== "") addTitleText(block, title);
  for (const name of ["title", "subtitle", "summary"]) {
    const more = options.get(name);
    if (more !== undefined && more !== "") addTitleText(block, more);
  }
  block.readInner(body);
};

/** Titles with roles, links or emphasis stay as they are: emphasis does not nest. */
function addTitleText(block: Block, title: string): void {
  if (/[`*_|\\]/.test(title)) addText(block.reading, title);
  else addLabel(block, title);
}

/** `versionadded:: 3.1 Text`. */
function versioned(label: string, count = 1): Handle {
  return (block, directive) => {
    const words = argumentOf(directive).split(/\s+/);
    const versions = words.slice(0, count).join(", removed in version ");
    const text = words.slice(count).join(" ");
    const end = text === "" && directive.body.length === 0 ? "." : ":";
    addText(block.reading, `**${label} ${versions}${end}** ${text}`.trim());
    block.readInner(directive.body);
  };
}

export const pictureOf = (directive: Directive, alt = ""): string =>
  imageHtml(argumentOf(directive).replace(/\s+/g, ""), directive.options.get("alt") ?? alt);

const picture: Handle = ({ reading }, directive) =>
  addHtml(reading, `<p>${pictureOf(directive)}</p>`);

const figure: Handle = (block, directive) => {
  picture(block, directive);
  block.readInner(directive.body);
};

const raw: Handle = ({ reading }, directive) => {
  const { options, body, line } = directive;
  if (!/html/i.test(argumentOf(directive))) return;
  const file = options.get("file") ?? options.get("url");
  if (file !== undefined) leaveOut(reading, "directive", `raw html ${file}`, line);
  addHtml(reading, textOf(body));
};

/** Caption and entries: titles of other pages. A hidden one is for the navigation alone. */
const toctree: Handle = ({ reading }, { options, body }) => {
  if (options.has("hidden")) return;
  const caption = options.get("caption");
  if (caption !== undefined && caption !== "") addText(reading, caption);
  for (const { text } of body) {
    // sphinx-doc.org, "toctree": a name may have its extension.
    const entry = text.trim().replace(/\.(?:rst|md|txt)(?=>?$)/, "");
    const isExplicit = entry.endsWith(">") && / <[^<]*$/.test(entry.slice(-longestEntry));
    const page = pageOf(reading, entry);
    const name = entry.slice(entry.lastIndexOf("<") + 1, -1);
    const isAddress = /^https?:/.test(name);
    const shown = isAddress ? `\`${entry}\`__` : `:doc:\`${entry}\``;
    if (isExplicit || page?.title !== undefined) inItem(reading, () => addText(reading, shown));
  }
};

const role: Handle = ({ reading }, directive) => {
  const name = /^([\w.+:-]+) *\(raw\)/.exec(argumentOf(directive))?.[1];
  if (name !== undefined) reading.rawRoles.add(nameOf(name));
};

const buttonLink: Handle = (block, directive) => {
  const isNamed = textOf(directive.body).trim() !== "";
  if (isNamed) inner(block, directive);
  else addText(block.reading, argumentOf(directive));
};

const list = (names: string, handle: Handle): [string, Handle][] =>
  names.split(" ").map((name) => [name, handle]);

/** Directives of running text by name: docutils, Sphinx, and the well-known extensions. */
export const textDirectives: ReadonlyMap<string, Handle> = new Map([
  ...Object.entries(boxLabels).map(([name, label]): [string, Handle] => [name, labelled(label)]),
  ...Object.entries(versionLabels).map(([name, label]): [string, Handle] => [
    name,
    versioned(label),
  ]),
  ...list("deprecated-removed", versioned("Deprecated since version", 2)),
  ...list(directiveNames.titled, titled),
  ...list(directiveNames.part, part),
  ...list(directiveNames.inner, inner),
  ...list(directiveNames.whole, whole),
  ...list("image thumbnail", picture),
  ...list("figure", figure),
  ...list("raw", raw),
  ...list("toctree", toctree),
  ...list("role", role),
  ...list("button-link button-ref", buttonLink),
  ...list(directiveNames.nothing, nothing),
]);
