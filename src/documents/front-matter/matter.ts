import grayMatter from "gray-matter";
import { FAILSAFE_SCHEMA, load, Type, YAMLException } from "js-yaml";
import { parse as parseToml, TomlError } from "smol-toml";
import { parseJsonAsWritten, scanJson } from "../text/json-text.ts";

export type MatterFormat = "yaml" | "toml" | "json";

/** Broken front matter; line and column count from 1 within the block. */
export class MatterError extends Error {
  readonly line: number;
  readonly column: number;
  constructor(reason: string, line: number, column: number) {
    super(reason);
    this.line = line;
    this.column = column;
  }
}

/** How YAML 1.2 writes null without quotes (section 10.3.2). */
const isYamlNull = (text: string): boolean => /^(?:~|null|Null|NULL)$/.test(text);

/** Failsafe: `1.10`, `2024-01-02` and `NO` stay as written, and no tag makes an object. */
export const yamlSchema = FAILSAFE_SCHEMA.extend({
  implicit: [
    new Type("tag:yaml.org,2002:null", {
      kind: "scalar",
      resolve: (text: string | null) => text === null || isYamlNull(text),
      construct: () => null,
    }),
  ],
});

/** Throws MatterError. */
export function parseYaml(text: string, schema = yamlSchema): unknown {
  try {
    return load(text, { schema });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    // `mark` is missing when the input is not one document.
    const mark = error.mark as YAMLException["mark"] | undefined;
    throw new MatterError(error.reason, (mark?.line ?? 0) + 1, (mark?.column ?? 0) + 1);
  }
}

/** Throws MatterError. */
export function parseTomlText(text: string): unknown {
  try {
    return parseToml(text, { integersAsBigInt: "asNeeded", maxDepth: 100 });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.replace(/^Invalid TOML document: /, "").split("\n")[0] ?? "";
    throw new MatterError(reason, error.line, error.column);
  }
}

/** Scalars keep their text. Throws MatterError. */
export function parseJson(text: string): unknown {
  const extent = scanJson(text, 0);
  const at = "end" in extent ? extent.end : extent.errorAt;
  // Not trim(): it removes more characters than JSON counts as blank.
  if ("end" in extent && /^[ \t\r\n]*$/.test(text.slice(at))) return parseJsonAsWritten(text);
  const before = text.slice(0, at).split("\n");
  const found = text[at] === undefined ? "the end" : JSON.stringify(text[at]);
  throw new MatterError(
    `JSON is broken at ${found}`,
    before.length,
    (before.at(-1)?.length ?? 0) + 1,
  );
}

// gray-matter's own engines run code for `---js`. front-matter.ts never passes such a language;
// this is the second line of defence.
function refuse(): never {
  throw new MatterError("executable front matter is never run", 1, 1);
}

// gray-matter also passes the line break after the fence to an engine.
const engines = {
  yaml: (text: string) => parseYaml(text.slice(1)) as object,
  toml: (text: string) => parseTomlText(text.slice(1)) as object,
  json: (text: string) => parseJson(text.slice(1)) as object,
  js: refuse,
  javascript: refuse,
  coffee: refuse,
  coffeescript: refuse,
  cson: refuse,
};

// gray-matter searches for comments with a pattern that takes quadratic time on blank lines:
// 60,000 blank lines block the process for seconds.
const maxBlankLines = 200;

function refuseBlankRuns(block: string): void {
  let blank = 0;
  let line = 1;
  for (const text of block.split("\n")) {
    blank = text.trim() === "" ? blank + 1 : 0;
    if (blank > maxBlankLines) {
      throw new MatterError(`more than ${maxBlankLines} blank lines in a row`, line, 1);
    }
    line++;
  }
}

/**
 * Parses the text between the fences with gray-matter and the engines above. Only this function
 * calls gray-matter, and it does not let it split the file: gray-matter ends the block at any line
 * that begins like the fence (`---x`), drops an empty line at the start of the body, takes a block
 * that is never closed to the end of the file, and finds no JSON without fences. So it gets the
 * block alone, between fences of NUL, which cannot occur in it: files with NUL are refused before.
 * It always gets options: without them it caches, and a second parse of a broken text reports no
 * error. Throws MatterError.
 */
export function parseMatter(block: string, format: MatterFormat): unknown {
  if (block.length > maxBlankLines) refuseBlankRuns(block);
  const { data } = grayMatter(`\0\n${block}\n\0\n`, {
    language: format,
    delimiters: ["\0", "\0"],
    engines,
  });
  return data as unknown;
}
