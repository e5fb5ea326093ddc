import {
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  parseDocument,
  type Document,
  type Pair,
  type ParsedNode,
  type YAMLError,
} from "yaml";
import { SyntaxProblem, type Path, type Tree } from "./problems.ts";

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/;
const value = new RegExp(`(?:${number.source}|true|false|null)(?![\\w.+-])`, "y");
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const space = /[ \t\r\n]*/y;

const closing = { "{": "}", "[": "]" } as const;
const isOpening = (text: string | undefined): text is "{" | "[" => text === "{" || text === "[";

/** The end of what `pattern` matches at `at`; `at` itself if it matches nothing. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** The first place where a text is no JSON, in words of JSON. */
function firstProblem(text: string): SyntaxProblem {
  const open: ("}" | "]")[] = [];
  const mayEnd = (): string => (open.at(-1) === undefined ? "" : ` or "${open.at(-1)}"`);
  let next: "value" | "key" | ":" | "," = "value";
  let at = 0;
  let comma = -1;
  let justOpened = false;
  for (;;) {
    at = endOf(space, text, at);
    const found = text[at];
    const fail = (message: string, where = at): SyntaxProblem =>
      new SyntaxProblem(message + (found === undefined ? ", but the file ends" : ""), where);
    if (/^(?:\/[/*]|#)/.test(text.slice(at, at + 2))) return fail("JSON has no comments");
    if (found !== undefined && found === open.at(-1) && next !== ":") {
      if (comma >= 0) return fail("JSON has no trailing comma", comma);
      // `{"a": }` lacks a value.
      if (next === "value" && !justOpened) return fail("expected a value");
      open.pop();
      next = ",";
      justOpened = false;
      at++;
      continue;
    }
    if (next === "," && open.length === 0) {
      return found === undefined
        ? new SyntaxProblem("this is not JSON", 0)
        : fail("expected the end of the file");
    }
    if (next === "," || next === ":") {
      if (found !== next) return fail(`expected "${next}"${next === "," ? mayEnd() : ""}`);
      comma = next === "," ? at : -1;
      next = next === "," && open.at(-1) === "}" ? "key" : "value";
      at++;
      continue;
    }
    const end = endOf(string, text, at);
    if (found === '"' && end === at) {
      return fail("a string has no closing quote, a line break or an invalid escape");
    }
    if (next === "key") {
      if (end === at) return fail(`expected a key in double quotes${justOpened ? mayEnd() : ""}`);
      [next, at] = [":", end];
    } else if (isOpening(found)) {
      open.push(closing[found]);
      next = found === "{" ? "key" : "value";
      at++;
    } else {
      const last = Math.max(end, endOf(value, text, at));
      if (last === at) return fail("expected a value");
      [next, at] = [",", last];
    }
    justOpened = isOpening(found);
    comma = -1;
  }
}

const maxDepth = 100;
const defaultMaxNodes = 20_000;

// Beside the text, the lexer gives these marks: yaml.org has no use for their characters.
const lexerMarks = new Set(["\u0002", "\u0018", "\u001f"]);

const tooDeep = (at: number): SyntaxProblem =>
  new SyntaxProblem(`nested deeper than ${maxDepth} levels`, at);

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

/** The library's message, without what it quotes of the file, which may hold a secret. */
function reasonOf({ code, message }: YAMLError): string {
  if (code === "MULTIPLE_DOCS") return "expected a single document";
  const reason = message.replace(/:\s.*$/s, "").replace(/["']/g, "");
  return reason.charAt(0).toLowerCase() + reason.slice(1);
}

/** Parses one document. Throws SyntaxProblem. */
function parseYamlDocument(text: string): Document.Parsed {
  checkDepth(text);
  const document = parseDocument(text, {
    schema: "core",
    // With the key and its place: objectOf().
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: "error",
  });
  // A warning is a tag that is not known, whose value would be read as something else.
  const [error] = [...document.errors, ...document.warnings];
  if (error) throw new SyntaxProblem(reasonOf(error), error.pos[0]);
  return document;
}

interface Source {
  document: Document.Parsed;
  /** How many more nodes the file may have: aliases can expand a few bytes without end (faults.md 0.10). */
  nodesLeft: number;
  /** The nodes that hold the current one. */
  holders: Set<unknown>;
}

type Item = ParsedNode | null;

function valueOf(item: Item, near: number, source: Source, isMetadata: boolean): unknown {
  const start = item?.range[0] ?? near;
  if (--source.nodesLeft < 0)
    throw new SyntaxProblem("too many values after expanding aliases", start);
  if (isAlias(item)) {
    const target = item.resolve(source.document) as ParsedNode | undefined;
    if (target && !source.holders.has(target)) return valueOf(target, start, source, isMetadata);
    throw new SyntaxProblem("an alias stands within the value that it repeats", start);
  }
  if (!isMap(item) && !isSeq(item)) {
    const { value, source: written = "" } = isScalar(item) ? item : { value: null };
    // Metadata keeps its scalars as written: `1.10` does not become 1.1.
    return isMetadata && typeof value !== "string" && value !== null ? written : (value ?? null);
  }
  if (source.holders.size >= maxDepth) throw tooDeep(start);
  source.holders.add(item);
  const value = isSeq(item)
    ? item.items.map((each) => valueOf(each as Item, start, source, isMetadata))
    : objectOf(item.items as ParsedPair[], source, isMetadata);
  source.holders.delete(item);
  return value;
}

type ParsedPair = Pair<ParsedNode, Item>;

const keyOf = ({ key }: ParsedPair, isMetadata: boolean): string =>
  isScalar(key) ? (isMetadata && key.source ? key.source : String(key.value ?? "")) : "";

// Keys that reach the prototype of an object when they are copied carelessly (faults.md U11).
const prototypeKeys = new Set(["__proto__", "constructor", "prototype"]);

function objectOf(items: readonly ParsedPair[], source: Source, isMetadata: boolean): object {
  const found = new Map<string, unknown>();
  for (const pair of items) {
    const start = pair.key.range[0];
    if (!isScalar(pair.key)) {
      throw new SyntaxProblem("a key must be one value; quote a text that begins with {", start);
    }
    const key = keyOf(pair, isMetadata);
    if (prototypeKeys.has(key)) throw new SyntaxProblem(`the key "${key}" is not allowed`, start);
    if (found.has(key)) throw new SyntaxProblem(`the key "${key}" is duplicated`, start);
    found.set(key, valueOf(pair.value, start, source, isMetadata || key === "metadata"));
  }
  return Object.fromEntries(found);
}

/** The offset of a value, or with `atKey` of its key; of the nearest that holds it, if it is not there. */
function offsetOf(document: Document.Parsed, path: Path, atKey: boolean): number {
  let item = document.contents as Item;
  let start = item?.range[0] ?? 0;
  for (const [index, step] of path.entries()) {
    if (isAlias(item)) item = item.resolve(document) as Item;
    if (isMap(item)) {
      const pairs = item.items as ParsedPair[];
      const pair = pairs.find((each) => [true, false].some((is) => keyOf(each, is) === step));
      if (!pair) return start;
      item = pair.value;
      const isLast = index === path.length - 1;
      start = (isLast && atKey) || !item ? pair.key.range[0] : item.range[0];
    } else if (isSeq(item) && typeof step === "number" && step < item.items.length) {
      item = item.items[step] as Item;
      start = item?.range[0] ?? start;
    } else return start;
  }
  return start;
}

function treeOf(document: Document.Parsed, maxNodes: number): Tree {
  const source = { document, nodesLeft: maxNodes, holders: new Set() };
  try {
    const value = valueOf(document.contents as Item, 0, source, false);
    return { value, offsetOf: (path, atKey) => offsetOf(document, path, atKey) };
  } catch (error) {
    if (error instanceof RangeError) throw tooDeep(0);
    throw error;
  }
}

/**
 * Parses one YAML document with the position of every value. `maxNodes` bounds the number of values
 * after aliases are expanded. Throws SyntaxProblem.
 */
export function parseYaml(text: string, maxNodes = defaultMaxNodes): Tree {
  return treeOf(parseYamlDocument(text), maxNodes);
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Parses JSON with the position of every value. Stricter than JSON.parse: a duplicate
 * key is an error. Throws SyntaxProblem.
 */
export function parseJson(text: string): Tree {
  if (!isJson(text)) {
    checkDepth(text);
    throw firstProblem(text);
  }
  return parseYaml(text, Infinity);
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
