import { existsSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import { isDeepStrictEqual } from "node:util";
import { CliError, codeOf, fileProblem } from "../../errors.ts";
import { checkPrivate, refuseSpecial, writeWhole, whileLocked } from "./files.ts";
import type { Machine } from "../find/folders.ts";
import { parseConfig } from "./parse.ts";
import { prefixOf } from "../find/places.ts";

type Values = Record<string, unknown>;

/** A configuration file and its unsaved changes. */
export interface Draft {
  path: string;
  /** The user's own file: written with mode 0600. */
  isPrivate: boolean;
  text: string;
  /** The whole file as an object; in a package.json the configuration is one member. */
  values: Values;
  prefix: readonly string[];
  machine: Machine;
  /** What was changed, in order: saving applies it to the file as it is then. */
  changes: readonly (readonly [path: readonly string[], value: unknown])[];
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new CliError("local", `cannot read ${path}: ${fileProblem(codeOf(error))}`, {
      hints: ["check the path and the permissions of the file"],
      cause: error,
    });
  }
}

/**
 * Opens a file to change it; a missing file starts empty. Throws CliError
 * `not-configured` when the file is broken or unsafe.
 */
export async function openDraft(
  path: string,
  isPrivate: boolean,
  machine: Machine,
): Promise<Draft> {
  const prefix = prefixOf(path);
  const known = { path, isPrivate, prefix, machine, changes: [] };
  if (!existsSync(path)) return { ...known, text: "", values: {} };
  refuseSpecial(path);
  if (isPrivate) checkPrivate(path, { uid: machine.uid, holdsKey: false, warn: () => {} });
  const { tree, text } = await parseConfig(path, read(path), prefix);
  return { ...known, text, values: tree.value as Values };
}

function isObject(value: unknown): value is Values {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The value at a path of the configuration, or undefined. */
export function readDraft(draft: Draft, path: readonly string[]): unknown {
  let at: unknown = draft.values;
  for (const step of [...draft.prefix, ...path]) {
    if (!isObject(at) || !Object.hasOwn(at, step)) return undefined;
    at = at[step];
  }
  return at;
}

function withValue(values: Values, path: readonly string[], value: unknown): Values {
  const [step = "", ...rest] = path;
  if (rest.length === 0) {
    if (value !== undefined) return { ...values, [step]: value };
    return Object.fromEntries(Object.entries(values).filter(([key]) => key !== step));
  }
  const inner = Object.hasOwn(values, step) && isObject(values[step]) ? values[step] : {};
  return { ...values, [step]: withValue(inner, rest, value) };
}

/** The draft with a value set; undefined removes the value. */
export function changeDraft(draft: Draft, path: readonly string[], value: unknown): Draft {
  if (value === undefined && readDraft(draft, path) === undefined) return draft;
  const values = withValue(draft.values, [...draft.prefix, ...path], value);
  return { ...draft, values, changes: [...draft.changes, [path, value]] };
}

function indentOf(text: string): string {
  return /^\{\r?\n([ \t]+)"/.exec(text)?.[1] ?? "  ";
}

/** The text of the draft: JSON anew, YAML with its comments and its layout. */
async function render({ path, text, values, prefix, changes }: Draft): Promise<string> {
  const isJson = extname(path) === ".json" || /^\s*\{/.test(text);
  if (isJson) return `${JSON.stringify(values, null, indentOf(text))}\n`;
  const { changeYaml } = await import("./yaml.ts");
  return changeYaml(
    text,
    changes.map(([at, value]) => [[...prefix, ...at], value]),
  );
}

/** The text that saveDraft() would write. Throws CliError `not-configured` if that text is invalid. */
export async function renderDraft(draft: Draft): Promise<string> {
  const text = await render(draft);
  const { tree } = await parseConfig(draft.path, text, draft.prefix);
  if (isDeepStrictEqual(tree.value, draft.values)) return text;
  throw new CliError("not-configured", `cannot change ${draft.path} and keep the rest as it is`, {
    hints: ["edit the file by hand"],
  });
}

/**
 * Applies the changes of the draft to the file as it is now, which another command may have changed
 * since it was opened, checks and writes it. Throws CliError `not-configured` or `local`.
 */
export async function saveDraft({ path, isPrivate, machine, changes }: Draft): Promise<void> {
  await whileLocked(path, async () => {
    let draft = await openDraft(path, isPrivate, machine);
    for (const [at, value] of changes) draft = changeDraft(draft, at, value);
    writeWhole(path, await renderDraft(draft), { keepMode: !isPrivate });
  });
}
