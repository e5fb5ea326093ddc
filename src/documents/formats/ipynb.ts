import { CliError } from "../../errors.ts";
import { isJsonObject, type JsonObject } from "../front-matter/values.ts";
import { pageFromHtml } from "../page/page.ts";
import { plainText } from "../text/heading-text.ts";
import type { LeftOut } from "../text/left-out.ts";
import { jsonErrorAt, jsonProblem } from "../text/json-text.ts";
import { scanStructure } from "../text/structure.ts";
import type { Parsed, Surroundings } from "./format.ts";
import { readMarkdown } from "./markdown/markdown.ts";
import { codeLines } from "./myst/fence.ts";
import { closed, objectOf, objectsOf, textOf } from "./notebook-sources.ts";

/** A longer text of an output is cut after a line. */
const mostOutputChars = 100_000;
/** Longer HTML of an output is data. */
const mostHtmlChars = 2_000_000;

interface Notebook {
  path: string;
  around: Surroundings;
  /** Name of the language of the kernel; "" if it is unknown. */
  language: string;
  leftOut: LeftOut[];
}

const leaveOut = (
  { leftOut }: Notebook,
  what: string,
  kind: LeftOut["kind"] = "output",
): string => {
  leftOut.push({ kind, what, line: undefined });
  return "";
};

/** Text as a block of code. Colours of a terminal are no text. */
function fenced(notebook: Notebook, text: string): string {
  const plain = text
    // oxlint-disable-next-line no-control-regex
    .replace(/\x1b\[[\d;?]{0,50}[A-Za-z]/g, "")
    .replace(/\r\n?/g, "\n")
    .replace(/^\n+|\s+$/g, "");
  if (plain.trim() === "") return "";
  return codeLines(bounded(notebook, plain).split("\n"), "").join("\n");
}

function bounded(notebook: Notebook, text: string): string {
  if (text.length <= mostOutputChars) return text;
  const end = text.lastIndexOf("\n", mostOutputChars);
  leaveOut(notebook, `the end of a text of ${text.length} characters`);
  return text.slice(0, end > 0 ? end : mostOutputChars);
}

function htmlOf(notebook: Notebook, html: string): string {
  if (html.length > mostHtmlChars) return leaveOut(notebook, `HTML of ${html.length} characters`);
  try {
    return bounded(notebook, pageFromHtml(html, { path: notebook.path }).body.trim());
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return leaveOut(notebook, "HTML that cannot be read");
  }
}

const isImage = (type: string): boolean => type.startsWith("image/");
const isProgram = (type: string): boolean =>
  /^application\/(?:javascript|vnd\.)/.test(type) && type !== "application/vnd.plotly.v1+html";

/**
 * What one output shows, of its forms the first one that nbconvert shows: HTML, Markdown, an image,
 * formulas, plain text. Scripts and widgets need a browser.
 */
function bundleText(notebook: Notebook, data: JsonObject): string {
  const of = (type: string): string => textOf(data[type]);
  const types = Object.keys(data);
  const html = of("text/html");
  const page = html === "" ? "" : htmlOf(notebook, html);
  if (page !== "") return page;
  const markdown = of("text/markdown");
  if (markdown.trim() !== "") return bounded(notebook, closed(markdown));
  const image = types.find(isImage);
  if (image !== undefined) return leaveOut(notebook, image);
  const program = types.find(isProgram) ?? (html === "" ? undefined : "text/html");
  if (program !== undefined) return leaveOut(notebook, program);
  const latex = of("text/latex");
  return latex.trim() === "" ? fenced(notebook, of("text/plain")) : bounded(notebook, latex);
}

// nbformat 3 has the forms under short names.
const shortNames: Readonly<Record<string, string>> = {
  text: "text/plain",
  html: "text/html",
  latex: "text/latex",
  png: "image/png",
  jpeg: "image/jpeg",
  svg: "image/svg+xml",
  javascript: "application/javascript",
};

function outputText(notebook: Notebook, output: JsonObject): string {
  const type = output["output_type"];
  if (type === "stream") return fenced(notebook, textOf(output["text"]));
  if (type === "error" || type === "pyerr") {
    const [name, value] = ["ename", "evalue"].map((key) => textOf(output[key]));
    return fenced(notebook, [name, value].filter((text) => text !== "").join(": "));
  }
  if (isJsonObject(output["data"])) return bundleText(notebook, output["data"]);
  const forms = Object.entries(shortNames).filter(([name]) => output[name] !== undefined);
  return bundleText(
    notebook,
    Object.fromEntries(forms.map(([name, mime]) => [mime, output[name]])),
  );
}

/** Texts of a stream that follow each other are one. */
function outputsText(notebook: Notebook, outputs: readonly JsonObject[]): string[] {
  const joined: JsonObject[] = [];
  for (const output of outputs) {
    const last = joined.at(-1);
    const isSame = last?.["output_type"] === "stream" && output["output_type"] === "stream";
    const name = (each: JsonObject | undefined): unknown => each?.["name"] ?? each?.["stream"];
    if (isSame && name(last) === name(output)) {
      last["text"] = textOf(last["text"]) + textOf(output["text"]);
    } else joined.push({ ...output });
  }
  return joined.map((output) => outputText(notebook, output));
}

// myst-nb.readthedocs.io, "Hide and remove cell contents"; nbconvert, "Removing cells": what is only
// folded (hide-cell) stays.
function tagsOf(cell: JsonObject): ReadonlySet<string> {
  const { tags, hide_input: hidesInput } = objectOf(cell["metadata"]);
  const names = Array.isArray(tags) ? tags.filter((tag) => typeof tag === "string") : [];
  const all = names.map((tag) => tag.replaceAll("_", "-"));
  return new Set(hidesInput === true ? [...all, "remove-input"] : all);
}

function codeText(notebook: Notebook, cell: JsonObject): string[] {
  const tags = tagsOf(cell);
  const source = textOf(cell["source"] ?? cell["input"]);
  const outputs = objectsOf(cell["outputs"]);
  const isKept = notebook.around.keepsHidden === true;
  const hide = (): string[] => {
    leaveOut(notebook, "cell", "hidden");
    return [];
  };
  if (tags.has("remove-cell") && !isKept) return hide();
  const language = notebook.language || textOf(cell["language"]);
  // Quarto reads options in the first lines of a cell.
  const isQuarto = notebook.around.site?.generator === "quarto" && source.startsWith("#|");
  const name = isQuarto ? `{${language}}` : language;
  const code = source.trim() === "" ? [] : codeLines(source.trimEnd().split("\n"), language);
  if (isQuarto && code.length > 0) code[0] = (code[0] ?? "").replace(language, name);
  const shown = tags.has("remove-input") && !isKept ? hide() : [code.join("\n")];
  const hasOutput =
    !tags.has("remove-output") && !/^#\|[ \t]*(?:include|output):[ \t]*false/m.test(source);
  return [...shown, ...(hasOutput ? outputsText(notebook, outputs) : [])];
}

/** Text for one kind of output. nbconvert shows that of web pages and that of no kind. */
function rawText(notebook: Notebook, cell: JsonObject): string {
  const { format, raw_mimetype: mime } = objectOf(cell["metadata"]);
  const type = textOf(mime) || textOf(format);
  const source = textOf(cell["source"]);
  if (/^(?:|text\/(?:html|markdown|plain))$/.test(type)) return closed(source);
  return source.trim() === "" ? "" : leaveOut(notebook, `raw ${type}`);
}

function cellText(notebook: Notebook, cell: JsonObject): string[] {
  const source = textOf(cell["source"]);
  switch (cell["cell_type"]) {
    case "markdown":
      return tagsOf(cell).has("remove-cell") && !notebook.around.keepsHidden
        ? [leaveOut(notebook, "cell", "hidden")]
        : [closed(source)];
    case "heading": {
      const level = Math.min(Math.max(Number(cell["level"]) || 1, 1), 6);
      return [`${"#".repeat(level)} ${source.replace(/\s+/g, " ")}`];
    }
    case "code":
      return codeText(notebook, cell);
    case "raw":
      return [rawText(notebook, cell)];
    default:
      return [];
  }
}

const wholeMatter = /^---[ \t]*\n[^]*?\n---[ \t]*$/;

/** The cells of a notebook as one Markdown text. The first cell can be front matter. */
function textOfCells(notebook: Notebook, cells: readonly JsonObject[]): string {
  const [first] = cells;
  const isText = first?.["cell_type"] === "raw" || first?.["cell_type"] === "markdown";
  const matter = isText ? textOf(first["source"]).trim() : "";
  const hasMatter = wholeMatter.test(matter);
  const blocks = cells.slice(hasMatter ? 1 : 0).flatMap((cell) => cellText(notebook, cell));
  const text = blocks.filter((block) => block.trim() !== "").join("\n\n");
  return `${hasMatter ? matter : ""}\n${text}\n`;
}

function refuse(place: string, problem: string): never {
  throw new CliError("usage", `${place}: no Jupyter notebook: ${problem}`, {
    hints: ["open and save it in Jupyter, or exclude it"],
  });
}

function parse(text: string, path: string): unknown {
  const at = jsonErrorAt(text);
  if (at === undefined) return JSON.parse(text);
  const before = text.slice(0, at).split("\n");
  const column = (before.at(-1) ?? "").length + 1;
  return refuse(`${path}:${before.length}:${column}`, jsonProblem(text, at));
}

/**
 * Reads a Jupyter notebook (nbformat 3 and 4) as Markdown: the texts, the code, and what the code
 * printed, in the order of the cells. Images, scripts and widgets of outputs are counted. Throws
 * CliError `usage` with `path:line:column` for broken JSON.
 */
export function readNotebook(text: string, path: string, around: Surroundings): Parsed {
  const root = objectOf(parse(text, path));
  const metadata = objectOf(root["metadata"]);
  const sheets = objectsOf(root["worksheets"]).map((sheet) => sheet["cells"]);
  const lists = root["cells"] === undefined ? sheets : [root["cells"]];
  if (!lists.some((list) => Array.isArray(list))) refuse(path, "it has no cells");
  const language =
    textOf(objectOf(metadata["kernelspec"])["language"]) ||
    textOf(objectOf(metadata["language_info"])["name"]);
  const notebook: Notebook = { path, around, language, leftOut: [] };
  const markdown = textOfCells(notebook, lists.flatMap(objectsOf));
  const { removed: _removed, leftOut = [], ...parsed } = readMarkdown(markdown, path, around);
  const all = [...leftOut.map((each) => ({ ...each, line: undefined })), ...notebook.leftOut];
  const [heading] = scanStructure(parsed.body).headings;
  const title = (heading && plainText(heading.text)) || textOf(metadata["title"]);
  return {
    ...parsed,
    bodyLine: 1,
    ...(all.length > 0 ? { leftOut: all } : {}),
    ...(title === "" ? {} : { title }),
  };
}
