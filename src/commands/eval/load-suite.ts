import { readFile, stat } from "node:fs/promises";
import { extname } from "node:path";
import { buildSuite } from "../../checks/eval/suite/build-suite.ts";
import type { Place, Suite, SuiteProblem } from "../../checks/eval/suite/suite.ts";
import { SuiteContent } from "../../checks/eval/suite/suite-schema.ts";
import { formProblems, type Locate } from "../../checks/eval/suite/suite-problems.ts";
import { schemaProblems } from "../../checks/eval/is-json.ts";
import { createLines } from "../../checks/lines.ts";
import { SyntaxProblem, type Tree } from "../../config/file/problems.ts";
import { parseJson, parseYaml } from "../../config/file/yaml.ts";
import { CliError, codeOf, fileProblem } from "../../errors.ts";

const maxBytes = 4 * 1024 * 1024;
const maxNodes = 500_000;
const mostShown = 50;

const textOf = ({ place: { file, line, column }, message }: SuiteProblem): string =>
  `${file}:${line}:${column}: ${message}`;

/** All problems of suites as one error: the first is the message, the others are details. */
export function brokenSuite(
  problems: readonly SuiteProblem[],
  hints: readonly string[] = [],
): CliError {
  const [first = "the suite is broken", ...rest] = problems.slice(0, mostShown).map(textOf);
  const more = problems.length - mostShown;
  return new CliError("usage", first, {
    details: more > 0 ? [...rest, `and ${more} more`] : rest,
    hints,
  });
}

async function readSuite(path: string, file: string): Promise<string> {
  try {
    const stats = await stat(path);
    // A pipe without a writer would block the process, even its end.
    if (!stats.isFile() && !stats.isDirectory() && !/^\/(?:dev\/fd|proc)\//.test(path)) {
      throw new CliError("usage", `${file}: the suite is not a regular file`);
    }
    if (stats.size > maxBytes) throw new CliError("usage", `${file}: a suite may not exceed 4 MiB`);
    const bytes = await readFile(path);
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof CliError) throw error;
    if (error instanceof TypeError) {
      throw new CliError("usage", `${file}: the suite is not UTF-8 text`, { cause: error });
    }
    const reason = fileProblem(codeOf(error));
    const hints = ["name a suite file; `knowctl eval init --out suite.yaml` drafts one"];
    throw new CliError("usage", `cannot read the suite ${file}: ${reason}`, {
      cause: error,
      hints,
    });
  }
}

function parse(file: string, text: string): { tree: Tree; placeAt: (offset: number) => Place } {
  const lines = createLines(text);
  const placeAt = (offset: number): Place => ({ file, ...lines.at(offset) });
  try {
    const isJson = extname(file).toLowerCase() === ".json";
    return { tree: isJson ? parseJson(text) : parseYaml(text, maxNodes), placeAt };
  } catch (error) {
    if (!(error instanceof SyntaxProblem)) throw error;
    throw brokenSuite([{ place: placeAt(error.offset), message: error.message }]);
  }
}

/** The index of the case that a problem concerns; undefined if it concerns the whole suite. */
function caseIndexOf(path: readonly PropertyKey[]): number | undefined {
  return path[0] === "cases" && typeof path[1] === "number" ? path[1] : undefined;
}

const inOrder = (problems: readonly SuiteProblem[]): SuiteProblem[] =>
  problems.toSorted((a, b) => a.place.line - b.place.line || a.place.column - b.place.column);

/** Problems of the cases that have the right form, so that all problems are shown at once. */
function otherProblems(content: unknown, bad: ReadonlySet<number>, file: string, locate: Locate) {
  const { cases } = content as { cases: unknown[] };
  const good = [...cases.keys()].filter((index) => !bad.has(index));
  const rest = { ...(content as object), cases: good.map((index) => cases[index]) };
  const parsed = SuiteContent.safeParse(rest);
  if (!parsed.success) return [];
  return buildSuite(parsed.data, file, locate, (index) => good[index] ?? 0).problems;
}

/**
 * Reads a suite from its text; `file` is its name in messages, and `.json` makes it JSON. Throws
 * CliError `usage` with every problem as `file:line:column: message`.
 */
export function parseSuite(source: string, file: string): Suite {
  const text = source.replace(/^\uFEFF/, "");
  const { tree, placeAt } = parse(file, text);
  const locate: Locate = (path, atKey = false) => placeAt(tree.offsetOf(path, atKey));
  const content = tree.value ?? {};
  const parsed = SuiteContent.safeParse(content);
  if (parsed.success) {
    const { suite, problems } = buildSuite(parsed.data, file, locate);
    if (problems.length > 0) throw brokenSuite(inOrder(problems));
    return suite;
  }
  const { issues } = parsed.error;
  const found = formProblems(issues, content, locate);
  const indexes = issues.map(({ path }) => caseIndexOf(path));
  const bad = new Set(indexes.filter((index) => index !== undefined));
  const others = indexes.includes(undefined) ? [] : otherProblems(content, bad, file, locate);
  throw brokenSuite(inOrder([...found, ...others]), [
    "see the form of a suite: knowctl eval init docs --limit 1",
  ]);
}

/**
 * Loads a suite from a YAML or JSON file. `path` is absolute, `file` its name in messages and
 * results. Throws CliError `usage` for a file that cannot be read, and with every problem of the
 * suite as `file:line:column: message`.
 */
export async function loadSuite(path: string, file: string): Promise<Suite> {
  const suite = parseSuite(await readSuite(path, file), file);
  const problems = await schemaProblems(suite);
  if (problems.length > 0) throw brokenSuite(problems);
  return suite;
}
