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

// Failsafe: `1.10`, `2024-01-02` and `NO` stay as written, and no tag makes an object.
const schema = FAILSAFE_SCHEMA.extend({
  implicit: [
    new Type("tag:yaml.org,2002:null", {
      kind: "scalar",
      resolve: (text: string | null) => text === null || isYamlNull(text),
      construct: () => null,
    }),
  ],
});

function parseYaml(text: string): unknown {
  try {
    return load(text, { schema });
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    // `mark` is missing when the input is not one document.
    const mark = error.mark as YAMLException["mark"] | undefined;
    throw new MatterError(error.reason, (mark?.line ?? 0) + 1, (mark?.column ?? 0) + 1);
  }
}

function parseTomlText(text: string): unknown {
  try {
    return parseToml(text, { integersAsBigInt: "asNeeded", maxDepth: 100 });
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const reason = error.message.replace(/^Invalid TOML document: /, "").split("\n")[0] ?? "";
    throw new MatterError(reason, error.line, error.column);
  }
}

function parseJson(text: string): unknown {
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

const parsers: Readonly<Record<MatterFormat, (block: string) => unknown>> = {
  yaml: parseYaml,
  toml: parseTomlText,
  json: parseJson,
};

/** Parses the text between the fences. Nothing in it is run. Throws MatterError. */
export function parseMatter(block: string, format: MatterFormat): unknown {
  return parsers[format](block);
}
