import { bits, textOf } from "../cells.ts";
import { findMark, settle, type Mark } from "./marks.ts";
import { flush, putText, type Scanner } from "./scanner.ts";
import { createTarget, misleads, readTarget, safeUrl } from "./target.ts";

/** Writes a complete link: its label, which follows `mark`, and its address. */
function writeLink(scanner: Scanner, mark: Mark, address: string): void {
  const { marks, line, look } = scanner;
  const { cells } = line;
  for (const inner of marks.open.slice(marks.open.indexOf(mark) + 1).toReversed()) {
    settle(marks, inner);
  }
  marks.open.splice(marks.open.indexOf(mark), 1);
  const at = cells.lastIndexOf(mark.cell);
  // The opening bracket is in a finished row, so the closing one is shown too.
  if (at < 0) putText(scanner, "]");
  const shown = cells.slice(at + 1);
  const label = textOf(shown);
  const url = look.hasLinks ? safeUrl(address) : undefined;
  for (const cell of url === undefined ? [] : shown) {
    cell.url = url;
    cell.style |= bits.underline;
  }
  const isImage = at > 0 && cells[at - 1]?.text === "!";
  if (isImage) cells.splice(at - 1, 2, { ...mark.cell, text: "image: ", width: 7 });
  else if (at >= 0) cells.splice(at, 1);
  line.refit();
  scanner.before = "]";
  const isMarker = look.shortensMarkers && /^\[\d{1,6}\]$/.test(label);
  const isHyperlink = url !== undefined && !misleads(label, address);
  if (address === "" || address === label || isMarker || isHyperlink) return;
  putText(scanner, ` (${address})`, bits.dim, url);
}

function putAddress(scanner: Scanner, text: string, address: string): void {
  const url = scanner.look.hasLinks ? safeUrl(address) : undefined;
  putText(scanner, text, url === undefined ? 0 : bits.underline, url);
}

const maxAddressLength = 2000;

/** Reads text between `<` and `>`: an address, or HTML, which is shown as text. */
export function readAutolink(scanner: Scanner, character: string): boolean {
  if (character === ">") {
    const content = scanner.held.slice(1);
    const isMail = /^[^\s<>@:]+@[^\s<>@:]+$/.test(content);
    if (!isMail && !/^[a-z][a-z0-9+.-]{1,31}:./i.test(content)) flush(scanner, ">");
    else {
      scanner.held = "";
      scanner.mode = "text";
      putAddress(scanner, content, isMail ? `mailto:${content}` : content);
    }
    return true;
  }
  if (/^[\s<]$/.test(character) || scanner.held.length >= maxAddressLength) {
    flush(scanner);
    return false;
  }
  scanner.held += character;
  return true;
}

const schemes = ["https://", "http://"];
const endsAddress = /^[\s<>"`*|\\^{}[\]\u3000-\u303f\uff00-\uff65]$/;

function isInAddress(held: string, character: string): boolean {
  if (held.length >= maxAddressLength || endsAddress.test(character)) return false;
  return character !== ")" || held.includes("(");
}

/** Reads an address in plain text. */
export function stepAddress(scanner: Scanner, character: string): boolean {
  const { held } = scanner;
  const hasScheme = schemes.some((scheme) => held.startsWith(scheme));
  const isMore = hasScheme
    ? isInAddress(held, character)
    : schemes.some((scheme) => scheme.startsWith(held + character));
  if (isMore) {
    scanner.held += character;
    return true;
  }
  // Punctuation at the end belongs to the sentence.
  const address = held.slice(0, held.length - (/[.,;:!?'_~)]{0,9}$/.exec(held)?.[0].length ?? 0));
  if (!hasScheme || address.length <= "https://".length) flush(scanner);
  else {
    scanner.held = held.slice(address.length);
    putAddress(scanner, address, address);
    flush(scanner);
  }
  return false;
}

/** Reads the character after `]`: a target starts, or the brackets are text. */
export function stepBracket(scanner: Scanner, character: string): boolean {
  if (character === "(") {
    scanner.target = createTarget();
    scanner.mode = "target";
    return true;
  }
  const mark = findMark(scanner.marks, "[");
  if (mark) settle(scanner.marks, mark);
  scanner.held = "]";
  flush(scanner);
  return false;
}

/** Reads the target of a link up to its `)`. */
export function stepTarget(scanner: Scanner, character: string): boolean {
  const read = readTarget(scanner.target, character);
  if (read === "more") return true;
  scanner.mode = "text";
  const mark = findMark(scanner.marks, "[");
  if (read === "done" && mark) {
    writeLink(scanner, mark, scanner.target.url);
    return true;
  }
  if (mark) settle(scanner.marks, mark);
  const { source } = scanner.target;
  putText(scanner, `](${source}`);
  // False: the target does not contain the character, so it is read again as text.
  return source.endsWith(character) && character !== "\n";
}
