import { link, type Text } from "../terminal/text.ts";

// A link may contain pairs of parentheses, like links to Wikipedia.
const marker = /\[\[(\d{1,6})\]\]\(((?:[^()\s]|\([^()\s]*\))*)\)/g;

/** A possible start of a marker; a marker with a longer link is shown unchanged. */
const partialMarker =
  /\[(?:\[(?:\d{1,6}(?:\](?:\](?:\((?:[^()\s]|\([^()\s]*\)){0,2000}(?:\([^()\s]{0,2000})?)?)?)?)?)?$/;
const maxPartialLength = 2020;

/** Links of the markers in an answer by number; "" for a marker without a link. */
export function markerLinks(answer: string): Map<number, string> {
  const links = new Map<number, string>();
  for (const [, number, target] of answer.matchAll(marker)) {
    if (!links.get(Number(number))) links.set(Number(number), target ?? "");
  }
  return links;
}

/**
 * Answer text with its markers `[[1]](link)` shortened to `[1]`, as hyperlinks. The sources
 * below the answer show the details. Without `withLinks`, only markers without a link are
 * shortened. `rest` is a possible start of a marker, to prepend to the next text.
 */
export function shortenMarkers(text: string, withLinks = true): { parts: Text[]; rest: string } {
  const from = Math.max(0, text.length - maxPartialLength);
  const open = from + text.slice(from).search(partialMarker);
  const end = open < from ? text.length : open;
  const parts: Text[] = [];
  let at = 0;
  for (const match of text.slice(0, end).matchAll(marker)) {
    if (!withLinks && match[2] !== "") continue;
    if (match.index > at) parts.push(text.slice(at, match.index));
    parts.push(link(match[2] ?? "", `[${match[1]}]`));
    at = match.index + match[0].length;
  }
  if (at < end) parts.push(text.slice(at, end));
  return { parts, rest: text.slice(end) };
}
