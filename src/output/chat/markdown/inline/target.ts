/** Parser state of a link target after `](`, read a character at a time. */
export interface Target {
  /** The source text read so far. */
  source: string;
  url: string;
  step: "start" | "angle" | "url" | "gap" | "title" | "end";
  depth: number;
  quote: string;
}

const maxLength = 2000;

export function createTarget(): Target {
  return { source: "", url: "", step: "start", depth: 0, quote: "" };
}

function readUrl(target: Target, character: string): "more" | "done" | "none" {
  if (character === " ") target.step = "gap";
  else if (character === ")" && target.depth === 0) return "done";
  else {
    if (character === "(") target.depth++;
    if (character === ")") target.depth--;
    target.url += character;
    target.step = "url";
  }
  return "more";
}

const quotes: ReadonlyMap<string, string> = new Map([
  ['"', '"'],
  ["'", "'"],
  ["(", ")"],
]);

/** Reads one character: `done` at the closing parenthesis, `none` if this is not a target. */
export function readTarget(target: Target, character: string): "more" | "done" | "none" {
  if (target.source.length >= maxLength || character === "\n") return "none";
  target.source += character;
  switch (target.step) {
    case "start":
      if (character === " ") return "more";
      if (character !== "<") return readUrl(target, character);
      target.step = "angle";
      return "more";
    case "angle":
      if (character === ">") target.step = "gap";
      else if (character === "<") return "none";
      else target.url += character;
      return "more";
    case "url":
      return readUrl(target, character);
    case "gap": {
      if (character === ")") return "done";
      const quote = quotes.get(character);
      if (quote === undefined) return character === " " ? "more" : "none";
      target.quote = quote;
      target.step = "title";
      return "more";
    }
    case "title":
      if (character === target.quote) target.step = "end";
      return "more";
    case "end":
      if (character === ")") return "done";
      return character === " " ? "more" : "none";
    default:
      return target.step satisfies never;
  }
}

/**
 * The address for a hyperlink, or undefined. Only http, https and mailto, encoded as
 * visible ASCII, so that a look-alike host shows its `xn--` form.
 */
export function safeUrl(address: string): string | undefined {
  if (address.length > maxLength || !/^(?:https?:\/\/|mailto:)/i.test(address)) return undefined;
  if (!URL.canParse(address)) return undefined;
  const { href } = new URL(address);
  return /^[\u0021-\u007e]+$/.test(href) ? href : undefined;
}

/** Whether the label of a link names another host than its address. */
export function misleads(label: string, address: string): boolean {
  const named = /^(?:[a-z][a-z+.-]*:\/\/)?((?:[\w-]+\.)+[a-z]{2,})(?:[/:?#]|$)/i.exec(label.trim());
  if (!named) return false;
  const host = URL.canParse(address) ? new URL(address).hostname : "";
  const bare = (name: string): string => name.toLowerCase().replace(/^www\./, "");
  return bare(named[1] ?? "") !== bare(host);
}
