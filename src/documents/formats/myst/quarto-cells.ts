import { codeLines, count, type Fence, type Fences } from "./fence.ts";
import { captionMark } from "./quarto-references.ts";
import { echoes } from "./quarto-text.ts";

// quarto.org, "Execution Options"; yihui.org/knitr/options: in the first lines, or behind the language.
const inLine = /^[ \t]*(?:#|\/\/|--|%|%%)\|[ \t]*([\w.-]+)[ \t]*:[ \t]*(.*)$/;
const isOptionLine = /^[ \t]*(?:#|\/\/|--|%|%%)\|/;

interface Options {
  values: Map<string, string>;
  /** Number of lines with options. */
  length: number;
}

const unquoted = (text: string): string => text.trim().replace(/^(["'])(.*)\1$/, "$2");

function optionsOf(head: string, lines: readonly string[]): Options {
  const values = new Map<string, string>();
  const [, name] = /^[\s,]+([\w.:-]+)[ \t]*(?:,|$)/.exec(head) ?? [];
  if (name !== undefined) values.set("label", name);
  for (const [, key = "", value = ""] of head.matchAll(
    /([\w.-]+)[ \t]*=[ \t]*("[^"]*"|'[^']*'|[^\s,{}]+)/g,
  )) {
    values.set(key.replaceAll(".", "-"), unquoted(value));
  }
  let length = 0;
  let last = "";
  for (; isOptionLine.test(lines[length] ?? ""); length++) {
    const line = lines[length] ?? "";
    const [, key, value = ""] = inLine.exec(line) ?? [];
    if (key !== undefined) values.set((last = key.replaceAll(".", "-")), unquoted(value));
    else {
      const more = line.replace(isOptionLine, "").trim();
      values.set(last, unquoted(`${values.get(last)?.replace(/^[|>]-?$/, "") ?? ""} ${more}`));
    }
  }
  return { values, length };
}

const isOff = (value: string | undefined): boolean => /^(?:false|F|FALSE)$/.test(value ?? "");

/** `{.python filename="a.py"}`, `{=html}` and `{{python}}`; undefined for others. */
function showAttributes(fences: Fences, { info, body }: Fence): string[] {
  const [, raw] = /^\{=(\w+)\}$/.exec(info) ?? [];
  if (raw !== undefined) return /^html[45]?$/.test(raw) ? [...body] : [];
  const [, escaped] = /^\{(\{+[\w-]+\}+)\}/.exec(info) ?? [];
  // A cell that is shown as it is written.
  if (escaped !== undefined) {
    return codeLines([`\`\`\`${escaped}`, ...body, "```"], escaped.replace(/[{}]/g, ""));
  }
  const [, language = ""] =
    /^(?:[\w+#.-]+[ \t]*)?\{(?:[^{}]*?\.)?([\w+#-]*)[^{}]*\}$/.exec(info) ?? [];
  const [, name] = /\bfilename="([^"]*)"/.exec(info) ?? [];
  const [, listing] = /\blst-cap="([^"]*)"/.exec(info) ?? [];
  const mark = captionMark(fences, /#([\w.:-]+)/.exec(info)?.[1] ?? "");
  return [
    ...(listing === undefined ? [] : [mark + listing, ""]),
    ...(name === undefined ? [] : [name, ""]),
    ...codeLines(body, language),
  ];
}

/**
 * A cell of Quarto or R Markdown, or a fence with attributes: its code, unless its options hide it,
 * and the captions of what it makes. Undefined for other code.
 */
export function showCell(fences: Fences, fence: Fence): string[] | undefined {
  const { info, body, line, marks } = fence;
  if (!info.includes("{") || marks.startsWith(":")) return undefined;
  const [, language, head = ""] = /^\{([A-Za-z][\w+-]*)([\s,][^]*)?\}$/.exec(info) ?? [];
  if (language === undefined)
    return fences.page.isQuarto ? showAttributes(fences, fence) : undefined;
  const { values, length } = optionsOf(head, body);
  const isIncluded = !isOff(values.get("include"));
  const echo = values.get("echo");
  const isShown =
    fences.page.keepsHidden || (isIncluded && (echo === undefined ? echoes(fences) : !isOff(echo)));
  const makes = isIncluded && !isOff(values.get("eval")) && !isOff(values.get("output"));
  const captions = ["lst-cap", ...(makes ? ["fig-cap", "tbl-cap"] : [])]
    .map((name) => [name === "lst-cap" ? "lst-label" : "label", values.get(name)] as const)
    .filter(([, text]) => text !== undefined && text !== "" && !text.startsWith("["))
    .map(([key, text]) => captionMark(fences, values.get(key) ?? "") + text);
  const code = body.slice(length);
  const id = values.get("label");
  if (isIncluded && id !== undefined) fences.page.ids.add(id);
  if (!isShown) count(fences, "hidden", language, line);
  return [
    ...(isShown && code.some((text) => text.trim() !== "") ? codeLines(code, language) : []),
    ...captions.flatMap((text) => ["", text ?? ""]),
  ];
}
