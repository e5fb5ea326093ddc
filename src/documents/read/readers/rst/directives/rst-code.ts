import { splitFrontMatter } from "../../../../front-matter/front-matter.ts";
import { argumentOf, type Directive, type Handle } from "./rst-directive.ts";
import { readIncluded } from "./rst-include.ts";
import { countLines, isBlank, mostLines, textOf, toLines } from "../blocks/rst-lines.ts";
import { addCode, addMarkdown, addText, leaveOut, type Reading } from "../rst-reading.ts";

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
export const codeDirectives: ReadonlyMap<string, Handle> = new Map([
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
