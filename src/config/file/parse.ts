import { basename, extname } from "node:path";
import { CliError } from "../../errors.ts";
import { brokenConfig, placeOf, SyntaxProblem, type Path, type Tree } from "./problems.ts";
import { prefixOf, type FoundFile } from "../find/places.ts";
import type { ConfigContent } from "../values/schema.ts";

export interface ParsedFile {
  path: string;
  text: string;
  /** The whole file; in a `package.json` the configuration is the value at `prefix`. */
  tree: Tree;
  prefix: Path;
  content: ConfigContent;
}

const maxBytes = 1024 * 1024;

const emptyTree: Tree = { value: {}, offsetOf: () => 0 };

async function parseTree(path: string, text: string): Promise<Tree> {
  if (text.length > maxBytes) {
    throw new CliError(
      "not-configured",
      `${path}: a configuration file may not be larger than 1 MiB`,
    );
  }
  if (text.trim() === "") return emptyTree;
  const isJson = extname(path) === ".json";
  try {
    // Loaded on demand: most commands find no file.
    const { parseJson, parseYaml } = await import("./yaml.ts");
    const tree = isJson ? parseJson(text) : parseYaml(text);
    return tree.value === null ? emptyTree : tree;
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    const { line, column } = placeOf(text, error.offset);
    throw brokenConfig(
      [{ where: `${path}:${line}:${column}`, message: error.message }],
      `correct the ${isJson ? "JSON" : "YAML"} syntax of ${basename(path)} at line ${line}, column ${column}`,
    );
  }
}

/**
 * Parses and validates one configuration file, as JSON or YAML by its extension. A file
 * without an extension is YAML, which includes JSON. Throws CliError `not-configured`
 * with `file:line:column` for every problem.
 */
export async function parseConfig(
  path: string,
  source: string,
  prefix: Path = [],
): Promise<ParsedFile> {
  const text = source.replace(/^\uFEFF/, "");
  // As UTF-8, the byte order mark of UTF-16 is two replacement characters.
  if (text.startsWith("\uFFFD\uFFFD") || text.includes("\0")) {
    throw brokenConfig(
      [{ where: path, message: "the file is not UTF-8 but UTF-16, or binary" }],
      `save ${basename(path)} as UTF-8`,
    );
  }
  const tree = await parseTree(path, text);
  // Building the schema takes longer than most commands: load it only for an existing file.
  const { validateConfig } = await import("../values/validate.ts");
  const checked = validateConfig({ path, text, tree }, prefix);
  if ("problems" in checked) throw brokenConfig(checked.problems);
  return { path, text, tree, prefix, content: checked.content };
}

/** Parses a file that was found. */
export function parseFound({ path, text }: FoundFile): Promise<ParsedFile> {
  return parseConfig(path, text, prefixOf(path));
}
