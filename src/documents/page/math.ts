import { raised } from "./raised.ts";
import { childrenOf, isElement, isText, textOf, type PageNode } from "./tree.ts";

/** A part of a formula in brackets, unless it is one sign, number or name. */
const grouped = (text: string): string =>
  /^(?:[\p{L}\p{N}.,]+|.)$/u.test(text) ? text : `(${text})`;

function partsOf(node: PageNode): string[] {
  return [...childrenOf(node)].filter(isElement).map((child) => written(child));
}

const isScript = /^m(?:frac|root|sqrt|su[bp]|subsup|under|over|underover)$/;

/** A factor stands apart from one with a power, an index or a fraction. */
function inRow(node: PageNode): string {
  let text = "";
  let wasScript = false;
  for (const child of childrenOf(node)) {
    if (!isElement(child) && !isText(child)) continue;
    const part = isText(child) ? child.data.trim() : written(child);
    const script = isElement(child) && isScript.test(child.localName);
    const isApart =
      (script || wasScript) && /[\p{L}\p{N})]$/u.test(text) && /^[\p{L}\p{N}√(]/u.test(part);
    text += `${isApart ? " " : ""}${part}`;
    wasScript = part === "" ? wasScript : script;
  }
  return text;
}

// Relations and sums are easier to read between blanks.
const spaced = /^[=<>≤≥≠≈≡→←⇒⇔±+∈∉⊂⊆∪∩:]$/u;

const handlers: Readonly<Record<string, (node: PageNode) => string>> = {
  mo(node) {
    const sign = textOf(node).trim();
    return spaced.test(sign) ? ` ${sign} ` : sign;
  },
  mtext: (node) => textOf(node),
  mspace: () => " ",
  mfrac(node) {
    const [top = "", bottom = ""] = partsOf(node);
    return `${grouped(top)}/${grouped(bottom)}`;
  },
  msqrt: (node) => `√${grouped(inRow(node))}`,
  mroot(node) {
    const [inner = "", degree = ""] = partsOf(node);
    return `${raised(degree).trim()}√${grouped(inner)}`;
  },
  msup(node) {
    const [base = "", power = ""] = partsOf(node);
    return `${base}^${grouped(power)}`;
  },
  msub(node) {
    const [base = "", index = ""] = partsOf(node);
    return `${base}_${grouped(index)}`;
  },
  msubsup(node) {
    const [base = "", index = "", power = ""] = partsOf(node);
    return `${base}_${grouped(index)}^${grouped(power)}`;
  },
  mtable: (node) => partsOf(node).join("; "),
  mtr: (node) => partsOf(node).join(", "),
  semantics: (node) => partsOf(node)[0] ?? "",
  annotation: () => "",
};
const sameAs: Readonly<Record<string, string>> = {
  munder: "msub",
  mover: "msup",
  munderover: "msubsup",
};

function written(node: PageNode): string {
  const name = sameAs[node.localName] ?? node.localName;
  const handler = Object.hasOwn(handlers, name) ? handlers[name] : undefined;
  return handler ? handler(node) : inRow(node);
}

/** A formula of MathML in one line, as a person types it: `E = mc^2`, `a/b`, `√x`. */
export function mathText(node: PageNode): string {
  return ` ${written(node).replace(/\s+/g, " ").trim()} `;
}
