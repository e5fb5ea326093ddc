import { checkKey, SyntaxProblem, type Member, type Node } from "./nodes.ts";

const maxDepth = 100;

interface Reader {
  readonly text: string;
  at: number;
  depth: number;
}

function fail(reader: Reader, message: string, at = reader.at): never {
  throw new SyntaxProblem(message, at);
}

function skipSpace(reader: Reader): void {
  const { text } = reader;
  while (" \t\r\n".includes(text[reader.at] ?? "x")) reader.at++;
  if (text.startsWith("//", reader.at) || text.startsWith("/*", reader.at)) {
    fail(reader, "JSON has no comments");
  }
}

function readString(reader: Reader): string {
  const start = reader.at;
  const pattern = /"(?:[^"\\]|\\.)*"/suy;
  pattern.lastIndex = start;
  const found = pattern.exec(reader.text)?.[0];
  if (found === undefined) fail(reader, "this string has no closing quote", start);
  const control = [...found].findIndex((character) => character < " ");
  if (control >= 0) fail(reader, "a string may not hold a line break or control character", start);
  try {
    const value: unknown = JSON.parse(found);
    reader.at += found.length;
    return String(value);
  } catch {
    // Not the engine's message: it quotes the text.
    return fail(reader, "this string has an invalid escape", start);
  }
}

function readScalar(reader: Reader): Node {
  const start = reader.at;
  if (reader.text[start] === '"') return { kind: "scalar", start, value: readString(reader) };
  const pattern = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\w.])|true\b|false\b|null\b/y;
  pattern.lastIndex = start;
  const found = pattern.exec(reader.text)?.[0];
  if (found === undefined) fail(reader, "expected a value", start);
  reader.at += found.length;
  const value = JSON.parse(found) as number | boolean | null;
  return { kind: "scalar", start, value };
}

// Reads what follows a value: true for another value, false for the end of the collection.
function readSeparator(reader: Reader, close: "}" | "]"): boolean {
  skipSpace(reader);
  const next = reader.text[reader.at];
  if (next === close) {
    reader.at++;
    return false;
  }
  if (next !== ",") fail(reader, `expected "," or "${close}"`);
  const comma = reader.at++;
  skipSpace(reader);
  if (reader.text[reader.at] === close) fail(reader, "JSON has no trailing comma", comma);
  return true;
}

function enterCollection(reader: Reader, close: "}" | "]"): boolean {
  reader.at++;
  if (++reader.depth > maxDepth) fail(reader, `nested deeper than ${maxDepth} levels`);
  skipSpace(reader);
  if (reader.text[reader.at] !== close) return true;
  reader.at++;
  return false;
}

function readObject(reader: Reader): Node {
  const start = reader.at;
  const members: Member[] = [];
  let more = enterCollection(reader, "}");
  while (more) {
    skipSpace(reader);
    const keyStart = reader.at;
    if (reader.text[keyStart] !== '"') fail(reader, "expected a key in double quotes");
    const key = readString(reader);
    checkKey(members, key, keyStart);
    skipSpace(reader);
    if (reader.text[reader.at] !== ":") fail(reader, 'expected ":" after the key');
    reader.at++;
    members.push({ key, keyStart, value: readValue(reader) });
    more = readSeparator(reader, "}");
  }
  reader.depth--;
  return { kind: "object", start, members };
}

function readList(reader: Reader): Node {
  const start = reader.at;
  const items: Node[] = [];
  let more = enterCollection(reader, "]");
  while (more) {
    items.push(readValue(reader));
    more = readSeparator(reader, "]");
  }
  reader.depth--;
  return { kind: "list", start, items };
}

function readValue(reader: Reader): Node {
  skipSpace(reader);
  const next = reader.text[reader.at];
  if (next === undefined) fail(reader, "the file ends before the value is complete");
  if (next === "{") return readObject(reader);
  if (next === "[") return readList(reader);
  return readScalar(reader);
}

/**
 * Parses JSON with the position of every value. Stricter than JSON.parse: a duplicate
 * key is an error. Throws SyntaxProblem.
 */
export function parseJson(text: string): Node {
  const reader: Reader = { text, at: 0, depth: 0 };
  const node = readValue(reader);
  skipSpace(reader);
  if (reader.at < text.length) fail(reader, "unexpected text after the end of the value");
  return node;
}
