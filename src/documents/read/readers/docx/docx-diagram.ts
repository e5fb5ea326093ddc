import { parseXml } from "../xml.ts";

/** The texts in the boxes of a diagram (ECMA-376 part 1, 21.4.3). Throws XmlError. */
export function readDiagram(bytes: Uint8Array): string[] {
  const texts: string[] = [];
  let words: string[] = [];
  let inText = false;
  parseXml(bytes, {
    open(name) {
      inText = name === "t";
      // Paragraphs of one box.
      if (name === "p") words.push(" ");
      if (name === "pt") words = [];
    },
    close(name) {
      inText = false;
      if (name !== "pt") return;
      const text = words.join("").replace(/\s+/g, " ").trim();
      if (text !== "") texts.push(text);
      words = [];
    },
    text(text) {
      if (inText) words.push(text);
    },
  });
  return texts;
}
