import { escapeHtml } from "../../page/tree.ts";
import {
  attributeOf,
  childOf,
  elementsIn,
  readXml,
  unpack,
  XmlError,
  type Archive,
  type XmlNode,
} from "../office/archive.ts";

const mostDepth = 100;

/** MathML as HTML, without prefixes and attributes. */
function mathHtml(node: XmlNode, depth = 0): string {
  if (depth > mostDepth) return "";
  const inner = node.children.map((child) =>
    typeof child === "string" ? escapeHtml(child) : mathHtml(child, depth + 1),
  );
  const name = /^[a-z]+$/i.test(node.name) ? node.name : "mrow";
  return `<${name}>${inner.join("")}</${name}>`;
}

function formulaIn(bytes: Uint8Array): XmlNode | undefined {
  let formula: XmlNode | undefined;
  try {
    readXml(bytes, (node) => {
      if (node.name === "math") formula = node;
      return node.name === "math";
    });
  } catch (error) {
    if (!(error instanceof XmlError)) throw error;
  }
  return formula;
}

/**
 * The formula of a drawing, as HTML; undefined for other drawings. It stands in the drawing, or in a
 * document within the file (OpenDocument 1.3 part 3, 10.4.6). Throws ZipError.
 */
export function formulaOf(archive: Archive, drawing: XmlNode): string | undefined {
  const object = childOf(drawing, "object");
  if (!object) return undefined;
  const href = (attributeOf(object, "href") ?? "").replace(/^\.\/|\/$/g, "");
  const bytes = href === "" ? undefined : unpack(archive, `${href}/content.xml`);
  const formula = childOf(object, "math") ?? (bytes && formulaIn(bytes));
  return formula && mathHtml(formula);
}

/** What the fields of forms show, by the ids that drawings name (OpenDocument 1.3 part 3, 13). */
export function controlsIn(forms: XmlNode, found = new Map<string, string>()): Map<string, string> {
  for (const node of elementsIn(forms)) {
    const read = (name: string): string => attributeOf(node, name) ?? "";
    const id = read("id");
    if (node.name === "checkbox" || node.name === "radio") {
      const isOn = read(node.name === "radio" ? "current-selected" : "current-state");
      const box = `<input type="checkbox"${/^(?:checked|true)$/.test(isOn) ? " checked" : ""}>`;
      found.set(id, box + escapeHtml(read("label")));
    } else if (node.name === "listbox") {
      const chosen = elementsIn(node).filter(
        (each) => attributeOf(each, "current-selected") === "true",
      );
      found.set(id, escapeHtml(chosen.map((each) => attributeOf(each, "label") ?? "").join(", ")));
    } else if (id !== "" && node.name !== "button" && node.name !== "password") {
      found.set(id, escapeHtml(read("current-value") || read("value") || read("label")));
    }
    controlsIn(node, found);
  }
  return found;
}
