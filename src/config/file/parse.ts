import { extname } from "node:path";
import { CliError } from "../../errors.ts";
import { parseJson } from "./json.ts";
import { nodeAt, placeOf, SyntaxProblem, valueOf, type Node, type Path } from "./nodes.ts";
import { brokenConfig } from "./problems.ts";
import type { ConfigContent } from "../values/schema.ts";

export interface ParsedFile {
  path: string;
  text: string;
  /** The whole file; in a `package.json` the configuration is the node at `prefix`. */
  tree: Node;
  prefix: Path;
  content: ConfigContent;
}

const largestBytes = 1024 * 1024;

async function parseTree(path: string, text: string): Promise<Node> {
  if (text.length > largestBytes) {
    throw new CliError("not-configured", `${path}: larger than 1 MiB, which is no configuration`);
  }
  if (text.trim() === "") return { kind: "object", start: 0, members: [] };
  try {
    if (extname(path) === ".json") return parseJson(text);
    // Loaded only for YAML: most configurations are JSON, and start-up counts.
    const tree = (await import("./yaml.ts")).parseYaml(text);
    const isEmpty = tree.kind === "scalar" && (tree.value === null || tree.value === undefined);
    return isEmpty ? { kind: "object", start: 0, members: [] } : tree;
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    const { line, column } = placeOf(text, error.offset);
    throw brokenConfig([{ where: `${path}:${line}:${column}`, message: error.message }]);
  }
}

// "YAML scalars keep the text as written": in metadata `1.10` is not 1.1 and a date no Date.
function keepText(node: Node): void {
  if (node.kind === "object") for (const member of node.members) keepText(member.value);
  else if (node.kind === "list") for (const item of node.items) keepText(item);
  else if (node.raw !== undefined && typeof node.value !== "string" && node.value !== null) {
    node.value = node.raw;
  }
}

function keepMetadataText(tree: Node): void {
  if (tree.kind === "object") {
    for (const member of tree.members) {
      if (member.key === "metadata") keepText(member.value);
      else keepMetadataText(member.value);
    }
  } else if (tree.kind === "list") for (const item of tree.items) keepMetadataText(item);
}

/**
 * Parses and checks one configuration file (JSON or YAML by its extension; a
 * file without one is YAML, which JSON is too). Throws CliError `not-configured`
 * with `file:line:column` for everything that is wrong.
 */
export async function parseConfig(
  path: string,
  source: string,
  prefix: Path = [],
): Promise<ParsedFile> {
  const text = source.replace(/^\uFEFF/, "");
  const tree = await parseTree(path, text);
  if (extname(path) !== ".json") keepMetadataText(tree);
  const node = nodeAt(tree, prefix) ?? { kind: "object", start: 0, members: [] };
  // The schema costs more to build than most commands take: only a file that exists pays for it.
  const { validateConfig } = await import("../values/validate.ts");
  const checked = validateConfig({ path, text, tree }, valueOf(node), prefix);
  if ("problems" in checked) throw brokenConfig(checked.problems);
  return { path, text, tree, prefix, content: checked.content };
}
