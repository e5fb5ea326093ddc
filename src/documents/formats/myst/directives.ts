import { posix } from "node:path";
import {
  boxLabels,
  directiveNames,
  generatedDirective,
  isForWeb,
  versionLabels,
} from "../directives.ts";
import { readIncluded } from "../rst/rst-include.ts";
import { splitFrontMatter } from "../../front-matter/front-matter.ts";
import { destination } from "../markdown/blocks.ts";
import {
  boldLine,
  codeLines,
  count,
  type Directive,
  type Fence,
  type Fences,
  inner,
} from "./fence.ts";
import { embedded, pictureLines } from "./embed.ts";
import { idOf } from "./page.ts";
import { asMyst } from "./rst.ts";
import { readInline } from "./text.ts";
import { csvTable, listTable } from "./tables.ts";

type Show = (fences: Fences, directive: Directive) => string[];

/** A title on a line of its own. One with markup stays as it is: emphasis does not nest. */
function titleLines(fences: Fences, title: string): string[] {
  if (title.trim() === "") return [];
  const shown = readInline(fences, title);
  return [boldLine(shown), ""];
}

const body: Show = (fences, directive) => inner(fences, directive, directive.body);

/** Content that begins on the first line. */
const whole: Show = (fences, directive) => {
  const { argument, body: lines } = directive;
  if (argument === "") return body(fences, directive);
  const first = directive.first === undefined ? undefined : directive.first - 1;
  return inner(fences, { ...directive, first }, [argument, ...lines]);
};

const titled: Show = (fences, directive) => {
  const { argument, options } = directive;
  const link = options.get("link");
  const isAddress = link !== undefined && /^https?:/.test(link) && !/[[\]]/.test(argument);
  const title = isAddress && argument ? `[${argument}](${destination(link)})` : argument;
  const more = ["header", "title", "subtitle", "summary"].map((name) => options.get(name) ?? "");
  const footer = readInline(fences, options.get("footer") ?? "");
  const titles = [title, ...more].flatMap((each) => titleLines(fences, each));
  return [...titles, ...body(fences, directive), ...(footer === "" ? [] : ["", footer])];
};

/** mystmd.org, "Callouts & Admonitions": the first line is a title. In MyST-Parser it is content. */
function box(label: string): Show {
  return (fences, directive) => {
    const { page } = fences;
    const hasTitle = page.isMystmd && directive.argument !== "";
    if (hasTitle) return titled(fences, directive);
    const hasHeading = /^\s*#{1,6}[ \t]/.test(directive.body.find((line) => line !== "") ?? "");
    if (page.isMystmd && hasHeading) return body(fences, directive);
    return [`**${label}**`, "", ...whole(fences, directive)];
  };
}

function versioned(label: string): Show {
  return (fences, directive) => {
    const [version = "", ...words] = directive.argument.split(/\s+/);
    const lines = body(fences, directive);
    const end = words.length === 0 && lines.every((line) => line.trim() === "") ? "." : ":";
    const text = readInline(fences, words.join(" "));
    return [`**${label} ${version}${end}** ${text}`.trim(), "", ...lines];
  };
}

/** `Theorem (Title)`, `Exercise`. */
const proof: Show = (fences, directive) => {
  const name = directive.name.replace(/^prf:|-start$/g, "").replaceAll("-", " ");
  const word = name.charAt(0).toUpperCase() + name.slice(1);
  const isSolution = name === "solution";
  const title = directive.argument === "" || isSolution ? "" : ` (${directive.argument})`;
  return [...titleLines(fences, word + title), ...body(fences, directive)];
};

/** Without an argument the body has the images. */
const figure: Show = (fences, directive) => [
  ...pictureLines(fences, directive),
  "",
  ...body(fences, directive),
];

const embed: Show = (fences, directive) => embedded(fences, directive.argument, directive);

const raw: Show = (_fences, { argument, body: lines }) =>
  /html/i.test(argument) ? [...lines] : [];

const nothing: Show = () => [];

/** The caption of code, and its name in mystmd. */
const caption = (fences: Fences, { options }: Directive): string[] =>
  ["filename", "caption"].flatMap((name) => {
    const text = readInline(fences, options.get(name) ?? "");
    return text === "" ? [] : [text, ""];
  });

const removes = /remove[-_](?:cell|input)/;

/** Code; of a cell, tags can hide it: mystnb, "Hide cell contents". */
function code(language?: string): Show {
  return (fences, directive) => {
    const { argument, options, body: lines, line } = directive;
    if (!fences.page.keepsHidden && removes.test(options.get("tags") ?? "")) {
      count(fences, "hidden", "code-cell", line);
      return [];
    }
    const name = language ?? argument.split(/\s+/, 1)[0] ?? "";
    const shown = /^(?:ipython\d?|python3)$/.test(name) ? "python" : name;
    return [...caption(fences, directive), ...codeLines(lines, shown)];
  };
}

/** mystmd.org, "Demo": an example as written, and what it shows. */
const demo: Show = (fences, directive) => [
  ...codeLines(directive.body, "markdown"),
  "",
  ...body(fences, directive),
];

const math: Show = (_fences, { argument, body: lines }) => [
  "$$",
  ...(argument === "" ? lines : [argument, ...lines]),
  "$$",
];

/** The directive as the reader of reStructuredText has it, for included files. */
function included(fences: Fences, directive: Directive) {
  const { name, argument, line } = directive;
  const options = new Map(directive.options);
  const args = [{ text: argument, number: line }];
  return readIncluded(fences.reading, { name, args, options, body: [], content: [], line });
}

/**
 * The text of an included file whose links count from that file. MyST-Parser, "Include other documents":
 * `relative-docs` names what the links begin with that do.
 */
function relativeDocs(
  text: string,
  path: string,
  { reading }: Fences,
  options: Directive["options"],
): string {
  const start = options.get("relative-docs");
  if (start === undefined || start === "") return text;
  const page = posix.dirname(reading.chain[0] ?? "");
  const folder = posix.relative(page, posix.dirname(path));
  return text.replaceAll(`](${start}`, `](${folder}/${start}`);
}

const include: Show = (fences, directive) => {
  const found = included(fences, directive);
  if (!found) return [];
  const { options } = directive;
  const { text, path } = found;
  const isCode = options.has("literal") || options.has("code") || options.has("lang");
  if (isCode) return codeLines(text.split("\n"), options.get("code") ?? options.get("lang") ?? "");
  fences.reading.chain.push(path);
  const source = relativeDocs(splitFrontMatter(text, path).body, path, fences, options);
  const isRst =
    /\.(?:rst|rest)$/i.test(path) || /rst|restructured/i.test(options.get("parser") ?? "");
  const lines = inner(
    fences,
    { ...directive, first: undefined },
    isRst ? asMyst(source.split("\n")) : source.split("\n"),
    true,
  );
  fences.reading.chain.pop();
  return lines;
};

const literalInclude: Show = (fences, directive) => {
  const found = included(fences, directive);
  const { options } = directive;
  const language = options.get("language") ?? options.get("lang") ?? "";
  if (!found) return [];
  return [...caption(fences, directive), ...codeLines(found.text.trimEnd().split("\n"), language)];
};

const evalRst: Show = (fences, directive) =>
  inner(fences, { ...directive, first: undefined }, asMyst(directive.body), true);

/** A part that is on some pages only. */
const part: Show = (fences, directive) =>
  isForWeb(directive.argument) ? body(fences, directive) : [];

const table =
  (rowsOf: (fences: Fences, directive: Directive) => string[]): Show =>
  (fences, directive) => [...titleLines(fences, directive.argument), ...rowsOf(fences, directive)];

/** Its content stays, and its argument. Counted, unless it is nothing but a box around content. */
const unknown: Show = (fences, directive) => {
  const { name, argument, body: lines, line } = directive;
  const isGenerated = generatedDirective.test(name);
  const isBox = argument === "" && lines.some((text) => text.trim() !== "");
  if (isGenerated || !isBox) {
    count(fences, "directive", isGenerated ? `${name} ${argument}`.trim() : name, line);
  }
  return [...titleLines(fences, argument), ...body(fences, directive)];
};

const list = (names: string, show: Show): [string, Show][] =>
  names.split(" ").map((name) => [name, show]);

// docutils, Sphinx and their extensions; mystmd.org, "Directives"; sphinx-design; sphinx-exercise
// and sphinx-proof; mystnb.
const directives: ReadonlyMap<string, Show> = new Map([
  ...Object.entries(boxLabels).map(([name, label]): [string, Show] => [name, box(label)]),
  ...Object.entries(versionLabels).map(([name, label]): [string, Show] => [name, versioned(label)]),
  ...list(directiveNames.titled, titled),
  ...list("margin aside", titled),
  ...list(directiveNames.part, part),
  ...list(directiveNames.inner, body),
  ...list("div subfigure figure-md col row admonition-block", body),
  ...list(directiveNames.whole, whole),
  ...list("blockquote attribution", whole),
  ...list(directiveNames.nothing, nothing),
  ...list("toctree toc tableofcontents exercise-end solution-end", nothing),
  ...list(
    "exercise exercise-start solution solution-start proof theorem lemma definition axiom corollary algorithm example property proposition conjecture criterion observation assumption remark",
    proof,
  ),
  ...list("image thumbnail", pictureLines),
  ...list("figure", figure),
  ...list("embed", embed),
  ...list("myst", demo),
  ...list("raw", raw),
  ...list("code-block code sourcecode code-cell", code()),
  ...list("parsed-literal productionlist testoutput", code("")),
  ...list("testcode", code("python")),
  ...list("doctest", code("pycon")),
  ...list("mermaid", code("mermaid")),
  ...list("graphviz digraph graph", code("dot")),
  ...list("math", math),
  ...list("include", include),
  ...list("literalinclude", literalInclude),
  ...list("eval-rst", evalRst),
  ...list("table", titled),
  ...list("list-table flat-table", table(listTable)),
  ...list("csv-table", table(csvTable)),
]);

// Of these names, a fence in plain Markdown is more likely code of that name.
const codeNames = new Set(["mermaid", "graph", "digraph", "code", "math", "raw", "table", "row"]);

/** Whether a name in the braces of a fence is that of a directive, in Markdown of any generator. */
export const isDirective = (name: string): boolean =>
  directives.has(name.toLowerCase()) && !codeNames.has(name);

const optionLine = /^[ \t]*:([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/;
const yamlLine = /^([A-Za-z][\w-]*)[ \t]*:(?:[ \t]+(.*))?$/;

/** The options at the start of a body, and the number of their lines. */
function optionsOf(lines: readonly string[]): { options: Map<string, string>; length: number } {
  const options = new Map<string, string>();
  const isYaml = /^---[ \t]*$/.test(lines[0] ?? "");
  const close = isYaml ? lines.findIndex((line, at) => at > 0 && /^---[ \t]*$/.test(line)) : -1;
  if (isYaml && close === -1) return { options, length: 0 };
  let last = "";
  let at = isYaml ? 1 : 0;
  for (; isYaml ? at < close : optionLine.test(lines[at] ?? ""); at++) {
    const line = lines[at] ?? "";
    const [, key, value = ""] = (isYaml ? yamlLine : optionLine).exec(line) ?? [];
    if (key === undefined) options.set(last, `${options.get(last) ?? ""} ${line.trim()}`.trim());
    else options.set((last = key), value.trim().replace(/^(["'])(.*)\1$/, "$2"));
  }
  return { options, length: isYaml ? close + 1 : at };
}

/** `{name #id .class key="value"}` of mystmd. */
function addAttributes(options: Map<string, string>, text: string): void {
  const id = /#([^\s.#]+)/.exec(text)?.[1];
  if (id !== undefined) options.set("name", id);
  for (const [, key = "", value = ""] of text.matchAll(/([A-Za-z][\w-]*)="([^"]*)"/g)) {
    options.set(key, value);
  }
}

function handlerOf(name: string): Show {
  const plain = name.toLowerCase();
  return directives.get(plain) ?? (plain.startsWith("prf:") ? proof : unknown);
}

/** The lines that a directive shows. */
export function showDirective(
  fences: Fences,
  { body: lines, line }: Fence,
  head: { name: string; options: string; argument: string },
): string[] {
  const { options, length } = optionsOf(lines);
  addAttributes(options, head.options);
  const id = options.get("name") ?? options.get("label");
  if (id) fences.page.ids.add(idOf(id));
  return handlerOf(head.name)(fences, {
    name: head.name.toLowerCase(),
    argument: head.argument.trim(),
    options,
    body: lines.slice(length),
    line,
    first: line === undefined ? undefined : line + 1 + length,
  });
}
