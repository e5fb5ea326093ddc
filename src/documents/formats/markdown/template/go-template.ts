import { isMap, textOf } from "../../../front-matter/values.ts";
import { type GoNode, longestAction, parseGo } from "./go-parse.ts";
import {
  asData,
  functions,
  type GoValue,
  isObject,
  isTrue,
  longestText,
  memberOf,
  nameOfFunction,
  passes,
  text,
} from "./go-values.ts";

/**
 * Templates of Go as shortcodes of Hugo use them (pkg.go.dev/text/template; gohugo.io, "Introduction
 * to templating"). What only Hugo knows is unknown, and a text that shows it is, too.
 */

/** What a template works with. */
export interface GoWork {
  /** What `.` and `$` are at the start. */
  dot: GoValue;
  /** A name that is no value of the template: `site`, `partial "x"`. */
  call(name: string, args: readonly GoValue[]): GoValue;
  /** What the templates of one document may still do. */
  left: { turns: number; chars: number; depth: number };
  /** Stands for the content of the shortcode; a function that reads it cannot. */
  content: string;
  /** Called where one would. */
  onContent(): void;
}

/** Stands in a text for what is not known: in a tag or a script no reader misses it. */
const unknown = "\uE003";
const mostDepth = 50;
const token =
  /\s*(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`|(-?\d+(?:\.\d+)?)(?![\w.])|([$.]?[A-Za-z_$][\w$]*(?:\.[A-Za-z_]\w*)*|\$(?:\.[A-Za-z_]\w*)+|\$|\.)|([|()]))/y;

interface Scope {
  variables: Map<string, GoValue>;
  outer: Scope | undefined;
  dot: GoValue;
}

interface Run {
  work: GoWork;
  defined: ReadonlyMap<string, readonly GoNode[]>;
  result: string;
  /** Why the rest of a body is left out. */
  signal: "break" | "continue" | "return" | undefined;
  returned: GoValue;
}

interface Reader {
  source: string;
  at: number;
  run: Run;
  scope: Scope;
}

interface Operand {
  value: GoValue;
  /** A name that takes the values after it as arguments. */
  call?: (args: readonly GoValue[]) => GoValue;
}

const placeOf = (scope: Scope, name: string): Scope | undefined => {
  for (let at: Scope | undefined = scope; at; at = at.outer) if (at.variables.has(name)) return at;
  return undefined;
};

const walk = (from: GoValue, names: readonly string[], args: readonly GoValue[]): GoValue =>
  names.reduce(
    (value, name, at) => memberOf(value, name, at === names.length - 1 ? args : []),
    from,
  );

const usesContent = ({ work }: Run, value: GoValue): boolean =>
  typeof value === "string" && value.includes(work.content);

function callFunction(run: Run, name: string, args: readonly GoValue[]): GoValue {
  const own = nameOfFunction(name);
  // What is decided by the values before an unknown one is known.
  if (own === "and") return args.find((each) => each === undefined || !isTrue(each)) ?? args.at(-1);
  if (own === "or") return args.find((each) => each === undefined || isTrue(each)) ?? args.at(-1);
  if (!passes.has(own) && args.some((each) => usesContent(run, each))) run.work.onContent();
  if (args.includes(undefined)) return undefined;
  const result = functions[own]?.(...args);
  return typeof result === "string" && result.length > longestText ? undefined : result;
}

/** A name and the members after it: `.Page.Title`, `$tab.Name`, `site.Params.x`, `lower`. */
function named(reader: Reader, name: string): Operand {
  const { run, scope } = reader;
  if (/^(?:true|false|nil)$/.test(name)) return { value: name === "nil" ? null : name };
  const [first = "", ...members] = name.split(".");
  const place = first.startsWith("$") ? placeOf(scope, first) : undefined;
  const start = name.startsWith(".") ? scope.dot : place?.variables.get(first);
  const call = (args: readonly GoValue[]): GoValue => {
    if (first === "" || first.startsWith("$")) return walk(start, members.filter(Boolean), args);
    if (Object.hasOwn(functions, nameOfFunction(name)) || /^(?:and|or)$/.test(name))
      return callFunction(run, name, args);
    const whole = run.work.call(name, args);
    if (whole !== undefined || members.length === 0) return whole;
    return walk(run.work.call(first, []), members, args);
  };
  return { value: undefined, call };
}

function readOperand(reader: Reader): Operand | undefined {
  token.lastIndex = reader.at;
  const [whole, double, raw, number, name, mark] = token.exec(reader.source) ?? [];
  if (whole === undefined || mark === ")" || mark === "|") return undefined;
  reader.at = token.lastIndex;
  const quoted =
    double?.replace(/\\(.)/g, (_, char: string) => (char === "n" ? "\n" : char)) ?? raw;
  if (quoted !== undefined) return { value: quoted };
  if (number !== undefined) return { value: number };
  if (mark !== "(") return named(reader, name ?? "");
  const value = readPipeline(reader);
  token.lastIndex = reader.at;
  if (token.exec(reader.source)?.[5] !== ")") return { value: undefined };
  reader.at = token.lastIndex;
  const members = /^(?:\.[A-Za-z_]\w*)+/.exec(reader.source.slice(reader.at))?.[0];
  if (members === undefined) return { value };
  reader.at += members.length;
  const names = members.slice(1).split(".");
  return { value: undefined, call: (args) => walk(value, names, args) };
}

function readCommand(reader: Reader, piped: readonly GoValue[]): GoValue {
  const first = readOperand(reader);
  if (!first) return undefined;
  const args: GoValue[] = [];
  for (let next = readOperand(reader); next; next = readOperand(reader)) {
    args.push(next.call ? next.call([]) : next.value);
  }
  args.push(...piped);
  if (first.call) return first.call(args);
  return args.length === 0 ? first.value : undefined;
}

function readPipeline(reader: Reader): GoValue {
  let value = readCommand(reader, []);
  for (;;) {
    token.lastIndex = reader.at;
    if (token.exec(reader.source)?.[5] !== "|") return value;
    reader.at = token.lastIndex;
    value = readCommand(reader, [value]);
  }
}

function valueOf(source: string, run: Run, scope: Scope): GoValue {
  if (source.length > longestAction || source.split("(").length > mostDepth) return undefined;
  const reader = { source, at: 0, run, scope };
  const value = readPipeline(reader);
  return source.slice(reader.at).trim() === "" ? value : undefined;
}

const inside = (scope: Scope, dot: GoValue): Scope => ({ variables: new Map(), outer: scope, dot });

/** The words of a piece of HTML that readers see. */
const seen = (html: string): string =>
  withoutUnknown(html)
    .replace(/<!--[^]*?-->|<[^<>]*>/g, " ")
    .replace(/\s+/g, " ")
    .trim();

/** What a body adds to the result, tried apart. */
function tried(run: Run, body: readonly GoNode[], scope: Scope): string {
  const { result } = run;
  run.result = "";
  renderAll(run, body, scope);
  const added = run.result;
  run.result = result;
  return added;
}

/** A condition that is not known matters only where its branches show other words. */
function renderEither(
  run: Run,
  body: readonly GoNode[],
  otherwise: readonly GoNode[],
  scope: Scope,
): void {
  const own = tried(run, body, inside(scope, undefined));
  const other = tried(run, otherwise, inside(scope, scope.dot));
  run.signal = undefined;
  run.result += seen(own) === seen(other) ? other : unknown;
}

function renderRange(run: Run, node: Extract<GoNode, { kind: "block" }>, scope: Scope): void {
  const [, one, two, own] = /^(?:(\$\w+)\s*(?:,\s*(\$\w+))?\s*:=\s*)?([^]*)$/.exec(node.text) ?? [];
  const value = valueOf(own ?? "", run, scope);
  if (value === undefined || isObject(value)) {
    run.result += unknown;
    return;
  }
  const isCount = !Array.isArray(value) && /^\d+$/.test(text(value));
  const entries: [string, GoValue][] = Array.isArray(value)
    ? value.map((each, at) => [String(at), each])
    : isCount
      ? Array.from({ length: Math.min(Number(text(value)), 10_000) }, (_, at) => [
          String(at),
          String(at),
        ])
      : value !== null && isMap(value)
        ? Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1))
        : [];
  if (entries.length === 0) return renderAll(run, node.otherwise, inside(scope, scope.dot));
  for (const [key, each] of entries) {
    if (run.work.left.turns-- <= 0 || run.work.left.chars <= 0) {
      run.result += unknown;
      return;
    }
    const turn = inside(scope, each);
    if (one !== undefined) turn.variables.set(one, two === undefined ? each : key);
    if (two !== undefined) turn.variables.set(two, each);
    renderAll(run, node.body, turn);
    if (run.signal === "break" || run.signal === "return") break;
    run.signal = undefined;
  }
  if (run.signal === "break") run.signal = undefined;
}

function renderBlock(run: Run, node: Extract<GoNode, { kind: "block" }>, scope: Scope): void {
  const { word, body, otherwise } = node;
  if (word === "define") return;
  if (word === "range") return renderRange(run, node, scope);
  if (word === "block") {
    const dot = valueOf(node.text.replace(/^"[^"]*"\s*/, ""), run, scope);
    return renderAll(run, body, { ...inside(scope, dot), outer: undefined });
  }
  const [, name, own = ""] = /^(?:(\$\w+)\s*:=\s*)?([^]*)$/.exec(node.text) ?? [];
  const value = valueOf(own, run, scope);
  const inner = inside(scope, word === "with" ? value : scope.dot);
  if (name !== undefined) inner.variables.set(name, value);
  if (value === undefined) renderEither(run, body, otherwise, scope);
  else if (isTrue(value)) renderAll(run, body, inner);
  else renderAll(run, otherwise, inside(scope, scope.dot));
}

function renderTemplate(run: Run, rest: string, scope: Scope): void {
  const [whole = "", name = ""] = /^"([^"]*)"\s*/.exec(rest) ?? [];
  const body = run.defined.get(name);
  const source = rest.slice(whole.length);
  if (!body || run.work.left.turns-- <= 0) {
    run.result += unknown;
    return;
  }
  const dot = source === "" ? null : valueOf(source, run, scope);
  renderAll(run, body, { variables: new Map([["$", dot]]), outer: undefined, dot });
}

function renderAction(run: Run, source: string, scope: Scope): void {
  const [, word = "", rest = ""] =
    /^(break|continue|return|template)\b\s*([^]*)$/.exec(source) ?? [];
  if (word === "template") return renderTemplate(run, rest, scope);
  if (word !== "") {
    run.signal = word as "break";
    if (word === "return") run.returned = rest === "" ? null : valueOf(rest, run, scope);
    return;
  }
  const [, name, sign, own] = /^(\$\w+)\s*(:?=)\s*([^]*)$/.exec(source) ?? [];
  const value = valueOf(own ?? source, run, scope);
  if (name !== undefined) {
    const place = sign === "=" ? placeOf(scope, name) : undefined;
    (place ?? scope).variables.set(name, value);
    return;
  }
  const data = asData(value);
  const shown = data === null ? "" : textOf(data);
  run.result += shown ?? unknown;
}

function renderAll(run: Run, nodes: readonly GoNode[], scope: Scope): void {
  const { left } = run.work;
  if (left.depth <= 0) {
    run.result += unknown;
    return;
  }
  left.depth--;
  for (const node of nodes) {
    if (run.signal !== undefined) break;
    const { length } = run.result;
    if (node.kind === "text") run.result += node.text;
    else if (node.kind === "action") renderAction(run, node.text, scope);
    else renderBlock(run, node, scope);
    left.chars -= Math.max(0, run.result.length - length);
    if (left.chars <= 0) run.signal = "return";
  }
  left.depth++;
}

const unseenElement = /<(\/?)(?:script|style|svg|template|noscript)\b[^<>]{0,2000}>?/gi;

/** HTML without what is unknown in elements and tags that show no text; attributes go whole. */
function withoutUnknown(html: string): string {
  if (!html.includes(unknown)) return html;
  let kept = "";
  let from = 0;
  let depth = 0;
  for (const { 0: tag, 1: slash, index } of html.matchAll(unseenElement)) {
    if (depth === 0) kept += html.slice(from, index);
    if (!tag.endsWith("/>")) depth = Math.max(0, depth + (slash === "/" ? -1 : 1));
    from = index + tag.length;
  }
  if (depth === 0) kept += html.slice(from);
  return kept.replace(/<[a-z][^<>]*>/gi, (tag) =>
    tag
      .replace(/\s[\w:.-]+\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'<>]+)/g, (each) =>
        each.includes(unknown) ? "" : each,
      )
      .replaceAll(unknown, ""),
  );
}

/**
 * What a template gives: its text, or the value that it returns. Undefined where readers would see something that
 * is not known.
 */
export function renderGo(template: string, work: GoWork): GoValue {
  const tree = parseGo(template);
  if (!tree || work.left.chars <= 0) return undefined;
  const run: Run = {
    work,
    defined: tree.defined,
    result: "",
    signal: undefined,
    returned: undefined,
  };
  const { dot } = work;
  renderAll(run, tree.nodes, { variables: new Map([["$", dot]]), outer: undefined, dot });
  if (run.signal === "return" && work.left.chars > 0) return run.returned;
  const result = withoutUnknown(run.result);
  return result.includes(unknown) || work.left.chars <= 0 ? undefined : result;
}
