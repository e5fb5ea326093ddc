/** A key of an object in a file, or an index of a list. */
export type Path = readonly (string | number)[];

/** A value of a configuration file with its position. Offsets count UTF-16 units. */
export type Node =
  | { kind: "object"; start: number; members: Member[] }
  | { kind: "list"; start: number; items: Node[] }
  | { kind: "scalar"; start: number; value: string | number | boolean | null };

export interface Member {
  key: string;
  keyStart: number;
  value: Node;
}

/** A syntax error in JSON or YAML. Never quotes the text: it may hold a secret. */
export class SyntaxProblem extends Error {
  readonly offset: number;
  constructor(message: string, offset: number) {
    super(message);
    this.name = "SyntaxProblem";
    this.offset = offset;
  }
}

// Keys that reach the prototype of an object when they are copied carelessly (faults.md U11).
const prototypeKeys = new Set(["__proto__", "constructor", "prototype"]);

/** Adds a key to those of its object. Throws SyntaxProblem for a forbidden or duplicate key. */
export function checkKey(keys: Set<string>, key: string, start: number): void {
  if (prototypeKeys.has(key)) throw new SyntaxProblem(`the key "${key}" is not allowed`, start);
  if (keys.has(key)) throw new SyntaxProblem(`the key "${key}" is duplicated`, start);
  keys.add(key);
}

/** The plain value of a node. */
export function valueOf(node: Node): unknown {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "list") return node.items.map(valueOf);
  return Object.fromEntries(node.members.map((member) => [member.key, valueOf(member.value)]));
}

/** The node at `path`, or undefined. */
export function nodeAt(node: Node, path: Path): Node | undefined {
  let at: Node | undefined = node;
  for (const step of path) {
    if (at?.kind === "object") at = at.members.find((member) => member.key === step)?.value;
    else if (at?.kind === "list" && typeof step === "number") at = at.items[step];
    else return undefined;
  }
  return at;
}

/**
 * The offset to report for `path`: its value, or with `atKey` its key. For a path that
 * does not exist, the nearest enclosing node.
 */
export function offsetOf(node: Node, path: Path, atKey: boolean): number {
  const last = path.at(-1);
  const parent = nodeAt(node, path.slice(0, -1));
  if (parent?.kind === "object") {
    const member = parent.members.find((each) => each.key === last);
    if (member) return atKey ? member.keyStart : member.value.start;
  }
  const found = nodeAt(node, path);
  if (found) return found.start;
  return path.length === 0 ? node.start : offsetOf(node, path.slice(0, -1), atKey);
}

export interface Place {
  /** From 1. */
  line: number;
  /** From 1, in UTF-16 units. */
  column: number;
}

/** Line and column of an offset. */
export function placeOf(text: string, offset: number): Place {
  const before = text.slice(0, offset);
  const line = before.split("\n").length;
  return { line, column: before.length - (before.lastIndexOf("\n") + 1) + 1 };
}
