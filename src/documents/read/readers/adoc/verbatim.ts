import { fenced } from "../html/html-blocks.ts";
import { readHtml } from "../html.ts";
import { substitute } from "./source/attributes.ts";
import { addBlock, textLines, type BlockAttributes, type State } from "./state.ts";

/** The lines up to the delimiter, or up to the end of the text if it never comes. */
export function linesUntil({ lines }: Pick<State, "lines">, delimiter: string): string[] {
  const taken: string[] = [];
  for (
    let line = lines.next();
    line !== undefined && line.text !== delimiter;
    line = lines.next()
  ) {
    taken.push(line.text);
  }
  return taken;
}

/** Numbers the callouts `<.>` of code as the list below it does. */
function numberCallouts(state: State, text: string): string {
  return text.replace(/<\.>/g, () => `<${++state.callouts}>`);
}

function languageOf({ positional, named, style }: BlockAttributes): string {
  const language =
    named.get("language") ?? (style === "source" || style === "" ? positional[1] : "");
  return /^[\w+#-]{1,30}$/.exec(language ?? "")?.[0] ?? "";
}

/** Code, or other text that stays as it is. */
export function addCode(state: State, written: string, attributes: BlockAttributes): void {
  const subs = attributes.named.get("subs") ?? "";
  const isSubstituted = /attributes|normal|\ba\b/.test(subs) && !subs.includes("-attributes");
  const text = isSubstituted ? substitute(state.context.attributes, written) : written;
  const fence = fenced(numberCallouts(state, text));
  addBlock(state, fence.replace(/^`+/, `$&${languageOf(attributes)}`));
}

/** The text of HTML that the page takes as it is. */
function addHtml(state: State, html: string): void {
  const { body } = readHtml(html.replaceAll("<!--", "<!-- "), state.context.path);
  addBlock(state, body.trimEnd());
}

/** A paragraph or block whose style says how its text is read. Returns false for running text. */
export function addStyled(state: State, text: string, attributes: BlockAttributes): boolean {
  const { style } = attributes;
  if (style === "comment") {
    state.lines.leaveOutComment();
    return true;
  }
  if (style === "pass") addHtml(state, text);
  else if (style === "verse") addBlock(state, textLines(state, text));
  else if (/^(?:source|listing|literal|stem|latexmath|asciimath)$/.test(style)) {
    addCode(state, text, attributes);
  } else return false;
  return true;
}

/** A delimited block without blocks in it: code, literal text, HTML, a comment. */
export function addVerbatim(state: State, delimiter: string, attributes: BlockAttributes): void {
  const fence = /^`{3,}/.exec(delimiter)?.[0];
  const text = linesUntil(state, fence ?? delimiter).join("\n");
  if (delimiter.startsWith("/")) return state.lines.leaveOutComment();
  if (fence !== undefined) {
    const language = delimiter.slice(fence.length);
    addCode(state, text, { ...attributes, positional: ["", language], style: "" });
  } else if (delimiter.startsWith("+") && !/stem|math/.test(attributes.style)) addHtml(state, text);
  else if (!addStyled(state, text, attributes)) addCode(state, text, attributes);
}
