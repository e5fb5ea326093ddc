import { textOf, type Value } from "../../../front-matter/values.ts";
import type { Known } from "./scope.ts";

/**
 * The part of Go's templates that simple shortcodes of Hugo use: texts, values, `with`, `if` and
 * assignments (gohugo.io, "Shortcode templates"). Everything else makes a result unknown.
 */

/** What the names of a template are worth: `.Get`, `.Inner`, `site.Params.x`; undefined if that is not known. */
export type GoNames = (name: string, values: readonly Value[]) => Known;

// A template is a page of HTML at most.
const longest = 50_000;
const longestAction = 2000;
const mostDepth = 50;
const action = /\{\{(-?)\s*([^]*?)\s*(-?)\}\}/g;
const token =
  /\s*(?:"((?:[^"\\]|\\.)*)"|`([^`]*)`|(-?\d+(?:\.\d+)?)(?![\w.])|([$.]?[A-Za-z_$][\w$]*(?:\.[A-Za-z_]\w*)*|\$(?:\.[A-Za-z_]\w*)+|\$|\.)|([|()]))/y;

interface Part {
  isAction: boolean;
  text: string;
}

function partsOf(template: string): Part[] {
  const parts: Part[] = [];
  let from = 0;
  let trims = false;
  const add = (text: string): void => {
    parts.push({ isAction: false, text: trims ? text.trimStart() : text });
  };
  for (const { 0: whole, 1: before, 2: text = "", 3: after, index } of template.matchAll(action)) {
    const raw = template.slice(from, index);
    add(before === "-" ? raw.trimEnd() : raw);
    parts.push({ isAction: true, text });
    trims = after === "-";
    from = index + whole.length;
  }
  add(template.slice(from));
  return parts;
}

const text = (value: Value | undefined): string => textOf(value) ?? "";
const bool = (is: boolean): Value => (is ? "true" : "false");
const isTrue = (value: Value): boolean =>
  value !== null &&
  (Array.isArray(value) ? value.length > 0 : !/^(?:|false|0)$/.test(textOf(value) ?? "x"));

const asIs = (...values: Value[]): Value => values.at(-1) ?? null;

function printf(format: Value = null, ...values: Value[]): Known {
  const pieces = text(format);
  if (/%[^sdvq%]/.test(pieces)) return undefined;
  let at = 0;
  return pieces.replace(/%([sdvq%])/g, (_, mark: string) => {
    if (mark === "%") return "%";
    const value = text(values[at++]);
    return mark === "q" ? `"${value}"` : value;
  });
}

/** gohugo.io, "Functions": those that change a text, or compare. */
const functions: Readonly<Record<string, (...values: Value[]) => Known>> = {
  default: (other = null, value = null) => (isTrue(value) ? value : other),
  eq: (one = null, ...others) => bool(others.some((each) => text(each) === text(one))),
  ne: (one = null, other = null) => bool(text(one) !== text(other)),
  not: (value = null) => bool(!isTrue(value)),
  and: (...values) => values.find((each) => !isTrue(each)) ?? values.at(-1) ?? null,
  or: (...values) => values.find(isTrue) ?? values.at(-1) ?? null,
  cond: (is = null, one = null, other = null) => (isTrue(is) ? one : other),
  lower: (value) => text(value).toLowerCase(),
  upper: (value) => text(value).toUpperCase(),
  title: (value) =>
    text(value).replace(
      /(^|\s)(\p{L})/gu,
      (_, before: string, letter: string) => before + letter.toUpperCase(),
    ),
  humanize: (value) => {
    const words = text(value).replace(/[-_]+/g, " ");
    return words.charAt(0).toUpperCase() + words.slice(1);
  },
  trim: (value, marks = " \n") => (text(marks).trim() === "" ? text(value).trim() : undefined),
  replace: (value, from, to) => text(value).replaceAll(text(from), text(to)),
  print: (...values) => values.map(text).join(""),
  printf,
  string: asIs,
  safeHTML: asIs,
  safeURL: asIs,
  safeHTMLAttr: asIs,
  safeCSS: asIs,
  htmlEscape: asIs,
  htmlUnescape: asIs,
  markdownify: asIs,
  RenderString: asIs,
  plainify: (value) => text(value).replace(/<[^<>]*>/g, ""),
  relURL: asIs,
  absURL: asIs,
  relLangURL: asIs,
  absLangURL: asIs,
  urlize: asIs,
  ref: asIs,
  relref: asIs,
  warnf: () => "",
  errorf: () => "",
};
const nameOfFunction = (name: string): string =>
  name
    .replace(/^(?:strings|transform|safe|urls|fmt|compare)\.(.)/, (_, first: string) =>
      first.toLowerCase(),
    )
    .replace(/^trimSpace$/, "trim")
    .replace(/^.*\.RenderString$/, "RenderString");

interface Reader {
  source: string;
  at: number;
  variables: Map<string, Known>;
  /** What `.` is worth in a `with`. */
  dot: Known;
  names: GoNames;
}

function readOperand(
  reader: Reader,
  isFirst: boolean,
): { value: Known; call?: string } | undefined {
  token.lastIndex = reader.at;
  const [whole, double, raw, number, name, mark] = token.exec(reader.source) ?? [];
  if (whole === undefined || mark === ")" || mark === "|") return undefined;
  reader.at = token.lastIndex;
  const quoted =
    double?.replace(/\\(.)/g, (_, char: string) => (char === "n" ? "\n" : char)) ?? raw;
  if (quoted !== undefined) return { value: quoted };
  if (number !== undefined) return { value: number };
  if (mark === "(") {
    const value = readPipeline(reader);
    token.lastIndex = reader.at;
    if (token.exec(reader.source)?.[5] !== ")") return { value: undefined };
    reader.at = token.lastIndex;
    return { value };
  }
  if (name === undefined) return { value: undefined };
  if (name === "true" || name === "false" || name === "nil")
    return { value: name === "nil" ? null : name };
  if (name === ".") return { value: reader.dot };
  if (reader.variables.has(name)) return { value: reader.variables.get(name) };
  if (Object.hasOwn(functions, nameOfFunction(name)))
    return { value: null, call: nameOfFunction(name) };
  if (isFirst || !name.endsWith(".Get")) return { value: undefined, call: name };
  return { value: undefined };
}

function readCommand(reader: Reader, piped: readonly Known[]): Known {
  const first = readOperand(reader, true);
  if (!first) return undefined;
  const values: Known[] = [];
  for (let next = readOperand(reader, false); next; next = readOperand(reader, false)) {
    values.push(next.call === undefined ? next.value : reader.names(next.call, []));
  }
  values.push(...piped);
  const { call } = first;
  if (call === undefined) return values.length === 0 ? first.value : undefined;
  if (values.some((each) => each === undefined)) return undefined;
  const known = values as Value[];
  return Object.hasOwn(functions, call) ? functions[call]?.(...known) : reader.names(call, known);
}

function readPipeline(reader: Reader): Known {
  let value = readCommand(reader, []);
  for (;;) {
    token.lastIndex = reader.at;
    if (token.exec(reader.source)?.[5] !== "|") return value;
    reader.at = token.lastIndex;
    value = readCommand(reader, [value]);
  }
}

/** What a shortcode's template gives; undefined where something in it is not known. */
export function renderGo(template: string, names: GoNames): string | undefined {
  if (template.length > longest) return undefined;
  const variables = new Map<string, Known>();
  const frames: { isTaken: boolean; wasTaken: boolean; dot: Known }[] = [];
  const dot = (): Known => frames.findLast((each) => each.dot !== undefined)?.dot;
  const valueOf = (source: string): Known => {
    if (source.length > longestAction || source.split("(").length > mostDepth) return undefined;
    const reader = { source, at: 0, variables, dot: dot(), names };
    const value = readPipeline(reader);
    return source.slice(reader.at).trim() === "" ? value : undefined;
  };
  let result = "";
  for (const { isAction, text: part } of partsOf(template)) {
    const isShown = frames.every((each) => each.isTaken);
    if (!isAction) {
      if (isShown) result += part;
      continue;
    }
    const [, word = "", rest = ""] =
      /^(if|with|range|else|end|block|define|template|break|continue|return)\b\s*([^]*)$/.exec(
        part,
      ) ?? [];
    const last = frames.at(-1);
    if (part.startsWith("/*") || part === "") continue;
    if (word === "end") frames.pop();
    else if (word === "else" && last) {
      const isOuter = frames.slice(0, -1).every((each) => each.isTaken);
      const [, inner = "", condition = ""] = /^(if|with)\s+([^]*)$/.exec(rest) ?? [];
      const mayTake = isOuter && !last.wasTaken;
      last.dot = undefined;
      const value = !mayTake ? null : inner === "" ? "true" : valueOf(condition);
      if (value === undefined) return undefined;
      last.isTaken = mayTake && isTrue(value);
      if (inner === "with") last.dot = value;
      last.wasTaken ||= last.isTaken;
    } else if (word === "if" || word === "with") {
      const [, name, own = rest] = /^(\$\w+)\s*:=\s*([^]*)$/.exec(rest) ?? [];
      const value = isShown ? valueOf(own) : null;
      if (value === undefined) return undefined;
      if (name !== undefined) variables.set(name, value);
      const isTaken = isShown && isTrue(value);
      frames.push({ isTaken, wasTaken: isTaken, dot: word === "with" ? value : undefined });
    } else if (word !== "") {
      if (isShown) return undefined;
      if (/^(?:range|block|define)$/.test(word))
        frames.push({ isTaken: false, wasTaken: true, dot: undefined });
    } else if (isShown) {
      const [, name, own] = /^(\$\w+)\s*:?=\s*([^]*)$/.exec(part) ?? [];
      const value = valueOf(own ?? part);
      if (
        value === undefined ||
        (name === undefined &&
          typeof value === "object" &&
          value !== null &&
          textOf(value) === undefined)
      )
        return undefined;
      if (name === undefined) result += text(value);
      else variables.set(name, value);
    }
  }
  return result;
}
