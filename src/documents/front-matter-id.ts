import { CliError } from "../errors.ts";
import { createFields } from "./fields.ts";
import { findFenced, splitFrontMatter } from "./front-matter.ts";
import { normalise } from "./stamp.ts";

/** Whether the front matter names the id; `default` is that of the path, see defaultId(). */
export type FrontMatterId = { kind: "default" } | { kind: "id"; id: string };

const byDefault: FrontMatterId = { kind: "default" };

// Escapes, aliases and merge keys make keys that do not stand in the text.
const indirect = String.raw`[\\&*]|<<`;
// Such a key stands in the text as it is, next to no other letter. YAML calls an
// empty key `null`.
const plainKey = /^(?!null$)\w(?:[\w.-]*\w)?$/;
const everything = /(?:)/;

function compileTest(keys: readonly string[]): RegExp {
  if (!keys.every((key) => plainKey.test(key))) return everything;
  const names = keys.map((key) => key.replaceAll(".", "\\.")).join("|");
  return keys.length === 0 ? /(?!)/ : new RegExp(`${indirect}|\\b(?:${names})\\b`);
}

const tests = new WeakMap<readonly string[], RegExp>();

/** Whether a block may hold one of the keys, without parsing it. */
function mayHold(block: string, keys: readonly string[]): boolean {
  let test = tests.get(keys);
  if (!test) tests.set(keys, (test = compileTest(keys)));
  return test.test(block);
}

/**
 * The id that mapDocument() would give to a Markdown text, if it gives a document
 * at all: without mapping, mostly without parsing. `text` is as decodeText() gives
 * it, `keys` are those of the id. Never throws: whatever is wrong with the front
 * matter counts as the default and is left for mapping to name, which may leave
 * the file out before it comes to that.
 */
export function frontMatterId(text: string, path: string, keys: readonly string[]): FrontMatterId {
  try {
    const fenced = findFenced(text, path, []);
    if (!fenced || !mayHold(fenced.block, keys)) return byDefault;
    const { frontMatter } = splitFrontMatter(text, path);
    const given = createFields(frontMatter, path).takeText(keys);
    return given ? { kind: "id", id: normalise(given.value) } : byDefault;
  } catch (error) {
    if (error instanceof CliError) return byDefault;
    throw error;
  }
}
