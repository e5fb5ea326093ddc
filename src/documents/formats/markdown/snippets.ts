import {
  readProjectFile,
  indentBefore,
  indented,
  type Expansion,
  type Replacement,
  includedText,
  type Part,
} from "./included.ts";
import { snippetFolders } from "./mkdocs.ts";

// Snippets of PyMdown, and includes of markdown-include and VitePress.

const pymdownFolders = ["", "docs", "snippets", "includes"];
const vitepressFolders = ["", "docs", "src"];

/** `file:3:5,8`, `file:name` or `file`, as PyMdown names a part. */
function pymdownPart(text: string): Part {
  const [, target = text, from, to, section] =
    /^(.*?)(?::(\d+)?(?::(\d+))?|:([A-Za-z_][\w-]*))?$/.exec(text) ?? [];
  const lines =
    from === undefined && to === undefined
      ? undefined
      : [{ from: Number(from ?? 1), to: Number(to ?? Number.MAX_SAFE_INTEGER) }];
  return { target, lines, section, folders: pymdownFolders };
}

function snippetText(expansion: Expansion, name: string, at: number, isCode: boolean): string {
  const folders = [...snippetFolders(expansion.around), ...pymdownFolders];
  // `;` before a name disables it.
  if (name === "" || name.startsWith(";")) return "";
  return includedText(expansion, { ...pymdownPart(name), folders }, at, isCode);
}

/** Whether code shows how a file is included: none of that name is there, and no site reads it. */
function isExample({ around, chain }: Expansion, name: string): boolean {
  if (around.site !== undefined) return false;
  const { target } = pymdownPart(name);
  return "problem" in readProjectFile(target, around.includes, chain, pymdownFolders);
}

const lineSnippet = /(;?)--8<--[ \t]+(?:"([^"\n]+)"|'([^'\n]+)')[ \t]*(?=\n|$)/y;
const blockMark = /--8<--[ \t]*(?:\n|$)/y;
const longestBlock = 10_000;

/** `--8<-- "file"`, or a block of names between two lines `--8<--`. */
export function replaceSnippet(expansion: Expansion, at: number): Replacement | undefined {
  const { text } = expansion;
  if (indentBefore(text, at) === undefined) return undefined;
  const isCode = expansion.isCode(at);
  lineSnippet.lastIndex = at;
  const [whole, escape, double, single] = lineSnippet.exec(text) ?? [];
  const name = double ?? single;
  if (whole !== undefined && name !== undefined) {
    const end = at + whole.length;
    if (escape === ";") return { end, text: whole.slice(1) };
    if (isCode && isExample(expansion, name.trim())) return undefined;
    const body = snippetText(expansion, name.trim(), at, isCode);
    return { end, text: indented(body, text, at) };
  }
  blockMark.lastIndex = at;
  const mark = blockMark.exec(text)?.[0];
  if (mark === undefined) return undefined;
  const from = at + mark.length;
  const close = expansion.nextOf("--8<--", from);
  if (close === -1 || close - from > longestBlock) return undefined;
  const block = text.slice(from, close);
  const names = block.split("\n");
  const bodies = names.map((each) => snippetText(expansion, each.trim(), at, isCode));
  const body = bodies.filter((each) => each !== "").join("\n");
  return { end: close + "--8<--".length, text: indented(body, text, at) };
}

/** The ranges in a text like `1-3 5` or `1:3,5`. */
function rangesOf(text: string): Part["lines"] {
  const ranges = [...text.matchAll(/(\d+)(?:[ \t]*[-:][ \t]*(\d+))?/g)];
  const lines = ranges.map(([, from, to]) => ({ from: Number(from), to: Number(to ?? from) }));
  return lines.length > 0 ? lines : undefined;
}

/** A file as code, in a fence that no fence in it closes. */
function fencedPart(expansion: Expansion, part: Part, at: number): string {
  const body = includedText(expansion, part, at, true);
  const language = /\.(\w+)$/.exec(part.target)?.[1] ?? "";
  const block = body === "" ? "" : `\`\`\`\`${language}\n${body}\n\`\`\`\``;
  return indented(block, expansion.text, at);
}

/** `{* file ln[1:3] hl[2] *}`: a file as code, with its lines and those to highlight. */
export function replaceStar(expansion: Expansion, at: number): Replacement | undefined {
  const [whole, target = "", options = ""] =
    /^\{\*[ \t]*([^\s*{}]+)[ \t]*([^\n*{}]*)\*\}/.exec(expansion.text.slice(at, at + 1000)) ?? [];
  if (whole === undefined || !/[./]/.test(target)) return undefined;
  const lines = rangesOf(/\bln\[([^\]]*)\]/.exec(options)?.[1] ?? "");
  const text = fencedPart(expansion, { target, lines, folders: pymdownFolders }, at);
  return { end: at + whole.length, text };
}

/** `{!file!}` of markdown-include, with the lines as `{!file!lines=1-3 5}`. */
export function replaceBang(expansion: Expansion, at: number): Replacement | undefined {
  const { text } = expansion;
  const [whole, target = "", options = ""] =
    /^\{![ \t]*([^!\n{}]+?)[ \t]*!([^{}\n]{0,200})\}/.exec(text.slice(at, at + 1000)) ?? [];
  if (whole === undefined || !/[./]/.test(target)) return undefined;
  const part = { target, lines: rangesOf(options), folders: pymdownFolders };
  const body = includedText(expansion, part, at, expansion.isCode(at));
  return { end: at + whole.length, text: indented(body, text, at) };
}

/** `x.md#region{1,3-5 ts}`, as VitePress names a part. */
function vitepressPart(text: string): Part {
  const [, name = text, region, braces = ""] =
    /^([^#{]+)(?:#([\w-]+))?(\{[^}]*\})?/.exec(text) ?? [];
  const [, from, to] = /^\{(\d+)?(?:[,-](\d+)?)?\}/.exec(braces) ?? [];
  const lines =
    from === undefined && to === undefined
      ? undefined
      : [{ from: Number(from ?? 1), to: Number(to ?? Number.MAX_SAFE_INTEGER) }];
  const target = name.trim().replace(/^@\//, "");
  return { target, section: region, lines, folders: vitepressFolders };
}

/** `<!--@include: ./x.md{3,}-->` of VitePress. */
export function replaceComment(expansion: Expansion, at: number): Replacement | undefined {
  const { text } = expansion;
  const [whole, name] = /^<!--[ \t]*@include:([^\n]*?)-->/.exec(text.slice(at, at + 1000)) ?? [];
  if (whole === undefined || name === undefined) return undefined;
  const body = includedText(expansion, vitepressPart(name.trim()), at, false);
  return { end: at + whole.length, text: indented(body, text, at) };
}

/** `<<< @/code.ts{2,4 ts}` of VitePress: a file as code. The braces highlight lines. */
export function replaceCodeImport(expansion: Expansion, at: number): Replacement | undefined {
  const { text } = expansion;
  const [whole, name, region] =
    /^<<<[ \t]+([^\s#{}[\]]+)(?:#([\w-]+))?[ \t]*(?:\{[^}\n]*\})?[ \t]*(?:\[[^\]\n]*\])?[ \t]*(?=\n|$)/.exec(
      text.slice(at, at + 1000),
    ) ?? [];
  if (whole === undefined || name === undefined || !/^(?:@|\.{0,2}\/)/.test(name)) return undefined;
  const part = { ...vitepressPart(name), lines: undefined, section: region };
  return { end: at + whole.length, text: fencedPart(expansion, part, at) };
}
