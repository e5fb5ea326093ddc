import {
  applyEdits,
  findNodeAtLocation,
  modify,
  parse as parseJson,
  parseTree,
  printParseErrorCode,
  type ParseError,
} from "jsonc-parser";
import { parse as parseToml, stringify as toToml, TomlError } from "smol-toml";
import { CliError, messageOf } from "../../errors.ts";

/** How a client starts the server. */
export interface Entry {
  type?: "stdio";
  command: string;
  args: string[];
}

/** The place of an entry in the configuration of a client. */
export interface Place {
  path: string;
  form: "json" | "toml";
  servers: string;
}

const entryName = "knowctl";

function broken(path: string, text: string, offset: number, reason: string): CliError {
  const line = text.slice(0, offset).split("\n").length;
  return new CliError("local", `${path}:${line}: cannot be read: ${reason}; nothing was changed`, {
    hints: ["correct the file", "or paste the entry yourself: knowctl mcp --print-config CLIENT"],
  });
}

function refuse(path: string, what: string): CliError {
  return new CliError("local", `${path}: ${what}; nothing was changed`, {
    hints: ["paste the entry yourself: knowctl mcp --print-config CLIENT"],
  });
}

/** Throws CliError `local` for a text that the client cannot read either. */
function checkJson({ path, servers }: Place, text: string): void {
  if (text.trim() === "") return;
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  const [error] = errors;
  if (error) throw broken(path, text, error.offset, printParseErrorCode(error.error));
  if (root?.type !== "object") throw refuse(path, "it is no object");
  const held = root.children?.filter(({ children }) => children?.[0]?.value === servers) ?? [];
  if (held.length > 1) throw refuse(path, `it has ${servers} twice`);
  const type = held[0]?.children?.[1]?.type;
  if (type !== undefined && type !== "object") throw refuse(path, `${servers} is no object`);
}

/** Indentation and line ends as the file has them. */
function formattingOf(text: string) {
  const indent = /\n([ \t]+)\S/.exec(text)?.[1] ?? "  ";
  const insertSpaces = !indent.startsWith("\t");
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  return { insertSpaces, tabSize: insertSpaces ? indent.length : 1, eol };
}

function hasEntry({ servers }: Place, text: string): boolean {
  const root = text.trim() === "" ? undefined : parseTree(text, [], { allowTrailingComma: true });
  return root !== undefined && findNodeAtLocation(root, [servers, entryName]) !== undefined;
}

function editJson(place: Place, text: string, entry: Entry | undefined): string {
  checkJson(place, text);
  // The library deletes only what is there.
  if (!entry && !hasEntry(place, text)) return text;
  const formattingOptions = formattingOf(text);
  const edits = modify(text, [place.servers, entryName], entry, { formattingOptions });
  const edited = applyEdits(text, edits);
  return text.trim() === "" ? `${edited.trim()}\n` : edited;
}

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** The lines of the entry's table and of tables below it, with the blank lines before. */
function tomlBlock({ servers }: Place): RegExp {
  const name = `\\[[ \\t]*${escaped(servers)}[ \\t]*\\.[ \\t]*"?${entryName}"?[ \\t]*`;
  return new RegExp(
    `(?<=^|\\n)(?:[ \\t]*\\r?\\n)*[ \\t]*${name}(?:\\.[^\\n]*)?\\][^\\n]*(?:\\n(?![ \\t]*\\[)[^\\n]*)*\\n?`,
    "g",
  );
}

function editToml(place: Place, text: string, entry: Entry | undefined): string {
  try {
    parseToml(text);
  } catch (error) {
    const line = error instanceof TomlError ? error.line : 1;
    const offset =
      text
        .split("\n")
        .slice(0, line - 1)
        .join("\n").length + 1;
    throw broken(place.path, text, offset, messageOf(error).split("\n", 1)[0] ?? "");
  }
  const rest = text.replace(tomlBlock(place), "");
  if (!entry) return rest;
  const eol = text.includes("\r\n") ? "\r\n" : "\n";
  const block = toToml({ [place.servers]: { [entryName]: entry } })
    .trim()
    .replaceAll("\n", eol);
  const gap =
    rest === "" || rest.endsWith(`${eol}${eol}`) ? "" : rest.endsWith("\n") ? eol : eol + eol;
  return `${rest}${gap}${block}${eol}`;
}

/** The entry in a text; undefined for none. Throws CliError `local` for a text that cannot be read. */
export function entryIn(place: Place, text: string): Entry | undefined {
  // Reads it as edit() does, which names what is broken.
  edit(place, text, undefined);
  const body = text.replace(/^\uFEFF/, "");
  const all: unknown =
    place.form === "json" ? parseJson(body, [], { allowTrailingComma: true }) : parseToml(body);
  const servers = (all as Record<string, Record<string, Entry>> | undefined)?.[place.servers];
  return servers?.[entryName];
}

/**
 * The text with the entry, or without it; everything else stays as it is. Throws CliError `local` for
 * a text that cannot be read.
 */
export function edit(place: Place, text: string, entry: Entry | undefined): string {
  const bom = text.startsWith("\uFEFF") ? "\uFEFF" : "";
  const body = text.slice(bom.length);
  return (
    bom + (place.form === "json" ? editJson(place, body, entry) : editToml(place, body, entry))
  );
}

/** The entry as people paste it. */
export function entryText({ form, servers }: Place, entry: Entry): string {
  const whole = { [servers]: { [entryName]: entry } };
  return form === "json" ? JSON.stringify(whole, undefined, 2) : toToml(whole).trim();
}
