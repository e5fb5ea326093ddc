/** An element of a formula (ECMA-376 part 1, 22.1). */
export interface MathNode {
  name: string;
  value: string | undefined;
  text: string;
  children: MathNode[];
}

export const mathNode = (name: string, value?: string): MathNode => ({
  name,
  value,
  text: "",
  children: [],
});

const mostDepth = 100;

export const escapeHtml = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const partOf = (node: MathNode, name: string): MathNode | undefined =>
  node.children.find((each) => each.name === name);

/** A property of an element: `<m:dPr><m:begChr m:val="["/></m:dPr>`. */
function propertyOf(node: MathNode, name: string): string | undefined {
  const properties = node.children.find((each) => each.name.endsWith("Pr"));
  return properties && partOf(properties, name)?.value;
}

const element = (name: string, ...parts: string[]): string =>
  `<${name}>${parts.join("")}</${name}>`;

/** MathML of the elements of a formula. */
export function mathMl(node: MathNode, depth = 0): string {
  if (depth > mostDepth) return "";
  const all = (of: MathNode | undefined): string =>
    element("mrow", ...(of?.children ?? []).map((each) => mathMl(each, depth + 1)));
  const part = (name: string): string => all(partOf(node, name));
  switch (node.name) {
    case "t":
      return element("mi", escapeHtml(node.text));
    case "f":
      return element("mfrac", part("num"), part("den"));
    case "rad": {
      const isSquare = (partOf(node, "deg")?.children.length ?? 0) === 0;
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
      const inner = node.children.filter((each) => each.name === "e").map(all);
      const [begin, end] = [propertyOf(node, "begChr") ?? "(", propertyOf(node, "endChr") ?? ")"];
      const separator = element("mo", escapeHtml(propertyOf(node, "sepChr") ?? "|"));
      const marks = [begin, end].map((each) => element("mo", escapeHtml(each)));
      return element("mrow", marks[0] ?? "", inner.join(separator), marks[1] ?? "");
    }
    case "m":
      return element("mtable", ...node.children.map((each) => mathMl(each, depth + 1)));
    case "mr":
      return element("mtr", ...node.children.map(all));
    case "eqArr":
      return element("mtable", ...node.children.filter((each) => each.name === "e").map(all));
    default:
      return node.name.endsWith("Pr") ? "" : all(node);
  }
}
