import { codeSpansOf } from "../../text/structure.ts";
import { textOf } from "../../front-matter/values.ts";
import { admonitionLabel } from "../markdown/blocks.ts";
import { count, type Fences } from "./fence.ts";
import { captionMark, withReferences } from "./quarto-references.ts";
import { withoutSpans } from "./spans.ts";

/** Whether the lines that follow are in a part that the web page does not have. */
export const isDropped = ({ divs, page }: Fences): boolean =>
  !page.keepsHidden && divs.some((div) => div.isDropped);

const div = /^ {0,3}(:{3,})[ \t]*([^:\s].*?)?[ \t]*:*[ \t]*$/;
const heading = /^ {0,3}(#{1,6})[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/;
const headingList = /[ \t]*\{(?:-|[^{}#]*\.[^{}#]*|[\w-]+=[^{}#]*)\}$/;

// quarto.org, "Conditional Content": formats of the web page.
const web = /^(?:html(?::js)?|html4|html5)$/;

/** Whether a condition holds for the web page: of its format, its metadata, or a profile of the project. */
function holds({ page }: Fences, kind: string, name: string): boolean {
  if (kind === "format") return web.test(name);
  const value = textOf(page.valueOf(kind === "meta" ? name : "profile.default") ?? null);
  if (kind === "profile") return value === name;
  return value !== undefined && value !== "" && !/^(?:false|no|null)$/i.test(value);
}

function isHidden(fences: Fences, text: string): boolean {
  const isVisible = /\.content-visible\b/.test(text);
  if (/(?:^|[\s{])\.hidden\b/.test(text)) return true;
  if (!isVisible && !/\.content-hidden\b/.test(text)) return false;
  const [, word, kind = "", name = ""] =
    /\b(when|unless)-(format|profile|meta)="?([^"\s}]*)/.exec(text) ?? [];
  if (word === undefined) return !isVisible;
  const isTrue = holds(fences, kind, name) === (word === "when");
  return isVisible ? !isTrue : isTrue;
}

/** The title of a callout: its own, else its type. */
function calloutLabel(text: string): string | undefined {
  const [, type] = /\.callout-([a-z]+)/.exec(text) ?? [];
  if (type === undefined) return undefined;
  const [, title] = /\btitle="([^"]*)"/.exec(text) ?? [];
  return title ?? admonitionLabel(type);
}

// Each line asks all open ones.
const mostDivs = 100;

function openDiv(fences: Fences, text: string): void {
  const { divs } = fences;
  if (divs.length >= mostDivs) return;
  const label = calloutLabel(text);
  const isTabs = /\.(?:panel-)?tabset\b/.test(text);
  divs.push({
    isDropped: isHidden(fences, text),
    place: /#((?:fig|tbl|lst)-[^\s{}]+)/.exec(text)?.[1],
    headings: isTabs ? "tabs" : label === undefined ? "sections" : "title",
    label,
    level: 0,
  });
}

/** A heading in a callout or a tabset is no heading of the page. */
function headingLine({ divs }: Fences, line: string, marks: string, title: string): string {
  const shown = title.replace(headingList, "");
  const last = divs.at(-1);
  if (last?.headings === "title" && last.label !== undefined) {
    last.label = undefined;
    return `**${shown}**`;
  }
  const tabs = divs.findLast((each) => each.headings === "tabs");
  if (tabs && (tabs.level === 0 || tabs.level === marks.length)) {
    tabs.level = marks.length;
    return `**${shown}**`;
  }
  return shown === title ? line : `${marks} ${shown}`;
}

/** The lines before the content of a callout that has no title of its own. */
function labelLines({ divs }: Fences): string[] {
  const last = divs.at(-1);
  if (last?.label === undefined) return [];
  const { label } = last;
  last.label = undefined;
  return label === "" ? [] : [`**${label}**`, ""];
}

const expression = /^`+\{(?:r|python|julia|ojs)\}\s/;

// Pandoc, "raw_tex": TeX is on no web page. Formulas are.
const tex =
  /\$\$[^]*?\$\$|\$(?![\s$])[^$\n]*\$|(?<!\\)\\[A-Za-z]{2,30}\*?(?:\[[^\][\n]{0,200}\]|\{(?:[^{}\n]|\{[^{}\n]{0,200}\}){0,500}\})+/g;

/** Text between code, without TeX. */
function withoutTex(fences: Fences, text: string, line: number | undefined): string {
  if (fences.page.keepsHidden || !text.includes("\\")) return text;
  return text.replace(tex, (found) => {
    if (found.startsWith("$")) return found;
    count(fences, "hidden", found, line);
    return "";
  });
}

/** What code in a line shows: computed values are unknown. `kind` is that of raw code: `{=html}`. */
function codeText(fences: Fences, code: string, kind: string | undefined, line?: number): string {
  if (kind !== undefined) return kind === "{=html}" ? code.replace(/^`+|`+$/g, "") : "";
  if (!expression.test(code) && !code.startsWith("`r ")) return code;
  count(fences, "expression", code, line);
  return "";
}

/** A paragraph without computed values, TeX, spans and attribute lists. */
function readParagraph(fences: Fences, text: string, line: number | undefined): string {
  const parts: string[] = [];
  let from = 0;
  for (const [start, end] of text.includes("`") ? codeSpansOf(text) : []) {
    const kind = /^\{=\w+\}/.exec(text.slice(end, end + 30))?.[0];
    parts.push(withReferences(fences, withoutTex(fences, text.slice(from, start), line)));
    parts.push(codeText(fences, text.slice(start, end), kind, line));
    from = end + (kind?.length ?? 0);
  }
  parts.push(withReferences(fences, withoutTex(fences, text.slice(from), line)));
  // "Cross references": the attributes of a table stand behind its caption.
  const shown = parts
    .join("")
    .replace(
      /^(: |Table: )(.*)[ \t]\{([^{}\n]*)\}[ \t]*$/gm,
      (_, mark: string, caption: string, list: string) =>
        mark + captionMark(fences, /#(\S+)/.exec(list)?.[1] ?? "") + caption,
    );
  return withoutSpans(shown);
}

/** Whether Quarto shows the code of cells on this page, if they do not say it. */
export const echoes = ({ page }: Fences): boolean =>
  textOf(page.valueOf("execute.echo"))?.toString() !== "false";

/** Lines of Quarto between fences. quarto.org, "Markdown Basics", "Callouts", "Tabsets". */
export function readQuartoText(
  fences: Fences,
  lines: readonly string[],
  first: number | undefined,
): string[] {
  const done: string[] = [];
  let paragraph: string[] = [];
  /** Where the last paragraph of the open div begins. */
  let last = -1;
  const lineOf = (at: number): number | undefined => (first === undefined ? undefined : first + at);
  const flush = (at: number): void => {
    if (paragraph.length === 0) return;
    done.push(...labelLines(fences));
    last = done.length;
    done.push(
      ...readParagraph(fences, paragraph.join("\n"), lineOf(at - paragraph.length)).split("\n"),
    );
    paragraph = [];
  };
  for (const [at, line] of lines.entries()) {
    const [mark, , text] = (line.includes(":::") && div.exec(line)) || [];
    if (mark !== undefined) {
      flush(at);
      const wasDropped = isDropped(fences);
      if (text === undefined) {
        done.push(...(wasDropped ? [] : labelLines(fences)));
        const { place = "" } = fences.divs.pop() ?? {};
        // "Cross references": it is the caption.
        const caption = done[last] ?? "";
        if (/^[^|:!\s]/.test(caption)) done[last] = captionMark(fences, place) + caption;
      } else openDiv(fences, text);
      last = -1;
      if (!wasDropped && isDropped(fences)) count(fences, "hidden", text ?? "", lineOf(at));
      done.push("");
      continue;
    }
    if (isDropped(fences)) continue;
    const [, marks, title = ""] = (line.includes("#") && heading.exec(line)) || [];
    if (marks !== undefined) {
      flush(at);
      done.push(readParagraph(fences, headingLine(fences, line, marks, title), lineOf(at)));
    } else if (line.trim() === "") {
      flush(at);
      done.push(line);
    } else paragraph.push(line);
  }
  flush(lines.length);
  return done;
}
