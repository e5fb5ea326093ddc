import { skipBraces, type Fuel } from "./mdx-js.ts";

/** A tag of JSX. */
export interface Tag {
  /** "" for a fragment. */
  name: string;
  kind: "open" | "close" | "single";
  /** Only attributes with a quoted string as value. */
  attributes: ReadonlyMap<string, string>;
  end: number;
}

// Unlike JSX, MDX treats "<" before a blank as text (mdxjs.com, "Syntax").
const head = /<(\/?)([A-Za-z_$][\w$.-]*(?::[A-Za-z_$][\w$.-]*)?)?(?=[\s/>])/y;
const attribute =
  /([A-Za-z_$][\w$.:-]*)(?![\w$.:-])(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|(?=\{)))?(?!\s*=)/y;
const blank = /\s*/y;

function match(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function readAttribute(
  text: string,
  at: number,
  attributes: Map<string, string>,
  fuel: Fuel,
): number {
  // `{...props}`, or the value of the previous attribute.
  if (text[at] === "{") return skipBraces(text, at, fuel);
  const found = match(attribute, text, at);
  if (!found) return -1;
  const [whole, name = "", double, single] = found;
  const value = double ?? single;
  if (value !== undefined && attributes.size < 100) attributes.set(name, value);
  return at + whole.length;
}

function readRest(text: string, from: number, fuel: Fuel): Omit<Tag, "name"> | undefined {
  const attributes = new Map<string, string>();
  for (let at = from; at < text.length && at !== -1;) {
    at += match(blank, text, at)?.[0].length ?? 0;
    if (text[at] === ">") return { kind: "open", attributes, end: at + 1 };
    if (text[at] === "/") {
      const end = at + 1 + (match(blank, text, at + 1)?.[0].length ?? 0);
      return text[end] === ">" ? { kind: "single", attributes, end: end + 1 } : undefined;
    }
    at = readAttribute(text, at, attributes, fuel);
  }
  return undefined;
}

/** Reads the JSX tag at a "<"; undefined when there is none, or when it does not close. */
export function readTag(text: string, start: number, fuel: Fuel): Tag | undefined {
  const found = match(head, text, start);
  if (!found) return undefined;
  const [whole, slash, name = ""] = found;
  const from = start + whole.length;
  const rest = name === "" && text[from] !== ">" ? undefined : readRest(text, from, fuel);
  if (!rest) return undefined;
  return slash === "" ? { name, ...rest } : { name, ...rest, kind: "close" };
}
