import { bits, cellsOf, colours, widthOf, type Cell } from "./cells.ts";
import type { Container } from "./lead.ts";

/** An open container. A list item shows its marker only in its first row. */
export interface Block extends Container {
  /** Displayed marker: `•`, `3.` */
  label: string;
  /** The marker has been drawn. */
  isShown: boolean;
}

const bullets = ["•", "◦", "▪"];

function numberOf(container: Container, sibling: Block | undefined): string {
  const own = Number.parseInt(container.marker, 10);
  const end = container.marker.at(-1) ?? ".";
  // All items of a list may have the same number in the source.
  const isRepeated = sibling !== undefined && Number.parseInt(sibling.marker, 10) === own;
  return `${isRepeated ? Number.parseInt(sibling.label, 10) + 1 : own}${end}`;
}

/** A container that starts inside `outer`, after `sibling` has ended. */
export function createBlock(
  container: Container,
  outer: readonly Block[],
  sibling: Block | undefined,
): Block {
  const before = sibling?.kind === "item" && /^\d/.test(sibling.marker) ? sibling : undefined;
  const depth = outer.filter((each) => each.kind === "item" && !/^\d/.test(each.marker)).length;
  const label = /^\d/.test(container.marker)
    ? numberOf(container, before)
    : (bullets[Math.min(depth, bullets.length - 1)] ?? "•");
  return { ...container, label, isShown: container.kind === "quote" };
}

function prefixPart(block: Block, isFirst: boolean): Cell[] {
  if (block.kind === "quote") return cellsOf("│ ", bits.dim);
  const marker = cellsOf(`${block.label} `, colours.yellow);
  return isFirst && !block.isShown ? marker : cellsOf(" ".repeat(widthOf(marker)));
}

/** Prefixes of the next row (`first`) and of later rows (`rest`); at most half of `limit`. */
export function prefixOf(blocks: readonly Block[], limit: number): { first: Cell[]; rest: Cell[] } {
  const first: Cell[] = [];
  const rest: Cell[] = [];
  let left = Math.floor(limit / 2);
  // If space is short, the innermost blocks matter most.
  for (const block of blocks.toReversed()) {
    const own = prefixPart(block, true);
    left -= widthOf(own);
    if (left < 0) break;
    first.unshift(...own);
    rest.unshift(...prefixPart(block, false));
  }
  return { first, rest };
}
