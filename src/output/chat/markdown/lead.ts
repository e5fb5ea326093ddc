/** A block that contains other blocks. `offset`: indentation of its lines in columns. */
export interface Container {
  kind: "quote" | "item";
  offset: number;
  /** Marker of a list item in the source: `-`, `7.`. */
  marker: string;
}

export type Leaf =
  | { kind: "blank" | "text" | "rule" | "indented" | "table" }
  | { kind: "heading"; level: number }
  | { kind: "fence"; mark: string; length: number; indent: number }
  | { kind: "underline"; level: 1 | 2 };

/** The parsed start of a line. */
export interface Lead {
  /** Number of containers that continue. */
  kept: number;
  /** Containers that start in this line. */
  opened: Container[];
  leaf: Leaf;
  /** The part of the start that is already content. */
  rest: string;
}

/** Characters at the start of a line that may belong to block marks. */
export const leading = /^[ \t>*+\-_#0-9.)`~=|:]$/;
/** A longer start is content. */
export const maxLeadLength = 240;
const maxNesting = 12;

function indentOf(text: string, at: number): number {
  let end = at;
  while (text[end] === " ") end++;
  return end - at;
}

/** Number of containers that the line continues (`kept`), and the index of their content (`at`). */
export function matchContainers(
  text: string,
  containers: readonly Container[],
  isComplete: boolean,
): { kept: number; at: number } {
  let at = 0;
  let kept = 0;
  for (const { kind, offset } of containers) {
    const indent = indentOf(text, at);
    if (kind === "quote") {
      if (indent > 3 || text[at + indent] !== ">") break;
      at += indent + 1;
      if (text[at] === " ") at++;
    } else if (isComplete && text.slice(at).trim() === "") at = Math.min(text.length, at + offset);
    else if (indent >= offset) at += offset;
    else break;
    kept++;
  }
  return { kept, at };
}

const item = /^([-*+]|\d{1,9}[.)])( +|$)/;

/** The container that starts at `at`, and the index of its content. */
function readContainer(
  text: string,
  at: number,
  line: { interrupts: boolean; isComplete: boolean },
): { container: Container; at: number } | undefined {
  const indent = indentOf(text, at);
  const start = at + indent;
  if (indent > 3) return undefined;
  if (text[start] === ">") {
    const end = start + (text[start + 1] === " " ? 2 : 1);
    return { container: { kind: "quote", offset: 0, marker: ">" }, at: end };
  }
  const [, marker = "", gap = ""] = item.exec(text.slice(start)) ?? [];
  // Only a complete line can be a rule: `* **Name**` starts with the same marks.
  if (marker === "" || (line.isComplete && isRule(text.slice(start)))) return undefined;
  const isEmpty = text.slice(start + marker.length).trim() === "";
  // `-` is a list item only if a space or the line end follows.
  if (isEmpty && gap === "" && !line.isComplete) return undefined;
  // In a paragraph, a number other than 1 or a single dash does not start a list.
  const cannotInterrupt = /^\d/.test(marker)
    ? marker.slice(0, -1) !== "1"
    : isEmpty && line.isComplete;
  if (line.interrupts && cannotInterrupt) return undefined;
  const wide = gap.length > 4 || gap === "" ? 1 : gap.length;
  const container: Container = { kind: "item", offset: indent + marker.length + wide, marker };
  return { container, at: Math.min(text.length, start + marker.length + wide) };
}

function isRule(text: string): boolean {
  const marks = text.replaceAll(" ", "");
  return /^(?:-{3,}|\*{3,}|_{3,})$/.test(marks);
}

function readLeaf(
  content: string,
  { isComplete, isText, isInside }: { isComplete: boolean; isText: boolean; isInside: boolean },
): [Leaf, number] {
  const indent = indentOf(content, 0);
  const text = content.slice(indent);
  if (text === "" && isComplete) return [{ kind: "blank" }, indent];
  if (indent > 3) return isText ? [{ kind: "text" }, indent] : [{ kind: "indented" }, 4];
  const [, hashes = ""] = /^(#{1,6})(?: |$)/.exec(text) ?? [];
  if (hashes !== "" && (isComplete || text.length > hashes.length)) {
    return [{ kind: "heading", level: hashes.length }, indent + hashes.length];
  }
  const [fence = ""] = /^(?:`{3,}|~{3,})/.exec(text) ?? [];
  if (fence !== "") {
    const mark = fence[0] ?? "`";
    return [{ kind: "fence", mark, length: fence.length, indent }, indent + fence.length];
  }
  if (text.startsWith("|")) return [{ kind: "table" }, indent];
  if (!isComplete) return [{ kind: "text" }, indent];
  if (isText && isInside && /^(?:=+|-{2,}) *$/.test(text)) {
    return [{ kind: "underline", level: text.startsWith("=") ? 1 : 2 }, 0];
  }
  return isRule(text) ? [{ kind: "rule" }, content.length] : [{ kind: "text" }, indent];
}

/**
 * Parses the start of a line. `text` contains only `leading` characters (and the box of
 * a task). `isComplete`: `text` is the whole line; else other text follows. `isText`: a
 * paragraph is open, which the line may continue.
 */
export function readLead(
  text: string,
  containers: readonly Container[],
  isComplete: boolean,
  isText: boolean,
): Lead {
  const matched = matchContainers(text, containers, isComplete);
  const { kept } = matched;
  let { at } = matched;
  const opened: Container[] = [];
  // A paragraph in a list item or quote may continue without their marks.
  const isInside = isText && kept === containers.length;
  while (kept + opened.length < maxNesting) {
    const interrupts = isInside && opened.length === 0;
    const next = readContainer(text, at, { interrupts, isComplete });
    if (!next) break;
    opened.push(next.container);
    at = next.at;
  }
  const state = { isComplete, isText: isText && opened.length === 0, isInside };
  const [leaf, start] = readLeaf(text.slice(at), state);
  return { kept, opened, leaf, rest: text.slice(at + start) };
}
