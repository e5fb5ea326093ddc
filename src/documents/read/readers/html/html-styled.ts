import { raised } from "../raised.ts";
import type { Draft } from "./html-draft.ts";
import { plainOf } from "./html-links.ts";

/** Ends raised text, see raised(). */
export function closeRaised(draft: Draft): void {
  const { inline, raisedFrom: from } = draft;
  draft.raisedFrom = undefined;
  const parts = from === undefined ? [] : inline.slice(from);
  // The link to a note is not part of a number.
  if (parts.length === 0 || !parts.every((part) => typeof part === "string")) return;
  inline.splice(from ?? 0, parts.length, raised(parts.join("")));
}

/** Ends code. A link or an image in it would be no link in a code span: the text stays as it is. */
export function closeCode(draft: Draft): void {
  const { inline, codeFrom: from, link } = draft;
  draft.codeFrom = undefined;
  if (from !== undefined && link && link.from > from) return;
  const parts = from === undefined ? [] : inline.slice(from);
  if (!parts.every((part) => typeof part === "string")) return;
  const text = parts.join("");
  const code = text.trim();
  const before = text.slice(0, -text.trimStart().length);
  const after = text.slice(text.trimEnd().length);
  const spaced = [before, { code }, after].filter((part) => part !== "");
  if (code !== "") inline.splice(from ?? 0, parts.length, ...spaced);
}

/** Marks struck text: without a mark, an old price and the new one are one number. */
export function closeStruck(draft: Draft): void {
  const { inline, struckFrom: from, link } = draft;
  draft.struckFrom = undefined;
  // A link that ends behind it keeps its place.
  if (from === undefined || (link && link.from > from)) return;
  if (plainOf(inline.slice(from)).trim() === "") return;
  const mark = { markdown: "~~", plain: "" };
  inline.splice(from, 0, mark);
  inline.push(mark);
}
