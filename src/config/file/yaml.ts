import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  parseDocument,
  type Document,
  type ParsedNode,
  type YAMLError,
} from "yaml";
import { checkKey, SyntaxProblem, type Member, type Node } from "./nodes.ts";

const maxDepth = 100;
const defaultMaxNodes = 20_000;

// Beside the text, the lexer gives these marks: yaml.org has no use for their characters.
const lexerMarks = new Set(["\u0002", "\u0018", "\u001f"]);

/** Refuses deep nesting before parsing: 5,000 nested brackets abort the process in the library. */
function checkDepth(text: string): void {
  let depth = 0;
  let at = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === "]" || token === "}") depth--;
    if ((token === "[" || token === "{") && ++depth > maxDepth) throw tooDeep(at);
    if (!lexerMarks.has(token)) at += token.length;
  }
}

const tooDeep = (at: number): SyntaxProblem =>
  new SyntaxProblem(`nested deeper than ${maxDepth} levels`, at);

/** The library's message, without what it quotes of the file, which may hold a secret. */
function reasonOf({ code, message }: YAMLError): string {
  if (code === "MULTIPLE_DOCS") return "expected a single document";
  const reason = message.replace(/:\s.*$/s, "").replace(/["']/g, "");
  return reason.charAt(0).toLowerCase() + reason.slice(1);
}

/** Parses one document, and finds its first problem. Throws SyntaxProblem for deep nesting. */
export function composeYaml(text: string): {
  document: Document.Parsed;
  problem: SyntaxProblem | undefined;
} {
  checkDepth(text);
  const document = parseDocument(text, {
    schema: "core",
    // With the key and its place: nodes.ts.
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "error",
  });
  // A warning is a tag that is not known, whose value would be read as something else.
  const [error] = [...document.errors, ...document.warnings];
  return { document, problem: error && new SyntaxProblem(reasonOf(error), error.pos[0]) };
}

function parseYamlDocument(text: string): Document.Parsed {
  const { document, problem } = composeYaml(text);
  if (problem) throw problem;
  return document;
}

interface Source {
  document: Document.Parsed;
  /** How many more nodes the file may have: aliases can expand a few bytes without end (faults.md 0.10). */
  nodesLeft: number;
  /** The nodes that hold the current one. */
  holders: Set<unknown>;
}

function toNode(item: ParsedNode | null, near: number, source: Source, isMetadata: boolean): Node {
  const start = item?.range[0] ?? near;
  if (--source.nodesLeft < 0) {
    throw new SyntaxProblem("too many values after expanding aliases", start);
  }
  if (isAlias(item)) {
    const target = item.resolve(source.document) as ParsedNode | undefined;
    if (!target || source.holders.has(target)) {
      throw new SyntaxProblem("an alias stands within the value that it repeats", start);
    }
    return { ...toNode(target, start, source, isMetadata), start };
  }
  if (!isMap(item) && !isSeq(item)) {
    const { value, source: written = "" } = isScalar(item) ? item : { value: null };
    // Metadata keeps its scalars as written: `1.10` does not become 1.1.
    const isText = isMetadata && typeof value !== "string" && value !== null;
    const scalar = isText ? written : (value as string | number | boolean | null);
    return { kind: "scalar", start, value: scalar ?? null };
  }
  if (source.holders.size >= maxDepth) throw tooDeep(start);
  source.holders.add(item);
  const node = isSeq(item)
    ? listNode(item.items as ParsedNode[], start, source, isMetadata)
    : objectNode(item.items as ParsedPair[], start, source, isMetadata);
  source.holders.delete(item);
  return node;
}

interface ParsedPair {
  key: ParsedNode;
  value: ParsedNode | null;
}

function listNode(items: ParsedNode[], start: number, source: Source, isMetadata: boolean): Node {
  const nodes = items.map((each) => toNode(each, start, source, isMetadata));
  return { kind: "list", start, items: nodes };
}

function objectNode(items: ParsedPair[], start: number, source: Source, isMetadata: boolean): Node {
  const members: Member[] = [];
  const keys = new Set<string>();
  for (const { key: keyNode, value } of items) {
    const keyStart = keyNode.range[0];
    if (!isScalar(keyNode)) throw new SyntaxProblem("a key must be one value", keyStart);
    const key = isMetadata && keyNode.source ? keyNode.source : String(keyNode.value ?? "");
    checkKey(keys, key, keyStart);
    const inner = toNode(value, keyStart, source, isMetadata || key === "metadata");
    members.push({ key, keyStart, value: inner });
  }
  return { kind: "object", start, members };
}

/**
 * Parses one YAML document with the position of every value. `maxNodes` bounds the number of values
 * after aliases are expanded. Throws SyntaxProblem.
 */
export function parseYaml(text: string, maxNodes = defaultMaxNodes): Node {
  return treeOf(parseYamlDocument(text), maxNodes);
}

function treeOf(document: Document.Parsed, maxNodes: number): Node {
  const source = { document, nodesLeft: maxNodes, holders: new Set() };
  try {
    return toNode(document.contents, 0, source, false);
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(0);
    throw error;
  }
}

/**
 * A YAML text with values set, or removed where they are undefined. Comments stay, and what is not
 * changed is written as it was.
 */
export function changeYaml(
  text: string,
  changes: readonly (readonly [path: readonly string[], value: unknown])[],
): string {
  const document = parseYamlDocument(text);
  for (const [path, value] of changes) {
    copyAliases(document, path);
    if (value === undefined) document.deleteIn(path);
    else setIn(document, path, value);
  }
  const indent = /^( +)\S/m.exec(text)?.[1]?.length ?? 2;
  return document.toString({ lineWidth: 0, indent, flowCollectionPadding: /\{ /.test(text) });
}

/** Replaces aliases on the way to a value by copies: a change must not change what they repeat. */
function copyAliases(document: Document.Parsed, path: readonly string[]): void {
  for (let depth = 1; depth < path.length; depth++) {
    const node = document.getIn(path.slice(0, depth), true);
    if (!isAlias(node)) continue;
    const copy: unknown = node.resolve(document)?.toJS(document);
    document.setIn(path.slice(0, depth), document.createNode(copy));
  }
}

/** Sets a value; what is no object on the way to it becomes one. */
function setIn(document: Document.Parsed, path: readonly string[], value: unknown): void {
  let depth = path.length;
  while (depth > 1 && !isMap(document.getIn(path.slice(0, depth - 1), true))) depth--;
  const inner = path.slice(depth).reduceRight((held, key) => ({ [key]: held }), value);
  document.setIn(path.slice(0, depth), document.createNode(inner));
}
