/**
 * Finds the end of JavaScript and JSX constructs without parsing them: it matches brackets, and
 * skips strings, templates and comments. This is a guess by form. A construct that never closes
 * has no end.
 */

/** Remaining steps for constructs that turn out to be unclosed. */
export interface Fuel {
  left: number;
}

const pairs: Readonly<Record<string, string>> = { "{": "}", "(": ")", "[": "]" };

/** Offset after a quoted string; after the quote alone if the string does not close on its line. */
function skipString(text: string, at: number): number {
  const quote = text[at];
  for (let next = at + 1; next < text.length; next++) {
    const char = text[next];
    if (char === "\\") next++;
    else if (char === quote) return next + 1;
    // An apostrophe in the text of an element, as in `<p>don't</p>`.
    else if (char === "\n") break;
  }
  return at + 1;
}

/** Offset after a comment that begins here; `at` if no comment begins here. */
function skipComment(text: string, at: number): number {
  if (text[at + 1] === "*") {
    const end = text.indexOf("*/", at + 2);
    return end === -1 ? text.length : end + 2;
  }
  // `https://` in the text of an element is no comment.
  if (text[at + 1] === "/" && text[at - 1] !== ":") {
    const end = text.indexOf("\n", at);
    return end === -1 ? text.length : end;
  }
  return at;
}

/** Skips what begins here and returns the offset after it. Updates `open`, the expected closers. */
function step(text: string, at: number, open: string[]): number {
  const char = text[at] ?? "";
  const inTemplate = open.at(-1) === "`";
  if (char === "\\") return at + 2;
  if (char === "`") {
    if (inTemplate) open.pop();
    else open.push("`");
    return at + 1;
  }
  if (inTemplate) {
    if (char !== "$" || text[at + 1] !== "{") return at + 1;
    open.push("}");
    return at + 2;
  }
  if (char === '"' || char === "'") return skipString(text, at);
  if (char === "/") return Math.max(at + 1, skipComment(text, at));
  const closer = pairs[char];
  if (closer !== undefined) open.push(closer);
  else if (char === open.at(-1)) open.pop();
  return at + 1;
}

/**
 * Offset after the bracket that closes the one at `start`; -1 when none does, or when no fuel is
 * left.
 */
export function skipBraces(text: string, start: number, fuel: Fuel): number {
  if (fuel.left <= 0) return -1;
  const open: string[] = [];
  let at = start;
  do {
    at = step(text, at, open);
  } while (open.length > 0 && at < text.length);
  if (open.length === 0) return at;
  fuel.left -= text.length - start;
  return -1;
}

// A blank line, or the beginning of a construct that cannot continue a statement.
const afterStatement = /[ \t]*(?:\n|$)|#|```|(?:im|ex)port\b/y;

function isOver(text: string, at: number, last: string): boolean {
  if (/[=,(+.]/.test(last)) return false;
  afterStatement.lastIndex = at;
  return /[;}]/.test(last) || afterStatement.test(text);
}

/**
 * Offset after an `export` statement: the end of the line where no bracket is open and the
 * statement is complete; -1 when a bracket never closes.
 */
export function skipStatement(text: string, start: number, fuel: Fuel): number {
  if (fuel.left <= 0) return -1;
  const open: string[] = [];
  let last = "";
  for (let at = start; at < text.length;) {
    const char = text[at] ?? "";
    if (char === "\n" && open.length === 0 && isOver(text, at + 1, last)) return at + 1;
    if (char.trim() !== "") last = char;
    at = step(text, at, open);
  }
  if (open.length === 0) return text.length;
  fuel.left -= text.length - start;
  return -1;
}

const importForm =
  /import(?:\s+type)?(?:\s*["'][^"'\n]*["']|(?:\s+[\w$]|\s*[*{])[\w$\s{},*]{0,10000}["'][^"'\n]*["'])[^\n]*(?:\n|$)/y;

/** Offset after an `import` statement at `start`; -1 for any other form. */
export function skipImport(text: string, start: number, fuel: Fuel): number {
  if (fuel.left <= 0) return -1;
  importForm.lastIndex = start;
  const found = importForm.exec(text)?.[0];
  const isImport = found !== undefined && /^import(?:\s+type)?\s*["']|[\s}]from\s*["']/.test(found);
  if (isImport && !/\n[ \t]*\n/.test(found.trimEnd())) return start + found.length;
  fuel.left -= Math.min(10_000, text.length - start);
  return -1;
}
