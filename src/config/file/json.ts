import { isMap, isScalar, isSeq, visit, type Node as YamlNode } from "yaml";
import { SyntaxProblem, type Node } from "./nodes.ts";
import { composeYaml, parseYaml } from "./yaml.ts";

const literal = /^(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)$/;

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** What YAML has and JSON has not, at one node; undefined for none. */
function problemAt(text: string, node: YamlNode, isKey: boolean): SyntaxProblem | undefined {
  const [start = 0, end = 0] = node.range ?? [];
  const fail = (message: string, at = start): SyntaxProblem => new SyntaxProblem(message, at);
  if (/^(?:\/\/|\/\*)/.test(text.slice(start, start + 2))) return fail("JSON has no comments");
  if (isScalar(node)) {
    const written = text.slice(start, end);
    if (written.startsWith('"')) {
      return isJson(written)
        ? undefined
        : fail("a string has no closing quote, a line break or an invalid escape");
    }
    if (isKey) return fail("expected a key in double quotes");
    return literal.test(written) ? undefined : fail("expected a value");
  }
  if (!isMap(node) && !isSeq(node)) return fail("expected a value");
  if (node.flow !== true) return fail("expected a value");
  const comma = /,\s*[\]}]$/.exec(text.slice(start, end));
  return comma ? fail("JSON has no trailing comma", start + comma.index) : undefined;
}

/** The first place where a text is no JSON. */
function firstProblem(text: string): SyntaxProblem {
  const { document, problem } = composeYaml(text);
  let first = problem;
  visit(document, {
    Node(key, node) {
      const found = problemAt(text, node, key === "key");
      if (found && (!first || found.offset < first.offset)) first = found;
    },
  });
  const comment = text.search(/(?:^|\s)#/);
  return first ?? new SyntaxProblem("this is not JSON", Math.max(0, comment));
}

/**
 * Parses JSON with the position of every value. Stricter than JSON.parse: a duplicate
 * key is an error. Throws SyntaxProblem.
 */
export function parseJson(text: string): Node {
  if (!isJson(text)) throw firstProblem(text);
  return parseYaml(text, Infinity);
}
