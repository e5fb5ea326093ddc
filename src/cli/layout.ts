import { Help } from "commander";

/** Widest help text, on any terminal and in the documentation. */
export const helpWidth = 80;

const indent = "  ";
/** Largest part of a line for the terms of a list; a longer term stands on its own line. */
const termShare = 0.45;
const layout = Object.assign(new Help(), { minWidthToWrap: 1 });

/** A term of a list with its description. */
export type Item = readonly [term: string, text: string];

/** Stands for a space that is no place to break a line. */
const fixedSpace = "\u{E000}";

/**
 * Breaks a text between words, never inside `code`; `hanging` begins every line but the first.
 * Newlines stay.
 */
export function wrap(text: string, width: number, hanging = ""): string {
  const fixed = text.replace(/`[^`\n]*`/g, (code) => code.replaceAll(" ", fixedSpace));
  const lines = layout.boxWrap(fixed, width - hanging.length);
  return lines.replaceAll("\n", `\n${hanging}`).replaceAll(fixedSpace, " ");
}

/** Lines of a list in two columns. The terms of `all` decide on the width of the first. */
export function list(
  items: readonly Item[],
  width: number,
  all: readonly Item[] = items,
): string[] {
  const lengths = all.map(([term]) => term.length);
  const column = Math.max(0, ...lengths.filter((length) => length <= width * termShare));
  const hanging = " ".repeat(indent.length + column + 2);
  return items.map(([term, text]) => {
    const head = term.length > column ? `${term}\n${hanging}` : `${term.padEnd(column)}  `;
    return text === "" ? indent + term : indent + head + wrap(text, width, hanging);
  });
}

/** A titled part of a help text, after an empty line; no lines without content. */
export function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", title, ...lines];
}

/**
 * A command line to copy: where it is broken, a backslash stands before the newline. Quoted text
 * stays whole; a command in `"$(…)"` may be broken as well.
 */
function commandLine(line: string, width: number): string {
  const words = line.match(/(?:"\$\(|\)"|"(?:\\.|[^"])*"|'[^']*'|[^\s"'])+/g) ?? [];
  const lines = [`${indent}$`];
  for (const word of words) {
    const last = lines.at(-1) ?? "";
    const fits = `${last} ${word} \\`.length <= width;
    lines.splice(
      fits ? -1 : lines.length,
      1,
      fits ? `${last} ${word}` : `${indent.repeat(2)}${word}`,
    );
  }
  return lines.join(" \\\n");
}

/** Lines of examples: the purpose as a comment, then the command. */
export function exampleLines(
  examples: readonly (readonly [command: string, purpose: string])[],
  width: number,
): string[] {
  return examples.flatMap(([line, purpose]) => [
    indent + wrap(`# ${purpose}`, width, `${indent}# `),
    commandLine(line, width),
  ]);
}
