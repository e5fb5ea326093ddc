import { SyntaxProblem } from "./problems.ts";

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/;
const value = new RegExp(`(?:${number.source}|true|false|null)(?![\\w.+-])`, "y");
const string = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[\da-fA-F]{4}))*"/y;
const space = /[ \t\r\n]*/y;

const closing = { "{": "}", "[": "]" } as const;
const isOpening = (text: string | undefined): text is "{" | "[" => text === "{" || text === "[";

/** The end of what `pattern` matches at `at`; `at` itself if it matches nothing. */
function endOf(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : at;
}

/** The first place where a text is no JSON, in words of JSON. */
export function firstProblem(text: string): SyntaxProblem {
  const open: ("}" | "]")[] = [];
  const mayEnd = (): string => (open.at(-1) === undefined ? "" : ` or "${open.at(-1)}"`);
  let next: "value" | "key" | ":" | "," = "value";
  let at = 0;
  let comma = -1;
  let justOpened = false;
  for (;;) {
    at = endOf(space, text, at);
    const found = text[at];
    const fail = (message: string, where = at): SyntaxProblem =>
      new SyntaxProblem(message + (found === undefined ? ", but the file ends" : ""), where);
    if (/^(?:\/[/*]|#)/.test(text.slice(at, at + 2))) return fail("JSON has no comments");
    if (found !== undefined && found === open.at(-1) && next !== ":") {
      if (comma >= 0) return fail("JSON has no trailing comma", comma);
      // `{"a": }` lacks a value.
      if (next === "value" && !justOpened) return fail("expected a value");
      open.pop();
      next = ",";
      justOpened = false;
      at++;
      continue;
    }
    if (next === "," && open.length === 0) {
      return found === undefined
        ? new SyntaxProblem("this is not JSON", 0)
        : fail("expected the end of the file");
    }
    if (next === "," || next === ":") {
      if (found !== next) return fail(`expected "${next}"${next === "," ? mayEnd() : ""}`);
      comma = next === "," ? at : -1;
      next = next === "," && open.at(-1) === "}" ? "key" : "value";
      at++;
      continue;
    }
    const end = endOf(string, text, at);
    if (found === '"' && end === at) {
      return fail("a string has no closing quote, a line break or an invalid escape");
    }
    if (next === "key") {
      if (end === at) return fail(`expected a key in double quotes${justOpened ? mayEnd() : ""}`);
      [next, at] = [":", end];
    } else if (isOpening(found)) {
      open.push(closing[found]);
      next = found === "{" ? "key" : "value";
      at++;
    } else {
      const last = Math.max(end, endOf(value, text, at));
      if (last === at) return fail("expected a value");
      [next, at] = [",", last];
    }
    justOpened = isOpening(found);
    comma = -1;
  }
}
