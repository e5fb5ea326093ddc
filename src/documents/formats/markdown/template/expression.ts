import { isMap, textOf, type Value } from "../../../front-matter/values.ts";
import { filters } from "./filters.ts";
import { memberOf, type Known, type Scope } from "./scope.ts";

// Nobody writes a longer expression.
const longest = 2000;
const mostDepth = 50;
const token =
  /\s*(?:"([^"]*)"|'([^']*)'|(-?\d+(?:\.\d+)?)(?![\w.])|([A-Za-z_][\w-]*)|(==|!=|<>|<=|>=|<|>|\|\||\||\.\.|[.,:()[\]~]))/y;

interface Token {
  kind: "text" | "number" | "name" | "mark";
  text: string;
}

function tokensOf(text: string): Token[] | undefined {
  const tokens: Token[] = [];
  const source = text.trimEnd();
  if (source.length > longest || source.split(/[([]/).length > mostDepth) return undefined;
  for (let at = 0; at < source.length; at = token.lastIndex) {
    token.lastIndex = at;
    const [whole, double, single, number, name, mark] = token.exec(source) ?? [];
    if (whole === undefined) return undefined;
    const quoted = double ?? single;
    if (quoted !== undefined) tokens.push({ kind: "text", text: quoted });
    else if (number !== undefined) tokens.push({ kind: "number", text: number });
    else if (name !== undefined) tokens.push({ kind: "name", text: name });
    else tokens.push({ kind: "mark", text: mark ?? "" });
  }
  return tokens;
}

/** Reads tokens one after the other. */
interface Reader {
  tokens: readonly Token[];
  at: number;
  scope: Scope;
}

const isMark = ({ tokens, at }: Reader, text: string): boolean =>
  tokens[at]?.kind === "mark" && tokens[at].text === text;

function take(reader: Reader, text: string): boolean {
  if (!isMark(reader, text)) return false;
  reader.at++;
  return true;
}

const literals: Readonly<Record<string, Value>> = {
  nil: null,
  null: null,
  none: null,
  true: "true",
  false: "false",
  empty: "",
  blank: "",
};

function readPath(reader: Reader, first: string): Known {
  const { tokens, scope } = reader;
  const names: (string | undefined)[] = [first];
  for (;;) {
    const next = tokens[reader.at + 1];
    if (isMark(reader, ".") && next?.kind === "name") {
      names.push(next.text);
      reader.at += 2;
    } else if (take(reader, "[")) {
      names.push(textOf(readValue(reader)));
      if (!take(reader, "]")) return undefined;
    } else break;
  }
  if (names.some((name) => name === undefined)) return undefined;
  const all = names.filter((name) => name !== undefined);
  if (!scope.variables.has(first)) return scope.lookUp(all);
  return all.slice(1).reduce(memberOf, scope.variables.get(first));
}

function readValue(reader: Reader): Known {
  const next = reader.tokens[reader.at];
  if (!next) return undefined;
  reader.at++;
  if (next.kind === "text" || next.kind === "number") return next.text;
  if (next.kind === "name") {
    const isPath = isMark(reader, ".") || isMark(reader, "[");
    return !isPath && Object.hasOwn(literals, next.text)
      ? literals[next.text]
      : readPath(reader, next.text);
  }
  if (next.text !== "(") return undefined;
  const from = Number(textOf(readValue(reader)));
  const isRange = take(reader, "..");
  const to = Number(textOf(readValue(reader)));
  const isWhole = isRange && take(reader, ")") && to - from < 1000;
  return isWhole ? Array.from({ length: to - from + 1 }, (_, at) => String(from + at)) : undefined;
}

/** The arguments of a filter: `: a, b` of Liquid, `(a, b)` of Nunjucks. `key: value` is left out. */
function readArguments(reader: Reader): Known[] {
  const isCall = take(reader, "(");
  if (!isCall && !take(reader, ":")) return [];
  const values: Known[] = [];
  while (reader.at < reader.tokens.length && !isMark(reader, "|") && !isMark(reader, ")")) {
    const value = readValue(reader);
    if (take(reader, ":")) readValue(reader);
    else values.push(value);
    if (!take(reader, ",")) break;
  }
  if (isCall) take(reader, ")");
  return values;
}

/** jekyllrb.com, "Liquid filters", `where_exp`: the items for which a condition about a name holds. */
function itemsWhere(value: Value, [name, condition]: readonly Value[], scope: Scope): Known {
  const [key, text] = [textOf(name ?? null), textOf(condition ?? null)];
  if (!Array.isArray(value) || key === undefined || text === undefined) return undefined;
  const { variables } = scope;
  const before = [variables.get(key), variables.has(key)] as const;
  const results = value.map((item) =>
    holds(text, { ...scope, variables: variables.set(key, item) }),
  );
  if (before[1]) variables.set(key, before[0]);
  else variables.delete(key);
  return results.includes(undefined) ? undefined : value.filter((_, at) => results[at]);
}

function readFiltered(reader: Reader): Known {
  let value = readValue(reader);
  while (take(reader, "|")) {
    const name = reader.tokens[reader.at++]?.text ?? "";
    const values = readArguments(reader);
    const own = name === "where_exp" ? itemsWhere : undefined;
    const filter = own ?? (Object.hasOwn(filters, name) ? filters[name] : undefined);
    const isKnown = value !== undefined && values.every((each) => each !== undefined);
    // `default` is there for values that are missing.
    value = filter && isKnown ? filter(value as Value, values as Value[], reader.scope) : undefined;
  }
  return value;
}

/** The value of an expression such as `page.title | default: "x" | upcase`. */
export function valueOf(text: string, scope: Scope): Known {
  const tokens = tokensOf(text);
  if (!tokens || tokens.length === 0) return undefined;
  const reader = { tokens, at: 0, scope };
  const value = readFiltered(reader);
  return reader.at === tokens.length ? value : undefined;
}

/** The text that a template prints for a value; undefined for one that is not known. */
export function printed(value: Known): string | undefined {
  if (value === null) return "";
  if (value === undefined || isMap(value)) return undefined;
  if (!Array.isArray(value)) return textOf(value);
  const texts = value.map(printed);
  return texts.some((each) => each === undefined) ? undefined : texts.join("");
}

/** Whether a value counts as true. In YAML, `false` is text here. */
const isTrue = (value: Value): boolean => value !== null && textOf(value) !== "false";

const sameText = (one: Value, other: Value): boolean => {
  if (one === null || other === null) return one === other;
  if (Array.isArray(one)) return other === "" && one.length === 0;
  return textOf(one) !== undefined && textOf(one) === textOf(other);
};

function contains(whole: Value, part: Value): boolean {
  const text = textOf(part) ?? "";
  if (Array.isArray(whole)) return whole.some((each) => sameText(each, part));
  if (whole !== null && isMap(whole)) return Object.hasOwn(whole, text);
  return part !== null && (textOf(whole) ?? "").includes(text);
}

const operators: Readonly<Record<string, (one: Value, other: Value) => boolean>> = {
  "==": sameText,
  "!=": (one, other) => !sameText(one, other),
  "<>": (one, other) => !sameText(one, other),
  "<": (one, other) => Number(textOf(one)) < Number(textOf(other)),
  ">": (one, other) => Number(textOf(one)) > Number(textOf(other)),
  "<=": (one, other) => Number(textOf(one)) <= Number(textOf(other)),
  ">=": (one, other) => Number(textOf(one)) >= Number(textOf(other)),
  contains,
  in: (part, whole) => contains(whole, part),
};

function readComparison(reader: Reader): boolean | undefined {
  const isNot = reader.tokens[reader.at]?.text === "not" && reader.at++ >= 0;
  const left = readFiltered(reader);
  const operator = reader.tokens[reader.at]?.text ?? "";
  let result: boolean | undefined;
  if (Object.hasOwn(operators, operator)) {
    reader.at++;
    const right = readFiltered(reader);
    const isKnown = left !== undefined && right !== undefined;
    result = isKnown ? operators[operator]?.(left, right) : undefined;
  } else result = left === undefined ? undefined : isTrue(left);
  return isNot && result !== undefined ? !result : result;
}

function joined(left: boolean | undefined, word: string, right: boolean | undefined) {
  if (word === "and") return left === false || right === false ? false : left && right;
  return left === true || right === true ? true : left === false ? right : undefined;
}

/**
 * Whether a condition holds; undefined if that is not known. Liquid reads `and` and `or` from the
 * right (shopify.github.io/liquid, "Operators").
 */
export function holds(text: string, scope: Scope): boolean | undefined {
  const tokens = tokensOf(text);
  if (!tokens || tokens.length === 0) return undefined;
  const reader = { tokens, at: 0, scope };
  const results = [readComparison(reader)];
  const words: string[] = [];
  while (/^(?:and|or)$/.test(tokens[reader.at]?.text ?? "")) {
    words.push(tokens[reader.at++]?.text ?? "");
    results.push(readComparison(reader));
  }
  if (reader.at < tokens.length) return undefined;
  let result = results.at(-1);
  for (let at = words.length - 1; at >= 0; at--)
    result = joined(results[at], words[at] ?? "", result);
  return result;
}

/** Whether two values are the same, for `case`; undefined if that is not known. */
export const isSame = (one: Known, other: Known): boolean | undefined =>
  one === undefined || other === undefined ? undefined : sameText(one, other);
