import { plainText } from "../../../markdown/heading-text.ts";
import { scanStructure } from "../../../markdown/structure.ts";
import type { Block } from "../html/html-blocks.ts";
import type { AnchorOf } from "./inline/rst-anchors.ts";
import { nameOf } from "./rst-reading.ts";

/**
 * The blocks of included Markdown, `indent` columns from the left. The text stays as it is; its
 * headings get the anchors that docutils makes.
 */
export function markdownBlocks(text: string, indent: number, anchorOf: AnchorOf): Block[] {
  const blocks: Block[] = [];
  const add = (part: string): void => {
    const lines = part
      .replace(/^(?:[ \t]*\n)+/, "")
      .trimEnd()
      .split("\n");
    const shown = lines.map((line) => (line === "" ? "" : " ".repeat(indent) + line)).join("\n");
    if (shown !== "") blocks.push({ text: shown, isTight: false });
  };
  let from = 0;
  // Indented headings are none of the page.
  const { headings } = indent === 0 ? scanStructure(text) : { headings: [] };
  for (const { start, end, level, text: title } of headings) {
    add(text.slice(from, start));
    from = end;
    const plain = plainText(title);
    const heading = { text: plain, anchor: anchorOf(nameOf(plain)) };
    blocks.push({ text: `${"#".repeat(level)} ${title}`, isTight: false, heading });
  }
  add(text.slice(from));
  return blocks;
}
