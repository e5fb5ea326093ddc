/** A part of a template of Go: text, an action, or a block with the word that begins it. */
export type GoNode =
  | { kind: "text"; text: string }
  | { kind: "action"; text: string }
  | { kind: "block"; word: string; text: string; body: GoNode[]; otherwise: GoNode[] };

export interface GoTree {
  nodes: GoNode[];
  /** The templates that it defines, by name. */
  defined: ReadonlyMap<string, GoNode[]>;
}

// A template is a page of HTML at most.
const longest = 50_000;
export const longestAction = 2000;
const opening = /^(if|with|range|block|define)\b\s*([^]*)$/;

type Block = Extract<GoNode, { kind: "block" }>;

interface Part {
  isAction: boolean;
  text: string;
}

function partsOf(template: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  let trims = false;
  const add = (text: string): void => {
    const shown = trims ? text.trimStart() : text;
    if (shown !== "") parts.push({ isAction: false, text: shown });
  };
  for (let end = 0; ; from = end + 2) {
    const start = template.indexOf("{{", from);
    // Nothing ends the last actions of a text either, which would each be looked at to its end.
    end = start === -1 ? -1 : template.indexOf("}}", start + 2);
    if (end === -1) break;
    const [, before, inner = "", after] =
      /^(-?)([^]*?)(-?)$/.exec(template.slice(start + 2, end)) ?? [];
    const raw = template.slice(from, start);
    add(before === "-" ? raw.trimEnd() : raw);
    const text = inner.trim();
    if (text !== "" && !text.startsWith("/*")) parts.push({ isAction: true, text });
    trims = after === "-";
  }
  add(template.slice(from));
  return parts;
}

interface Open {
  block: Block;
  /** Where the next nodes go: the body of the block, or of what stands after `else`. */
  into: GoNode[];
  /** The blocks that `else if` began: one `end` closes them all. */
  isElse: boolean;
}

/** The tree of a template; undefined for one that is too long, or whose blocks do not end. */
export function parseGo(template: string): GoTree | undefined {
  if (template.length > longest) return undefined;
  const nodes: GoNode[] = [];
  const defined = new Map<string, GoNode[]>();
  const open: Open[] = [];
  const add = (node: GoNode): unknown => (open.at(-1)?.into ?? nodes).push(node);
  const begin = (word: string, text: string, isElse: boolean): void => {
    const block: Block = { kind: "block", word, text, body: [], otherwise: [] };
    const name = /^"([^"]*)"/.exec(text)?.[1];
    if (name !== undefined && /^(?:define|block)$/.test(word)) defined.set(name, block.body);
    add(block);
    open.push({ block, into: block.body, isElse });
  };
  for (const { isAction, text } of partsOf(template)) {
    if (!isAction) {
      add({ kind: "text", text });
      continue;
    }
    const [, word = "", rest = ""] = opening.exec(text) ?? [];
    const [, branch, condition = ""] = /^else(?:\s+(if|with)\s+([^]*))?$/.exec(text) ?? [];
    const last = open.at(-1);
    if (word !== "") begin(word, rest, false);
    else if (text === "end") {
      while (open.pop()?.isElse === true);
    } else if (/^else\b/.test(text) && last) {
      last.into = last.block.otherwise;
      if (branch !== undefined) begin(branch, condition, true);
    } else add({ kind: "action", text });
  }
  return open.length === 0 ? { nodes, defined } : undefined;
}
