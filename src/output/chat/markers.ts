import { link, type Text } from "../terminal/text.ts";

// A link may hold pairs of parentheses, as those of encyclopaedias do.
const marker = /\[\[(\d{1,6})\]\]\(((?:[^()\s]|\([^()\s]*\))*)\)/g;

/** What may be the beginning of a marker; one with a longer link is shown as it is. */
const opening =
  /\[(?:\[(?:\d{1,6}(?:\](?:\](?:\((?:[^()\s]|\([^()\s]*\)){0,2000}(?:\([^()\s]{0,2000})?)?)?)?)?)?$/;
const longestOpening = 2020;

/** Links of the markers in an answer by number, "" where a marker has none. */
export function markerLinks(answer: string): Map<number, string> {
  const links = new Map<number, string>();
  for (const [, number, target] of answer.matchAll(marker)) {
    if (!links.get(Number(number))) links.set(Number(number), target ?? "");
  }
  return links;
}

/**
 * Answer text with its markers `[[1]](link)` as `[1]`, each a hyperlink where
 * there is a link: the sources below the answer tell the rest. Without `withLinks` only
 * those without a link are changed. `rest` is a beginning that the next text may complete.
 */
export function shortenMarkers(text: string, withLinks = true): { parts: Text[]; rest: string } {
  const from = Math.max(0, text.length - longestOpening);
  const open = from + text.slice(from).search(opening);
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
