import { itemBlock } from "./docx-text.ts";
import { addText, type Walk } from "./docx-walk.ts";

/** The alternative text of an image, without the remark of the program that wrote it. */
export function addAlternative(walk: Walk, text: string): void {
  const words = text
    .replace(/\s+/g, " ")
    .replace(
      / ?(?:Description automatically generated|AI-generated content may be incorrect).*$/,
      "",
    )
    .trim();
  if (words !== "") addText(walk, ` ${words} `);
}

/** The texts of a diagram as a list. */
export function addDiagram(walk: Walk, relation: string | undefined): void {
  const paragraph = walk.paragraphs.at(-1);
  if (relation === undefined || paragraph?.isHidden || paragraph?.isRunHidden) return;
  for (const text of walk.parts.readDiagram(relation)) {
    const block = itemBlock(text, 0);
    if (block) walk.blocks.push(block);
  }
}
