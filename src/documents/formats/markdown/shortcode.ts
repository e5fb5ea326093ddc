import type { Expansion } from "./expansion.ts";

/** A tag of a template language in Markdown: a shortcode of Hugo, or a tag of Liquid. */
export interface Shortcode {
  name: string;
  /** `open` has an end tag. */
  kind: "open" | "close" | "single";
  positional: readonly string[];
  named: ReadonlyMap<string, string>;
  end: number;
}

// Nobody writes a longer tag, or one with more parameters.
const longestTag = 10_000;
const mostParameters = 100;

const parameter =
  /\s*(?:([\w$.:-]+)\s*=\s*)?(?:"([^"\\]*(?:\\[^][^"\\]*)*)"|'([^']*)'|`([^`]*)`|([^\s"'`=,]+))[\s,]*/y;

function parametersOf(text: string): Pick<Shortcode, "positional" | "named"> {
  const positional: string[] = [];
  const named = new Map<string, string>();
  for (let at = 0; at < text.length && positional.length + named.size < mostParameters;) {
    parameter.lastIndex = at;
    const found = parameter.exec(text);
    if (!found) break;
    const [whole, key, double, single, raw, bare = ""] = found;
    const value = double?.replace(/\\(["\\])/g, "$1") ?? single ?? raw ?? bare;
    if (key === undefined) positional.push(value);
    else named.set(key, value);
    at += whole.length;
  }
  return { positional, named };
}

/** Reads the shortcode of Hugo at a `{{<` or `{{%`. */
export function readHugo({ text, nextOf, closed }: Expansion, at: number): Shortcode | undefined {
  const mark = text[at + 2] === "<" ? ">}}" : "%}}";
  const close = nextOf(mark, at + 3);
  if (close === -1 || close - at > longestTag) return undefined;
  const inner = text.slice(at + 3, close);
  const [whole, slash, name = ""] = /^\s*(\/?)\s*([\w./-]+)/.exec(inner) ?? [];
  if (whole === undefined) return undefined;
  const end = close + mark.length;
  const rest = inner.slice(whole.length);
  const isSingle = rest.trimEnd().endsWith("/");
  const kind = slash === "/" ? "close" : !isSingle && closed.has(name) ? "open" : "single";
  return { name, kind, ...parametersOf(isSingle ? rest.trimEnd().slice(0, -1) : rest), end };
}

/** Reads the tag of Liquid at a `{%`. */
export function readLiquid({ text, nextOf, closed }: Expansion, at: number): Shortcode | undefined {
  const close = nextOf("%}", at + 2);
  if (close === -1 || close - at > longestTag) return undefined;
  const inner = text.slice(at + 2, close).replace(/^-|-$/g, "");
  const [whole, name = ""] = /^\s*([a-z_][\w-]*)(?![\w.])/i.exec(inner) ?? [];
  if (whole === undefined) return undefined;
  const [, closing] = /^end-?(\w[\w-]*)$/.exec(name) ?? [];
  const kind = closing !== undefined ? "close" : closed.has(name) ? "open" : "single";
  return {
    name: closing ?? name,
    kind,
    ...parametersOf(inner.slice(whole.length)),
    end: close + 2,
  };
}

/** Names with an end tag anywhere in the text. */
export function closedNames(text: string): Set<string> {
  const names = new Set<string>();
  for (const [, hugo, liquid] of text.matchAll(
    /\{\{[<%][ \t]*\/[ \t]*([\w./-]{1,100})|\{%-?[ \t]*end-?(\w[\w-]{0,100})/g,
  )) {
    names.add(hugo ?? liquid ?? "");
  }
  return names;
}
