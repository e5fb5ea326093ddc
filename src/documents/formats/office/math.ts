import { escapeHtml } from "../../page/tree.ts";
import { childOf, elementsIn, textIn, valueOf, type XmlNode } from "../office/archive.ts";

const mostDepth = 100;

/** A property of an element: `<m:dPr><m:begChr m:val="["/></m:dPr>`. */
function propertyOf(node: XmlNode, name: string): string | undefined {
  const properties = elementsIn(node).find((each) => each.name.endsWith("Pr"));
  const property = properties && childOf(properties, name);
  return property && valueOf(property);
}

const element = (name: string, ...parts: string[]): string =>
  `<${name}>${parts.join("")}</${name}>`;

/** MathML of a formula (ECMA-376 part 1, 22.1). */
export function mathMl(node: XmlNode, depth = 0): string {
  if (depth > mostDepth) return "";
  const all = (of: XmlNode | undefined): string =>
    element("mrow", ...(of ? elementsIn(of) : []).map((each) => mathMl(each, depth + 1)));
  const part = (name: string): string => all(childOf(node, name));
  switch (node.name) {
    // Deleted and moved parts.
    case "del":
    case "moveFrom":
      return "";
    case "t":
      return element("mi", escapeHtml(textIn(node)));
    case "f":
      return element("mfrac", part("num"), part("den"));
    case "rad": {
      const degree = childOf(node, "deg");
      const isSquare = !degree || elementsIn(degree).length === 0;
      return isSquare ? element("msqrt", part("e")) : element("mroot", part("e"), part("deg"));
    }
    case "sSup":
      return element("msup", part("e"), part("sup"));
    case "sSub":
      return element("msub", part("e"), part("sub"));
    case "sSubSup":
      return element("msubsup", part("e"), part("sub"), part("sup"));
    case "nary": {
      const sign = element("mo", escapeHtml(propertyOf(node, "chr") ?? "∫"));
      return element("mrow", element("msubsup", sign, part("sub"), part("sup")), part("e"));
    }
    case "limLow":
      return element("munder", part("e"), part("lim"));
    case "limUpp":
      return element("mover", part("e"), part("lim"));
    case "d": {
      const inner = elementsIn(node)
        .filter(({ name }) => name === "e")
        .map(all);
      const mark = (name: string, usual: string): string =>
        element("mo", escapeHtml(propertyOf(node, name) ?? usual));
      const content = inner.join(mark("sepChr", "|"));
      return element("mrow", mark("begChr", "("), content, mark("endChr", ")"));
    }
    case "m":
      return element("mtable", ...elementsIn(node).map((each) => mathMl(each, depth + 1)));
    case "mr":
      return element("mtr", ...elementsIn(node).map(all));
    case "eqArr":
      return element(
        "mtable",
        ...elementsIn(node)
          .filter(({ name }) => name === "e")
          .map(all),
      );
    default:
      return node.name.endsWith("Pr") ? "" : all(node);
  }
}
