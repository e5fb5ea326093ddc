import { codeSpan } from "../../../markdown/code-span.ts";

/** A piece of running text: text of the page, code, or Markdown that is not escaped. */
export type Part = string | { code: string } | { markdown: string; plain: string };

/** An open link; its text begins at index `from` of the running text. */
export interface Link {
  href: string;
  from: number;
}

const isCode = (part: Part | undefined): part is { code: string } =>
  typeof part === "object" && "code" in part;

/** A code span for each line. */
const spansOf = (code: string): string =>
  code
    .split("\n")
    .map((line) => codeSpan(line))
    .join("\n");

export function markdownOf(parts: readonly Part[]): string {
  const pieces: string[] = [];
  // Code beside code is one span: the marks between two spans would be a mark of their own.
  let code = "";
  for (const [index, part] of parts.entries()) {
    if (!isCode(part)) pieces.push(typeof part === "string" ? part : part.markdown);
    else {
      code += part.code;
      if (isCode(parts[index + 1])) continue;
      pieces.push(spansOf(code));
      code = "";
    }
  }
  return pieces.join("");
}

const plainPart = (part: Part): string =>
  typeof part === "string" ? part : isCode(part) ? part.code : part.plain;

export const plainOf = (parts: readonly Part[]): string => parts.map(plainPart).join("");

/** A destination as Markdown writes it; undefined for a link that leads nowhere. */
export function destination(href: string | undefined): string | undefined {
  // Browsers ignore line breaks and tabs in addresses (URL Standard, 4.4).
  const url = (href ?? "").replace(/[\t\n\r\f\0]+/g, "").trim();
  if (url === "" || url === "#" || /^(?:javascript|vbscript|data|blob):/i.test(url))
    return undefined;
  const encoded = url.replace(/[<>\\]/g, (char) => encodeURIComponent(char));
  return /[\s()]/.test(encoded) ? `<${encoded}>` : encoded;
}

export const escapeBrackets = (text: string): string => text.replace(/[[\]]/g, "\\$&");
const isBlank = (part: Part | undefined): boolean => typeof part === "string" && part.trim() === "";

/**
 * Makes the running text since the start of the link its text. Returns whether the link had text.
 * The sign of a place on the page, an image alone, or an address that is its own text stay as is.
 */
export function wrapLink(parts: Part[], { href, from }: Link): boolean {
  const inner = parts.slice(from);
  const words = inner
    .filter((part) => typeof part === "string" || isCode(part))
    .map(plainPart)
    .join("")
    .trim();
  if (words === "") return false;
  const to = destination(href);
  const isSign = href.startsWith("#") && !/\p{L}/u.test(words);
  if (to === undefined || isSign || href === words || href === `mailto:${words}`) return true;
  let start = 0;
  let end = inner.length;
  while (isBlank(inner[start])) start++;
  while (isBlank(inner[end - 1])) end--;
  const first = inner[start];
  const last = inner[end - 1];
  parts.length = from;
  if (start > 0 || (typeof first === "string" && /^\s/.test(first))) parts.push(" ");
  parts.push({ markdown: "[", plain: "" });
  for (let at = start; at < end; at++) {
    let part = inner[at] ?? "";
    if (typeof part === "string") {
      if (at === start) part = part.trimStart();
      if (at === end - 1) part = part.trimEnd();
      part = escapeBrackets(part);
    }
    parts.push(part);
  }
  parts.push({ markdown: `](${to})`, plain: "" });
  if (end < inner.length || (typeof last === "string" && /\s$/.test(last))) parts.push(" ");
  return true;
}
