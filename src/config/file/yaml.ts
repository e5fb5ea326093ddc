import { CORE_SCHEMA, load, YAMLException, type EventType, type State } from "js-yaml";
import { checkKey, SyntaxProblem, type Member, type Node } from "./nodes.ts";

interface Event {
  start: number;
  end: number;
  result: unknown;
  children: Event[];
}

// A node starts after the spaces and comments before it.
function skipSpace(text: string, at: number): number {
  const pattern = /(?:[ \t\r\n]|#[^\n]*)*/y;
  pattern.lastIndex = at;
  return at + (pattern.exec(text)?.[0].length ?? 0);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

interface Source {
  text: string;
  /** How many more nodes the file may have: aliases can expand a few bytes without end (faults.md 0.10). */
  nodesLeft: number;
  /** The objects and lists that hold the current value. */
  holders: Set<unknown>;
}

function mappingNode(
  event: Event,
  value: Record<string, unknown>,
  source: Source,
  isMetadata: boolean,
): Node {
  const start = skipSpace(source.text, event.start);
  const members: Member[] = [];
  // Children alternate: key, value, key, value. An alias or an unusual key breaks the
  // alternation. Then positions fall back to the mapping's position; values stay correct.
  const places = new Map<string, [key: Event, value: Event | undefined]>();
  for (let index = 0; index < event.children.length; index += 2) {
    const key = event.children[index];
    if (key) places.set(String(key.result), [key, event.children[index + 1]]);
  }
  for (const [key, inner] of Object.entries(value)) {
    const place = places.get(key);
    const keyStart = place ? skipSpace(source.text, place[0].start) : start;
    checkKey(members, key, keyStart);
    const node = toNode(place?.[1], inner, source, keyStart, isMetadata || key === "metadata");
    members.push({ key, keyStart, value: node });
  }
  return { kind: "object", start, members };
}

function listNode(event: Event, values: unknown[], source: Source, isMetadata: boolean): Node {
  const start = skipSpace(source.text, event.start);
  const items = values.map((item, index) =>
    toNode(event.children[index], item, source, start, isMetadata),
  );
  return { kind: "list", start, items };
}

function toNode(
  event: Event | undefined,
  value: unknown,
  source: Source,
  near: number,
  isMetadata: boolean,
): Node {
  if (--source.nodesLeft < 0) {
    throw new SyntaxProblem("too many values after expanding aliases", near);
  }
  const at = event ?? { start: near, end: near, result: value, children: [] };
  const start = skipSpace(source.text, at.start);
  if (typeof value === "object" && value !== null) {
    if (source.holders.has(value)) {
      throw new SyntaxProblem("an alias stands within the value that it repeats", near);
    }
    source.holders.add(value);
    const node = isObject(value)
      ? mappingNode(at, value, source, isMetadata)
      : listNode(at, value as unknown[], source, isMetadata);
    source.holders.delete(value);
    return node;
  }
  let scalar = value as string | number | boolean | null;
  // Metadata keeps its scalars as written: `1.10` does not become 1.1, nor a date a Date.
  if (isMetadata && typeof scalar !== "string" && scalar !== null) {
    scalar = source.text.slice(start, at.end).trim();
  }
  return { kind: "scalar", start, value: scalar };
}

// Cuts off quoted text and tags: js-yaml quotes the file in some reasons.
function reasonOf(error: YAMLException): string {
  return error.reason.replace(/\s*(?:["']|!<).*$/s, "");
}

const defaultMaxNodes = 20_000;

/**
 * Parses one YAML document with the position of every value. `maxNodes` bounds the number of values
 * after aliases are expanded. Throws SyntaxProblem.
 */
export function parseYaml(text: string, maxNodes = defaultMaxNodes): Node {
  const root: Event = { start: 0, end: 0, result: undefined, children: [] };
  const open: Event[] = [root];
  const listener = (type: EventType, state: State): void => {
    if (type === "open") {
      open.push({ start: state.position, end: 0, result: undefined, children: [] });
      return;
    }
    const event = open.pop();
    if (!event) return;
    event.end = state.position;
    event.result = state.result;
    // In block context js-yaml first reads a value as a possible key: two nested events, one result.
    const [only] = event.children;
    if (only && event.children.length === 1 && only.result === event.result) {
      event.children = only.children;
    }
    open.at(-1)?.children.push(event);
  };
  let value: unknown;
  try {
    value = load(text, { schema: CORE_SCHEMA, listener });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    throw new SyntaxProblem(reasonOf(error), error.mark?.position ?? 0);
  }
  return toNode(
    root.children[0],
    value,
    { text, nodesLeft: maxNodes, holders: new Set() },
    0,
    false,
  );
}
