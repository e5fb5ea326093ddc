import { CliError } from "../../errors.ts";

/** Body members from --raw-field and --field. Has no prototype, so every name is a plain member. */
export interface Tree {
  [name: string]: unknown;
}

/** One --raw-field or --field. */
export interface Field {
  name: string;
  /** Absent for `name[]`, an empty list. */
  value?: unknown;
}

const maxDepth = 20;

function createTree(): Tree {
  return Object.create(null) as Tree;
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Splits `a[b][]` into its steps: `a`, `b` and an empty step, which stands for a list element. */
function stepsOf(name: string): string[] {
  const [, first, rest = ""] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? [];
  const steps = first === undefined ? [] : [first, ...rest.split("[").slice(1)];
  if (steps.length === 0 || steps.length > maxDepth) {
    throw new CliError("usage", `field ${name}: not a valid field name`, {
      hints: ["write name, name[member], or name[] for an element of a list"],
    });
  }
  return steps.map((step) => step.replace(/\]$/, ""));
}

/** Whether the last list element can hold this member; else the member begins the next element. */
function canHold(tree: Tree, steps: readonly string[]): boolean {
  const [step = "", ...rest] = steps;
  const known = tree[step];
  if (known === undefined) return true;
  if (rest.length === 0) return false;
  if (rest[0] === "") return Array.isArray(known);
  return isTree(known) && canHold(known, rest);
}

function contradiction(name: string): CliError {
  return new CliError("usage", `field ${name}: it contradicts an earlier field`, {
    hints: ["use each name once, with one kind of value; name[] adds to a list"],
  });
}

function putElement(list: unknown[], steps: readonly string[], field: Field): void {
  if (steps.length === 0) {
    if ("value" in field) list.push(field.value);
    return;
  }
  if (steps[0] === "") throw contradiction(field.name);
  const last = list.at(-1);
  if (isTree(last) && canHold(last, steps)) return put(last, steps, field);
  const element = createTree();
  list.push(element);
  put(element, steps, field);
}

function put(tree: Tree, steps: readonly string[], field: Field): void {
  const [step = "", ...rest] = steps;
  const known = tree[step];
  if (rest.length === 0) {
    if (known !== undefined) throw contradiction(field.name);
    tree[step] = field.value;
  } else if (rest[0] === "") {
    const list = known === undefined ? [] : known;
    if (!Array.isArray(list)) throw contradiction(field.name);
    tree[step] = list;
    putElement(list, rest.slice(1), field);
  } else {
    const inner = known === undefined ? createTree() : known;
    if (!isTree(inner)) throw contradiction(field.name);
    tree[step] = inner;
    put(inner, rest, field);
  }
}

/**
 * Builds one object from the fields, nested as in `gh api`: `a[b]=c` is a member of an
 * object, `a[]=c` an element of a list, `a[][b]=c` a member of an element. A member
 * that the last element already has begins the next element. Throws CliError `usage`
 * for invalid names and for names that contradict each other.
 */
export function createBody(fields: readonly Field[]): Tree {
  const body = createTree();
  for (const field of fields) put(body, stepsOf(field.name), field);
  return body;
}

function queryText(name: string, value: unknown): string {
  if (value === null) return "";
  if (typeof value !== "object") return String(value);
  throw new CliError("usage", `field ${name}: a query can hold only texts and lists of texts`, {
    hints: ["send it in a body: --method POST"],
  });
}

/** Builds a query string without `?`. A list repeats its name: the service reads lists this way. */
export function createQuery(fields: readonly Field[]): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(createBody(fields))) {
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      query.append(name, queryText(name, each));
    }
  }
  return query.toString();
}

const jsonLiterals = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** The value of a typed field: a JSON literal, a whole number, or the unchanged text. */
export function typedValue(name: string, text: string): unknown {
  if (jsonLiterals.has(text)) return jsonLiterals.get(text);
  if (!/^-?(?:0|[1-9]\d*)$/.test(text)) return text;
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  throw new CliError("usage", `--field ${name}: the number is too large to be sent exactly`, {
    hints: ["send it as text with --raw-field, or the whole body with --input"],
  });
}

/** Splits `name=value`; `name[]` alone is an empty list. Throws CliError `usage`. */
export function splitField(flag: string, given: string): [name: string, text: string | undefined] {
  const at = given.indexOf("=");
  if (at > 0) return [given.slice(0, at), given.slice(at + 1)];
  if (at < 0 && given.endsWith("[]")) return [given, undefined];
  // The argument is not quoted: it may be a secret without its name.
  throw new CliError("usage", `${flag}: expected name=value`, {
    hints: ["for example -f message=Hello, -F stream=false, -F text=@file.md"],
  });
}
