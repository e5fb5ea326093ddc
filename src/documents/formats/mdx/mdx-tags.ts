import { plainValue, skipBraces, type Fuel } from "./mdx-js.ts";

/** A tag of JSX. */
export interface Tag {
  /** "" for a fragment. */
  name: string;
  kind: "open" | "close" | "single";
  /** Values that are a quoted string or an expression of a plain value. */
  attributes: ReadonlyMap<string, string>;
  /** The code of all other values, without braces. */
  codes: ReadonlyMap<string, string>;
  /** Names of attributes without a value. */
  flags: ReadonlySet<string>;
  end: number;
}

interface Values {
  attributes: Map<string, string>;
  codes: Map<string, string>;
  flags: Set<string>;
}

const mostAttributes = 100;

// Unlike JSX, MDX treats "<" before a blank as text (mdxjs.com, "Syntax").
const head = /<(\/?)([A-Za-z_$][\w$.-]*(?::[A-Za-z_$][\w$.-]*)?)?(?=[\s/>])/y;
const attribute =
  /([A-Za-z_$][\w$.:-]*)(?![\w$.:-])(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|(?=(\{))))?(?!\s*=)/y;
// vuejs.org, "Template Syntax": `:text`, `@click`, `#default`, `v-model.trim`; values may lack quotes.
const vueAttribute = /([A-Za-z_@:#][^\s=>"'/]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'=<>`]+)))?/y;
const blank = /\s*/y;

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function readAttribute(text: string, at: number, values: Values, fuel: Fuel): number {
  // `{...props}`.
  if (text[at] === "{") return skipBraces(text, at, fuel);
  const found = match(attribute, text, at);
  if (!found) return -1;
  const [whole, name = "", double, single, brace] = found;
  const from = at + whole.length;
  const end = brace === undefined ? from : skipBraces(text, from, fuel);
  const { attributes, codes } = values;
  if (end === -1 || attributes.size + codes.size >= mostAttributes) return end;
  const code = text.slice(from + 1, end - 1);
  const value = double ?? single ?? (brace === undefined ? undefined : plainValue(code));
  if (value === undefined && brace === undefined) values.flags.add(name);
  if (value !== undefined) attributes.set(name, value);
  else if (brace !== undefined) codes.set(name, code);
  return end;
}

/** Attributes with the values of bindings: `:text="'new'"` is `text={'new'}` in JSX. */
function bindAttribute(
  name: string,
  value: string,
  attributes: Map<string, string>,
  codes: Map<string, string>,
): void {
  const [, bound] = /^(?::|v-bind:)([\w-]+)/.exec(name) ?? [];
  if (bound !== undefined) codes.set(bound, value);
  else if (/^[\w-]+$/.test(name) && !name.startsWith("v-")) attributes.set(name, value);
}

function readVueAttribute(text: string, at: number, values: Values): number {
  const found = match(vueAttribute, text, at);
  if (!found) return -1;
  const [whole, name = "", double, single, bare] = found;
  const value = double ?? single ?? bare;
  if (value === undefined) values.flags.add(name);
  const { attributes, codes } = values;
  if (value !== undefined && attributes.size + codes.size < mostAttributes) {
    bindAttribute(name, value, attributes, codes);
  }
  return at + whole.length;
}

function readRest(
  text: string,
  from: number,
  fuel: Fuel,
  isVue: boolean,
): Omit<Tag, "name"> | undefined {
  const values: Values = {
    attributes: new Map(),
    codes: new Map(),
    flags: new Set(),
  };
  for (let at = from; at < text.length && at !== -1;) {
    at += match(blank, text, at)?.[0].length ?? 0;
    if (text[at] === ">") return { kind: "open", ...values, end: at + 1 };
    if (text[at] === "/") {
      const end = at + 1 + (match(blank, text, at + 1)?.[0].length ?? 0);
      return text[end] === ">" ? { kind: "single", ...values, end: end + 1 } : undefined;
    }
    at = isVue ? readVueAttribute(text, at, values) : readAttribute(text, at, values, fuel);
  }
  return undefined;
}

/** Reads the JSX tag at a "<"; undefined when there is none, or when it does not close. */
export function readTag(text: string, start: number, fuel: Fuel, isVue: boolean): Tag | undefined {
  const found = match(head, text, start);
  if (!found) return undefined;
  const [whole, slash, name = ""] = found;
  const from = start + whole.length;
  const rest = name === "" && text[from] !== ">" ? undefined : readRest(text, from, fuel, isVue);
  if (!rest) return undefined;
  return slash === "" ? { name, ...rest } : { name, ...rest, kind: "close" };
}
