import { CliError } from "../../errors.ts";

/** What --raw-field and --field make: members of the request's body. Without a prototype. */
export interface Tree {
  [name: string]: unknown;
}

/** One field as given: its name, and what its value is made of. */
export interface Field {
  name: string;
  /** Absent in `name[]`: a list without elements. */
  value?: unknown;
}

const deepest = 20;

function createTree(): Tree {
  return Object.create(null) as Tree;
}

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `a[b][]` as its steps: `a`, `b` and an empty one, which is an element of a list. */
function stepsOf(name: string): string[] {
  const [, first, rest = ""] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? [];
  const steps = first === undefined ? [] : [first, ...rest.split("[").slice(1)];
  if (steps.length === 0 || steps.length > deepest) {
    throw new CliError("usage", `field ${name}: this is no name of a field`, {
      hints: ["names are written as name, name[member] or name[] for an element of a list"],
    });
  }
  return steps.map((step) => step.replace(/\]$/, ""));
}

/** Whether the element of a list takes this member, or the next element begins with it. */
function hasRoom(tree: Tree, steps: readonly string[]): boolean {
  const [step = "", ...rest] = steps;
  const known = tree[step];
  if (known === undefined) return true;
  if (rest.length === 0) return false;
  if (rest[0] === "") return Array.isArray(known);
  return isTree(known) && hasRoom(known, rest);
}

function twice(name: string): CliError {
  return new CliError("usage", `field ${name}: it contradicts an earlier field`, {
    hints: ["a name is given once, as one kind of value; name[] adds to a list"],
  });
}

function putElement(list: unknown[], steps: readonly string[], field: Field): void {
  if (steps.length === 0) {
    if ("value" in field) list.push(field.value);
    return;
  }
  if (steps[0] === "") throw twice(field.name);
  const last = list.at(-1);
  if (isTree(last) && hasRoom(last, steps)) return put(last, steps, field);
  const element = createTree();
  list.push(element);
  put(element, steps, field);
}

function put(tree: Tree, steps: readonly string[], field: Field): void {
  const [step = "", ...rest] = steps;
  const known = tree[step];
  if (rest.length === 0) {
    if (known !== undefined) throw twice(field.name);
    tree[step] = field.value;
  } else if (rest[0] === "") {
    const list = known ?? [];
    if (!Array.isArray(list)) throw twice(field.name);
    tree[step] = list;
    putElement(list, rest.slice(1), field);
  } else {
    const inner = known ?? createTree();
    if (!isTree(inner)) throw twice(field.name);
    tree[step] = inner;
    put(inner, rest, field);
  }
}

/**
 * The fields as one object, as `gh api` nests them: `a[b]=c` is a member of an
 * object, `a[]=c` an element of a list, `a[][b]=c` a member of an element; the next
 * element begins with a member that the last one has. Throws CliError `usage` for
 * names that are none or contradict each other.
 */
export function createBody(fields: readonly Field[]): Tree {
  const body = createTree();
  for (const field of fields) put(body, stepsOf(field.name), field);
  return body;
}

function queryText(name: string, value: unknown): string {
  if (value === null) return "";
  if (typeof value !== "object") return String(value);
  throw new CliError("usage", `field ${name}: a query holds texts and lists of them, no objects`, {
    hints: ["send it in a body: --method POST"],
  });
}

/** The fields as a query without its `?`; a list repeats its name, as the service reads lists. */
export function createQuery(fields: readonly Field[]): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(createBody(fields))) {
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      query.append(name, queryText(name, each));
    }
  }
  return query.toString();
}

const words = new Map<string, unknown>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

/** The value of a typed field: a word of JSON, a whole number, or the text as it is. */
export function typedValue(name: string, text: string): unknown {
  if (words.has(text)) return words.get(text);
  if (!/^-?(?:0|[1-9]\d*)$/.test(text)) return text;
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  throw new CliError("usage", `--field ${name}: the number has more digits than can be kept`, {
    hints: ["send it as text with --raw-field, or the whole body with --input"],
  });
}

/** `name=value` as its two parts; `name[]` alone is an empty list. Throws CliError `usage`. */
export function splitField(flag: string, given: string): [name: string, text: string | undefined] {
  const at = given.indexOf("=");
  if (at > 0) return [given.slice(0, at), given.slice(at + 1)];
  if (at < 0 && given.endsWith("[]")) return [given, undefined];
  // What was typed may be a secret without its name.
  throw new CliError("usage", `${flag}: expected name=value`, {
    hints: ["for example -f message=Hello, -F stream=false, -F text=@file.md"],
  });
}
