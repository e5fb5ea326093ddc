import { childOf, descendantsOf, readTree, readXml, textIn, type XmlNode } from "./archive.ts";

/** Text of drawings in a node, as one line. Paragraphs are apart. */
export function lineIn(node: XmlNode): string {
  const words = [...descendantsOf(node)].map((each) =>
    each.name === "p" || each.name === "br"
      ? " "
      : each.name === "t" || each.name === "v"
        ? textIn(each)
        : "",
  );
  return words.join("").replace(/\s+/g, " ").trim();
}

/** The texts in the boxes of a diagram (ECMA-376 part 1, 21.4.3). Throws XmlError. */
export function readDiagram(bytes: Uint8Array): string[] {
  const texts: string[] = [];
  readXml(bytes, (node) => {
    if (node.name !== "pt") return false;
    const text = lineIn(node);
    if (text !== "") texts.push(text);
    return true;
  });
  return texts;
}

const mostPoints = 200;

/** The texts of the points of a series; none for numbers, which only their format makes readable. */
function pointsIn(node: XmlNode | undefined): string[] {
  if (!node || childOf(node, "numRef") || childOf(node, "numLit")) return [];
  const values = [...descendantsOf(node)].filter(({ name }) => name === "v");
  return values.slice(0, mostPoints).map((value) => textIn(value).trim());
}

/**
 * The words of a chart (ECMA-376 part 1, 21.2), a paragraph each: its titles, the names of its
 * series, its categories. Throws XmlError.
 */
export function readChart(bytes: Uint8Array): string[] {
  const root = readTree(bytes);
  const titles: string[] = [];
  const series = new Set<string>();
  const categories = new Set<string>();
  for (const node of root ? descendantsOf(root) : []) {
    if (node.name === "title") titles.push(lineIn(node));
    if (node.name !== "ser") continue;
    for (const text of pointsIn(childOf(node, "tx"))) series.add(text);
    for (const text of pointsIn(childOf(node, "cat"))) categories.add(text);
  }
  const listed = [series, categories].map((texts) => [...texts].filter(Boolean).join(", "));
  return [...titles, ...listed].filter((text) => text !== "");
}
