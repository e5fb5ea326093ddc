import { readFile, stat } from "node:fs/promises";
import { extname } from "node:path";
import type { core } from "zod/mini";
import { buildSuite } from "../../checks/eval/suite/build-suite.ts";
import { knownMembers, SuiteContent } from "../../checks/eval/suite/suite-schema.ts";
import {
  didYouMean,
  type Locate,
  type Path,
  type Place,
  type Suite,
  type SuiteProblem,
} from "../../checks/eval/suite/suite.ts";
import { schemaProblems } from "../../checks/eval/is-json.ts";
import { createLines } from "../../checks/lines.ts";
import { dotted, SyntaxProblem, type Tree, valueAt } from "../../config/file/problems.ts";
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

function typeOf(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "nothing (null)";
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object") return "an object";
  return typeof value === "string" ? "text" : `the ${typeof value} ${String(value as number)}`;
}

const typeNames: Readonly<Record<string, string>> = {
  int: "a whole number",
  number: "a number",
  string: "text",
  array: "a list",
  object: "an object",
  record: "an object",
  boolean: "true or false",
};

const isMistyped = ({ code, path }: core.$ZodIssue): boolean =>
  path.length === 0 && (code === "invalid_type" || code === "invalid_value");

/** The issues of the form that the author meant: the one whose type is right. */
function flatten(issue: core.$ZodIssue): core.$ZodIssue[] {
  if (issue.code !== "invalid_union") return [issue];
  const branch = issue.errors
    .map((issues) => issues.flatMap(flatten))
    .find((issues) => !issues.some((each) => isMistyped(each) || isOwnUnion(each)));
  return branch?.map((each) => ({ ...each, path: [...issue.path, ...each.path] })) ?? [issue];
}

const isOwnUnion = ({ code, path }: core.$ZodIssue): boolean =>
  code === "invalid_union" && path.length === 0;

function quotingHint(expected: string, value: unknown): string {
  const isScalar = typeof value === "number" || typeof value === "boolean";
  return expected === "string" && isScalar ? "; put it in quotes" : "";
}

function messageOf(issue: core.$ZodIssue, value: unknown): string {
  switch (issue.code) {
    case "invalid_type": {
      const expected = typeNames[issue.expected] ?? issue.expected;
      if (value === undefined) return "is missing";
      return `expected ${expected}, found ${typeOf(value)}${quotingHint(issue.expected, value)}`;
    }
    case "invalid_value":
      if (value === undefined) return `is missing: write ${issue.values.map(String).join(" or ")}`;
      return `expected ${issue.values.map(String).join(" or ")}, found ${typeOf(value)}`;
    case "too_small":
      if (issue.origin !== "number" && issue.origin !== "int") return "may not be empty";
      return `expected ${issue.inclusive ? "at least" : "more than"} ${issue.minimum}`;
    case "too_big":
      return issue.origin === "number" || issue.origin === "int"
        ? `expected at most ${issue.maximum}`
        : `is longer than ${issue.maximum}`;
    case "invalid_key":
      return "a name has letters, digits, `_` and `-`, and begins with a letter";
    case "invalid_union":
      return typeof value === "string"
        ? `${issue.message}, found "${value.slice(0, 60)}"${didYouMean(value, wordsAt(issue.path as Path))}`
        : `${issue.message}, found ${typeOf(value)}`;
    default:
      return issue.message;
  }
}

/** The member that holds the object at `path`. */
function holderOf(path: Path): string {
  const holder = path.findLast((step) => typeof step === "string");
  return typeof holder === "string" ? holder : "";
}

function wordsAt(path: Path): readonly string[] {
  return holderOf(path) === "expect" ? (knownMembers["expect"] ?? []) : [];
}

/** Members that an object at `path` may have. */
function membersAt(path: Path): readonly string[] {
  const holder = holderOf(path);
  return knownMembers[holder] ?? knownMembers["documents"] ?? [];
}

/** The problems of a file that does not have the form of a suite, in the order of the file. */
function formProblems(
  issues: readonly core.$ZodIssue[],
  content: unknown,
  locate: Locate,
): SuiteProblem[] {
  const flat = issues.flatMap(flatten);
  const unknown = new Set(
    flat.filter(({ code }) => code === "unrecognized_keys").map(({ path }) => dotted(path as Path)),
  );
  return flat.flatMap((issue): SuiteProblem[] => {
    const path = issue.path as Path;
    if (issue.code === "unrecognized_keys") {
      return issue.keys.map((key) => ({
        place: locate([...path, key], true),
        message: `unknown member ${dotted([...path, key])}${didYouMean(key, membersAt(path))}`,
      }));
    }
    // The unknown member is the reason for what is missing beside it.
    if (issue.code === "custom" && unknown.has(dotted(path))) return [];
    const value = valueAt(content, path);
    const where = path.length === 0 ? "the suite" : dotted(path);
    const message = messageOf(issue, value);
    const isMissing = value === undefined;
    return [
      {
        place: locate(isMissing ? path.slice(0, -1) : path, issue.code === "invalid_key"),
        message: isMissing ? `${where} ${message}` : `${where}: ${message}`,
      },
    ];
  });
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
