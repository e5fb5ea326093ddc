import type { core } from "zod/mini";
import { nearest } from "../../../nearest.ts";
import type { Place, SuiteProblem } from "./suite.ts";
import { knownMembers } from "./suite-schema.ts";

export type Path = readonly (string | number)[];

/** The place of a value in the suite file, or with `atKey` of its key. */
export type Locate = (path: Path, atKey?: boolean) => Place;

/** A known word for an unknown one: `; did you mean "k"?`, or nothing. */
export function didYouMean(word: string, known: readonly string[]): string {
  const found = nearest(word, known);
  return found === undefined ? "" : `; did you mean "${found}"?`;
}

function dotted(path: Path): string {
  return path
    .map((step, index) => (typeof step === "number" ? `[${step}]` : index > 0 ? `.${step}` : step))
    .join("");
}

function valueAt(content: unknown, path: Path): unknown {
  let value = content;
  for (const step of path) value = (value as Record<string | number, unknown> | undefined)?.[step];
  return value;
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
export function formProblems(
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
