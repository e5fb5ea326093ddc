import { splitFrontMatter } from "../../../front-matter/front-matter.ts";
import { isMap, textOf, type Value } from "../../../front-matter/values.ts";
import type { Expansion, Replacement } from "../included.ts";
import { compactBlock } from "../kramdown.ts";
import { tagAt, type Block, type Tag } from "./blocks.ts";
import type { TemplateText } from "./template.ts";
import { holds, isSame, printed, valueOf } from "./expression.ts";
import { memberOf, type Known, type Scope } from "./scope.ts";

const nothing = (end: number): Replacement => ({ end, text: "" });

/** Goes on after the tag of a branch that is taken, and leaves the others out. */
function takeBranch({ skips }: TemplateText, { branches, close }: Block, at: number): Replacement {
  const next = branches[at + 1];
  if (next && close) skips.set(next.at, close.end);
  return nothing(branches[at]?.end ?? 0);
}

/** Whether a branch is taken; undefined if that is not known. */
function isTaken(
  scope: Scope,
  [first]: readonly Tag[],
  { name, markup }: Tag,
): boolean | undefined {
  if (name === "else") return true;
  if (name === "case") return false;
  if (name === "when") {
    const wanted = valueOf(first?.markup ?? "", scope);
    const results = markup
      .split(/\s*(?:,|\bor\b)\s*/)
      .map((each) => isSame(wanted, valueOf(each, scope)));
    return results.includes(true) ? true : results.includes(undefined) ? undefined : false;
  }
  const result = holds(markup, scope);
  return name === "unless" && result !== undefined ? !result : result;
}

function choose(text: TemplateText, block: Block): Replacement | undefined {
  const { branches, close } = block;
  for (let at = 0; at < branches.length; at++) {
    const branch = branches[at];
    const taken = branch && isTaken(text.template.scope, branches, branch);
    // Nobody can say which one a reader sees: all that may be shown stays.
    if (!branch || taken === undefined) return nothing(branches[Math.max(at, 0)]?.end ?? 0);
    if (taken) return takeBranch(text, block, at);
  }
  return close && nothing(close.end);
}

const loop =
  /^(\w+)(?:\s*,\s*(\w+))?\s+in\s+(.+?)(\s+reversed)?((?:\s+(?:limit|offset):\s*[\w.]+)*)$/;

/** The values that a loop runs over. */
function itemsOf(
  value: Known,
  options: string,
  isReversed: boolean,
  scope: Scope,
): Value[] | undefined {
  if (value === undefined) return undefined;
  const all = Array.isArray(value)
    ? value
    : value !== null && isMap(value)
      ? Object.entries(value).map(([key, each]) => [key, each])
      : [];
  const option = (name: string): number | undefined => {
    const [, text] = new RegExp(`${name}:\\s*([\\w.]+)`).exec(options) ?? [];
    return text === undefined ? undefined : Number(textOf(valueOf(text, scope)));
  };
  const from = option("offset") ?? 0;
  const items = all.slice(from, from + (option("limit") ?? all.length));
  return isReversed ? items.toReversed() : items;
}

/** The body of a loop for each of its values; undefined if they are not known. */
function runLoop(expansion: Expansion, text: TemplateText, block: Block): string | undefined {
  const { scope, left } = text.template;
  const [first, other] = block.branches;
  const [, name = "", second, list = "", reversed, options = ""] =
    loop.exec(first?.markup ?? "") ?? [];
  const items = itemsOf(valueOf(list, scope), options, reversed !== undefined, scope);
  if (!items || !first || !block.close) return undefined;
  if (items.length === 0) {
    return other ? expansion.body(expansion.text.slice(other.end, block.close.at)) : "";
  }
  const body = expansion.text.slice(first.end, (other ?? block.close).at);
  const before = ["forloop", "loop", name, second ?? ""].map(
    (each) => [each, scope.variables.get(each), scope.variables.has(each)] as const,
  );
  const pieces: string[] = [];
  for (const [at, item] of items.entries()) {
    if (left.turns-- <= 0 || left.chars <= 0) return undefined;
    const state = Object.assign(Object.create(null) as Record<string, Value>, {
      index: String(at + 1),
      index0: String(at),
      first: String(at === 0),
      last: String(at === items.length - 1),
      length: String(items.length),
    });
    scope.variables.set("forloop", state).set("loop", state);
    scope.variables.set(name, second === undefined ? item : memberOf(item, "0"));
    if (second !== undefined) scope.variables.set(second, memberOf(item, "1"));
    const piece = expansion.body(body);
    left.chars -= piece.length;
    pieces.push(piece);
  }
  for (const [key, value, has] of before) {
    if (has) scope.variables.set(key, value);
    else scope.variables.delete(key);
  }
  return pieces.join("");
}

/** `assign x = y`, `set x = y`, `capture x` and `set x` with a content. */
function assign(
  expansion: Expansion,
  text: TemplateText,
  tag: Tag,
  block: Block | undefined,
): Replacement {
  const { variables } = text.template.scope;
  if (block) {
    const name = tag.markup.replace(/^["']|["']$/g, "");
    const body = block.close && expansion.body(expansion.text.slice(tag.end, block.close.at));
    variables.set(name, body);
    return nothing(block.close?.end ?? tag.end);
  }
  const [, name, value = ""] = /^([\w-]+)\s*=\s*([^]*)$/.exec(tag.markup) ?? [];
  if (name !== undefined) variables.set(name, valueOf(value, text.template.scope));
  return nothing(tag.end);
}

const parameter = /([\w-]+)\s*=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s"']+)/g;

/** Text with the values of `{{ … }}` in it, as in the name of an include; undefined for an unknown one. */
function filled(text: string, scope: Scope): string | undefined {
  let isKnown = true;
  const result = text.replace(/\{\{(.*?)\}\}/g, (_, inner: string) => {
    const value = printed(valueOf(inner, scope));
    isKnown &&= value !== undefined;
    return value ?? "";
  });
  return isKnown ? result : undefined;
}

/** HTML without what shows nothing, as a block of Markdown. */
const compactHtml = (html: string): string =>
  compactBlock(html.replace(/<(script|style|svg)\b[^]*?<\/\1\s*>/gi, "").split("\n"))
    .join("\n")
    .trim();

/**
 * `include`, `include_relative` and `include_cached` of Jekyll with their parameters, `include` of
 * Nunjucks. Undefined for a file that is not there: the theme may have it.
 */
function include(expansion: Expansion, text: TemplateText, tag: Tag): Replacement | undefined {
  const { template } = text;
  const { scope, left, folders } = template;
  const [, quoted, bare] =
    /^(?:["']([^"']+)["']|((?:\{\{.*?\}\}|[^\s{}])+))/.exec(tag.markup) ?? [];
  const name = filled(quoted ?? bare ?? "", scope);
  if (name === undefined || name === "" || left.turns-- <= 0 || left.chars <= 0) return undefined;
  const own = tag.name === "include_relative" ? [""] : folders.map((folder) => `/${folder}/`);
  const found = own
    .map((folder) => expansion.around.includes.read(folder + name, expansion.chain))
    .find((each) => "text" in each);
  if (!found || !("text" in found)) return undefined;
  const given = Object.create(null) as Record<string, Value>;
  const unknown = new Set<string>();
  for (const [, key = "", value = ""] of tag.markup.matchAll(parameter)) {
    const inner = /^["']/.test(value) ? filled(value.slice(1, -1), scope) : valueOf(value, scope);
    if (inner === undefined) unknown.add(key);
    else given[key] = typeof inner === "string" ? inner.replace(/\\(["'])/g, "$1") : inner;
  }
  const inside: Scope = {
    variables: scope.variables,
    lookUp: (names) => {
      if (names[0] !== "include" || !template.isJekyll) return scope.lookUp(names);
      return unknown.has(names[1] ?? "")
        ? undefined
        : names.slice(1).reduce(memberOf, given as Known);
    },
  };
  const { body } = splitFrontMatter(found.text, found.path);
  const shown = expansion.expand(body, found.path, { ...template, scope: inside });
  left.chars -= shown.length;
  return {
    end: tag.end,
    text: /\.html?$/i.test(found.path) ? compactHtml(shown) : shown.trimEnd(),
  };
}

const silent =
  /^(?:else|elsif|elseif|elif|when|increment|decrement|break|continue|from|import|extends|end\w+)$/;

/** A tag of Liquid or Nunjucks; undefined for one that shortcodes know, or nobody. */
function replaceTag(expansion: Expansion, text: TemplateText, at: number): Replacement | undefined {
  const skip = text.skips.get(at);
  if (skip !== undefined) return nothing(skip);
  const tag = expansion.nextOf("%}", at + 2) === -1 ? undefined : tagAt(expansion.text, at);
  if (!tag) return undefined;
  const block = text.blocks.get(at);
  const { name, end } = tag;
  if (name === "assign" || name === "capture" || name === "set") {
    return assign(expansion, text, tag, block);
  }
  if (/^(?:if|unless|case)$/.test(name)) return block && choose(text, block);
  if (name === "for" && block?.close) {
    const shown = runLoop(expansion, text, block);
    if (shown === undefined) expansion.log.add("shortcode", `for ${tag.markup}`, at);
    return { end: block.close.end, text: shown ?? "" };
  }
  if ((name === "raw" || name === "verbatim") && block?.close) {
    return { end: block.close.end, text: expansion.text.slice(end, block.close.at) };
  }
  if (name === "comment" && block?.close) {
    expansion.log.add("comment", "", at);
    return nothing(block.close.end);
  }
  if (/^include(?:_relative|_cached)?$/.test(name)) return include(expansion, text, tag);
  const isKnown = silent.test(name) && !/^end(?:highlight|code|\w*block)$/.test(name);
  return isKnown && !expansion.closed.has(name.replace(/^end/, "")) ? nothing(end) : undefined;
}

const ofSite = /^\s*((?:site|page)\.(?!(?:base)?url\b|github\b)[\w.-]+)\s*(?:\||$)/;

/** Whether an expression of the page itself names a value that nothing sets: the page has nothing there. */
function isNil(inner: string, { template }: TemplateText, { chain, parent }: Expansion): boolean {
  const [, name] = ofSite.exec(inner) ?? [];
  if (name === undefined || chain.length > 1 || parent || /\|\s*default\b/.test(inner))
    return false;
  return template.isJekyll && valueOf(name, template.scope) === null;
}

/** What a template prints at a `{{` or a `{%`. */
export function replaceLiquid(
  expansion: Expansion,
  text: TemplateText,
  at: number,
): Replacement | undefined {
  const { text: source, nextOf, log } = expansion;
  let found: Replacement | undefined;
  if (source.startsWith("{%", at)) found = replaceTag(expansion, text, at);
  else {
    const close = nextOf("}}", at + 2);
    if (close === -1) return undefined;
    const inner = source.slice(at + 2, Math.min(close, at + 5000)).replace(/^-|-$/g, "");
    const shown = printed(valueOf(inner, text.template.scope));
    if (shown === undefined) log.add("expression", inner, at);
    else if (isNil(inner, text, expansion)) log.add("undefined", inner.trim(), at);
    found = { end: close + 2, text: shown ?? "" };
  }
  if (!found) return undefined;
  // shopify.github.io/liquid, "Whitespace control".
  if (source[at + 2] === "-") found.trimsBefore = true;
  if (source[found.end - 3] !== "-") return found;
  return {
    ...found,
    end: found.end + (/^\s*/.exec(source.slice(found.end, found.end + 1000))?.[0].length ?? 0),
  };
}
