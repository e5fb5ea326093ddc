import { bits, cellsOf, colours, widthOf, type Cell } from "./cells.ts";
import type { Container } from "./lead.ts";

/** An open container: a list item shows its marker once, in its first row. */
export interface Block extends Container {
  /** Marker as it is drawn: `•`, `3.` */
  label: string;
  isShown: boolean;
}

const bullets = ["•", "◦", "▪"];

function numberOf(container: Container, sibling: Block | undefined): string {
  const own = Number.parseInt(container.marker, 10);
  const end = container.marker.at(-1) ?? ".";
  // A list may be written with the same number all the way down.
  const isRepeated = sibling !== undefined && Number.parseInt(sibling.marker, 10) === own;
  return `${isRepeated ? Number.parseInt(sibling.label, 10) + 1 : own}${end}`;
}

/** A container that begins inside `outer`, where `sibling` has just ended. */
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

function piece(block: Block, isFirst: boolean): Cell[] {
  if (block.kind === "quote") return cellsOf("│ ", bits.dim);
  const marker = cellsOf(`${block.label} `, colours.yellow);
  return isFirst && !block.isShown ? marker : cellsOf(" ".repeat(widthOf(marker)));
}

/** What stands in front of the next row, and of those after it; never more than half of `limit`. */
export function prefixOf(blocks: readonly Block[], limit: number): { first: Cell[]; rest: Cell[] } {
  const first: Cell[] = [];
  const rest: Cell[] = [];
  let left = Math.floor(limit / 2);
  // The innermost ones say most.
  for (const block of blocks.toReversed()) {
    const own = piece(block, true);
    left -= widthOf(own);
    if (left < 0) break;
    first.unshift(...own);
    rest.unshift(...piece(block, false));
  }
  for (const block of blocks) block.isShown = true;
  return { first, rest };
}

/** What stands in front of an empty row. */
export function restOf(blocks: readonly Block[], limit: number): Cell[] {
  const { rest } = prefixOf(
    blocks.map((block) => ({ ...block })),
    limit,
  );
  return rest;
}
