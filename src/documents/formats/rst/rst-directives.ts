import {
  argumentOf,
  directiveName,
  type Handle,
  splitDirective,
  type Directive,
  readIncluded,
} from "./rst-include.ts";
import {
  type Line,
  textOf,
  mostLines,
  takeItem,
  toLines,
  countLines,
  isBlank,
  withFirst,
} from "./rst-lines.ts";
import {
  addText,
  type Block,
  inDefinition,
  leaveOut,
  nameOf,
  type Substitution,
  addRow,
  within,
  addCode,
  addMarkdown,
  type Reading,
} from "./rst-reading.ts";
import { generatedDirective } from "../directives.ts";
import { pictureOf, textDirectives } from "./rst-text-directives.ts";
import { CsvError, parse } from "csv-parse/sync";
import { textOf as valueText } from "../../front-matter/values.ts";
import { splitFrontMatter } from "../../front-matter/front-matter.ts";

function addCaption(reading: Reading, { options }: Directive): void {
  const caption = options.get("caption");
  if (caption !== undefined && caption !== "") addText(reading, caption);
}

const language = (text = ""): string => /^[\w+#.-]{1,30}$/.exec(text)?.[0] ?? "";

/** `code-block:: language`. */
const code: Handle = ({ reading }, directive) => {
  addCaption(reading, directive);
  const [first, ...rest] = directive.args;
  // Without a blank line, the lines below the language are code as well.
  const text = textOf([...rest, ...directive.body]);
  addCode(reading, text, language(first?.text.trim()));
};

/** Code whose first line can be beside the directive. */
function block(info: string): Handle {
  return ({ reading }, directive) => {
    addCaption(reading, directive);
    addCode(reading, textOf(directive.content).trim(), info);
  };
}

/** docutils, "Parsed Literal Block": code whose inline markup is markup. A fence shows its text alone. */
const parsed: Handle = ({ reading }, directive) => {
  addCode(reading, textOf(directive.content).trim(), "", true);
};

/** Code; the argument names a group or a file. */
function body(info: string): Handle {
  return ({ reading }, directive) => {
    addCaption(reading, directive);
    addCode(reading, textOf(directive.body), info);
  };
}

/** A tab with code: language and title. */
const codeTab: Handle = ({ reading }, directive) => {
  const [first = "", ...title] = argumentOf(directive).split(/\s+/);
  addText(reading, `**${title.join(" ") || first}**`);
  addCode(reading, textOf(directive.body), language(first));
};

const markdownText = /^(?:markdown|md|myst|recommonmark)/;

/** A file of the project, as text of this page. */
const include: Handle = (outer, directive) => {
  const { reading, readInner } = outer;
  const included = readIncluded(reading, directive);
  if (!included) return;
  const { options } = directive;
  if (options.has("literal") || options.has("code")) {
    return addCode(reading, included.text, language(options.get("code")));
  }
  if (markdownText.test(options.get("parser") ?? "")) {
    return addMarkdown(reading, splitFrontMatter(included.text, included.path).body);
  }
  reading.lineCount += countLines(included.text);
  if (reading.lineCount > mostLines) {
    const what = `${argumentOf(directive)}: the page has more than ${mostLines} lines`;
    return leaveOut(reading, "include", what, directive.line);
  }
  reading.chain.push(included.path);
  readInner(toLines(included.text, undefined), true);
  reading.chain.pop();
};

const literalInclude: Handle = ({ reading }, directive) => {
  const included = readIncluded(reading, directive);
  if (!included) return;
  addCaption(reading, directive);
  const { options } = directive;
  const parts = [options.get("prepend") ?? "", included.text, options.get("append") ?? ""];
  const text = parts.filter((each) => each !== "").join("\n");
  addCode(reading, text, language(options.get("language")));
};

/** `prompt:: bash $`: the prompt is shown before each line. */
const prompt: Handle = ({ reading }, { args, body: lines }) => {
  const [first = "", mark = ""] = (args[0]?.text ?? "").split(/\s+/);
  const shown = lines.map((line) => ({
    ...line,
    text: isBlank(line) || mark === "" ? line.text : `${mark} ${line.text}`,
  }));
  addCode(reading, textOf(shown), language(first));
};

/** Directives with code by name. */
const codeDirectives: ReadonlyMap<string, Handle> = new Map([
  ["code-block", code],
  ["code", code],
  ["sourcecode", code],
  ["parsed-literal", parsed],
  ["productionlist", body("")],
  ["doctest", body("pycon")],
  ["testcode", body("python")],
  ["testoutput", body("")],
  ["code-tab", codeTab],
  ["prompt", prompt],
  ["math", block("math")],
  ["graphviz", body("dot")],
  ["digraph", body("dot")],
  ["graph", body("dot")],
  ["mermaid", body("mermaid")],
  ["uml", body("plantuml")],
  ["include", include],
  ["literalinclude", literalInclude],
]);

const table: Handle = ({ reading, readInner }, directive) => {
  addText(reading, argumentOf(directive));
  readInner(directive.body);
};

const itemMark = /^[-+*](?: +|$)/;

/** The items of a list; undefined if something else is there. */
function itemsOf(lines: readonly Line[]): Line[][] {
  const items: Line[][] = [];
  for (let at = 0; at < lines.length;) {
    const marker = itemMark.exec(lines[at]?.text ?? "")?.[0];
    if (marker === undefined) {
      const line = lines[at];
      if (line && line.text !== "") items.push([line]);
      at++;
      continue;
    }
    const taken = takeItem(lines, at, marker.length);
    items.push(taken.lines);
    at = taken.next;
  }
  return items;
}

/** Adds a table; its first `heads` rows are its head. */
function addTable({ reading, readInner }: Block, rows: readonly Line[][][], heads: number): void {
  within(reading, "<table>", "</table>", () => {
    for (const [index, cells] of rows.entries()) {
      const read = cells.map((lines) => ({ columns: 1, rows: 1, read: () => readInner(lines) }));
      addRow(reading, read, index < heads);
    }
  });
}

/** A list of rows, each a list of cells. */
const listTable: Handle = (block, directive) => {
  addText(block.reading, argumentOf(directive));
  const rows = itemsOf(directive.body).map(itemsOf);
  addTable(block, rows, Number(directive.options.get("header-rows") ?? 0) || 0);
};

const delimiters: Readonly<Record<string, string>> = { tab: "\t", space: " " };

function recordsOf(text: string, { options }: Directive): string[][] {
  const delimiter = options.get("delim") ?? ",";
  try {
    return parse(text, {
      // Else the parser looks for it at each character of the first row.
      record_delimiter: "\n",
      delimiter: delimiters[delimiter] ?? (delimiter || ","),
      quote: options.get("quote") || '"',
      escape: options.get("escape") || options.get("quote") || '"',
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      ltrim: true,
    });
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    // A quote that is never closed: each line is a row.
    return text.split("\n").map((line) => [line]);
  }
}

const csvTable: Handle = (block, directive) => {
  const { reading } = block;
  const { options, line } = directive;
  addText(reading, argumentOf(directive));
  const file = options.get("file");
  const url = options.get("url");
  if (url !== undefined) leaveOut(reading, "include", `${url}: not in the project`, line);
  const named = file === undefined ? undefined : [{ text: file, number: line }];
  const included = named && readIncluded(reading, { ...directive, args: named });
  const text = included?.text ?? textOf(directive.body);
  const header = options.get("header");
  const records = [...(header ? recordsOf(header, directive) : []), ...recordsOf(text, directive)];
  // A cell costs as much memory as a line.
  reading.lineCount += records.reduce((sum, cells) => sum + cells.length, 0);
  if (reading.lineCount > mostLines) {
    const what = `${file ?? "csv-table"}: the page has more than ${mostLines} lines and cells`;
    return leaveOut(reading, file === undefined ? "directive" : "include", what, line);
  }
  const rows = records.map((cells) => cells.map((cell) => toLines(cell, undefined)));
  addTable(block, rows, header ? 1 : Number(options.get("header-rows") ?? 0) || 0);
};

/** Directives with tables by name. */
const tableDirectives: ReadonlyMap<string, Handle> = new Map([
  ["table", table],
  ["list-table", listTable],
  ["flat-table", listTable],
  ["csv-table", csvTable],
]);

// Directives that describe an object without a domain in their name.
const plainNames = new Set(
  "templatetag templatefilter fieldlookup function method classmethod staticmethod attribute property data exception class decorator decoratormethod type option cmdoption envvar confval describe object event setting opcode pdbcommand program-option describe-option token".split(
    " ",
  ),
);

/** Whether a directive describes an object: `function`, `py:function`, `rst:role`. */
const isSignature = (name: string): boolean => plainNames.has(name) || name.includes(":");

// Words that the page shows before a name: by option, and by the last part of the directive.
const flags: readonly [option: string, word: string][] = [
  ["final", "final "],
  ["abstractmethod", "abstract "],
  ["async", "async "],
  ["classmethod", "classmethod "],
  ["staticmethod", "static "],
];
const kinds: ReadonlyMap<string, string> = new Map([
  ["class", "class "],
  ["exception", "exception "],
  ["classmethod", "classmethod "],
  ["staticmethod", "static "],
  ["property", "property "],
  ["decorator", "@"],
  ["decoratormethod", "@"],
]);

// Targets of Django's documentation: a page shows nothing of them.
const targets = new Set(["setting", "templatetag", "templatefilter", "fieldlookup"]);

// Options that the page shows below a signature.
const shownOptions = { type: "Type", default: "Default", value: "Value" };

// sphinx-doc.org, "add_module_names": the module stands before the names of its own objects.
const ofModule = /^(?:py:)?(?:function|class|exception|data|decorator)$/;

/** The module before a signature that names none. */
function moduleOf({ module, around }: Reading, name: string, signature: string): string {
  const isOwn =
    module !== "" && ofModule.test(name) && /^[A-Za-z_]\w*(?:\W|$)(?<!\.)/.test(signature);
  const isShown = isOwn && valueText(around.site?.value("add_module_names")) !== "false";
  return isShown ? `${module}.` : "";
}

/** Signatures, one on each line, with their types and defaults, and what they do. */
const describe: Handle = ({ reading, readInner }, { name, args, options, body }) => {
  if (targets.has(name) && body.length === 0) return;
  const joined = args.map(({ text }) => text.trim()).join("\n");
  const signatures = joined.replace(/\\\n */g, " ").split("\n");
  const kind = kinds.get(name.slice(name.lastIndexOf(":") + 1)) ?? "";
  const words = flags.map(([option, word]) => (options.has(option) ? word : "")).join("") + kind;
  const terms = signatures.map((written) => {
    const own = moduleOf(reading, name, written) + written;
    const signature = written.startsWith(words) && words !== "" ? written : words + own;
    // Nothing in a signature is markup, but a backslash protects the character after it.
    const text = signature.replace(/\\(.)/g, "$1");
    return text.includes("`") ? signature : `\`\`${text}\`\``;
  });
  inDefinition(reading, terms, () => {
    for (const [option, label] of Object.entries(shownOptions)) {
      const value = options.get(option);
      if (!value) continue;
      const isMarkup = name === "confval" || value.includes("`");
      addText(reading, `${label}: ${isMarkup ? value : `\`\`${value}\`\``}`);
    }
    const { module } = reading;
    reading.module = "";
    // Sphinx allows sections in the description of an object.
    readInner(body, true);
    reading.module = module;
  });
};

/**
 * Its argument, often the name of what it shows, and its content stay. Counts the directive, unless
 * it is nothing but a box around its content.
 */
const unknown: Handle = (block, directive) => {
  const { name, line, body } = directive;
  const argument = argumentOf(directive);
  const isGenerated = generatedDirective.test(name);
  const isBox = argument === "" && body.some(({ text }) => text.trim() !== "");
  if (isGenerated || !isBox) {
    leaveOut(block.reading, "directive", isGenerated ? `${name} ${argument}`.trim() : name, line);
  }
  if (isGenerated) return describe(block, directive);
  addText(block.reading, argument);
  block.readInner(body);
};

function handlerOf(name: string): Handle {
  const handle = textDirectives.get(name) ?? codeDirectives.get(name) ?? tableDirectives.get(name);
  return handle ?? (isSignature(name) ? describe : unknown);
}

/** Reads a directive. Returns whether it is one. */
export function readDirective(block: Block, lines: Line[], rest: string): boolean {
  const [marker, name] = directiveName.exec(rest) ?? [];
  if (marker === undefined || name === undefined) return false;
  const directive = splitDirective(name, withFirst(lines, rest.slice(marker.length)));
  const given = directive.options.get("name");
  if (given) block.reading.names.add(nameOf(given));
  const isModule = /^(?:py:)?(?:current)?module$/.test(directive.name);
  if (isModule) block.reading.module = argumentOf(directive).replace(/^None$/, "");
  handlerOf(directive.name)(block, directive);
  return true;
}

/** The text of `unicode::`: codes are characters, other words stay. */
function readCodes(text: string): string {
  const words = text.replace(/\s\.\.\s.*$/, "").split(/\s+/);
  return words
    .map((word) => {
      const code = /^(?:0x|x|\\x|U\+?|u|\\u|&#x)([\da-fA-F]{1,6});?$/.exec(word)?.[1];
      const value = code === undefined ? Number.NaN : Number.parseInt(code, 16);
      const decimal = /^\d{1,7}$/.test(word) ? Number(word) : Number.NaN;
      const point = Number.isNaN(value) ? decimal : value;
      return point <= 0x10ffff && point > 0 ? String.fromCodePoint(point) : word;
    })
    .join("");
}

/**
 * What a substitution definition stands for: `replace:: text`, `image:: file`. An image without a text
 * of its own has the name of the definition (docutils, "Substitution References").
 */
export function readSubstitution(lines: readonly Line[], own: string): Substitution | undefined {
  const text = lines[0]?.text.trimStart() ?? "";
  const [marker, name] = directiveName.exec(text) ?? [];
  if (marker === undefined || name === undefined) return undefined;
  const directive = splitDirective(name, withFirst(lines, text.slice(marker.length)));
  if (directive.name === "image") return { kind: "html", text: pictureOf(directive, own) };
  if (directive.name === "raw") {
    const isHtml = /html/i.test(argumentOf(directive));
    return { kind: "html", text: isHtml ? textOf(directive.body) : "" };
  }
  const shown = textOf(directive.content).trim();
  return { kind: "text", text: directive.name === "unicode" ? readCodes(shown) : shown };
}
