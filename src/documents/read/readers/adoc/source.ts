import { CliError } from "../../../../errors.ts";

const ignoreMark = /^(?:\/\/[ \t]*)?<!--[ \t]*(\/?)knowctl:ignore[ \t]*-->$/;
const commentBlock = /^\/{4,}$/;
const verbatim = /^(?:-{4,}|\.{4,}|\+{4,}|`{3,}[^`\s]*)$/;
const container = /^(?:={4,}|\*{4,}|_{4,}|~{4,})$/;
// Nobody types a longer delimiter: a pattern would not fit into its stack.
const longestDelimiter = 10_000;
// A block ends at its delimiter, so blocks nest as deep as there are delimiters. The library calls
// itself for each level.
const deepest = 200;
// Of more, the number says nothing.
const mostComments = 1000;
const nothing = "//";

/** Whether a line of dashes or plus signs makes a title of the line before. */
function underlines(line: string, title: string, above: string): boolean {
  const isFirst = above === "" || /^(?:\[.*\]|\..*|\/\/.*)$/.test(above);
  const isTitle = /^[-+]/.test(line) && /[\p{L}\p{N}]/u.test(title) && !/^[[.:]/.test(title);
  return isFirst && isTitle && Math.abs(line.length - title.length) <= 1;
}

/** The delimiter that ends what a line begins, where no markup is read; undefined for others. */
function endOf(line: string, title: string, above: string): string | undefined {
  if (line.length > longestDelimiter) return undefined;
  if (commentBlock.test(line)) return line;
  if (!verbatim.test(line) || underlines(line, title, above)) return undefined;
  return /^`+/.exec(line)?.[0] ?? line;
}

/** What the library reads, and what the document lacks of the text. */
export interface Source {
  /** Without ignore regions: comments take their places. */
  text: string;
  /** The lines, from `firstLine`, where comments end. */
  comments: number[];
}

/**
 * Prepares a text for the library. Throws CliError `usage` with `path:line:column` for an ignore
 * region that is never closed, and for blocks that nest without end.
 */
export function prepareSource(text: string, path: string, firstLine: number): Source {
  const lines = text.replaceAll("\0", "").replace(/\r\n?/g, "\n").split("\n");
  const comments: number[] = [];
  const ignored: number[] = [];
  const delimiters = new Set<string>();
  let end: string | undefined;
  const kept = lines.map((written, index) => {
    const line = written.trimEnd();
    const isIgnored = ignored.length > 0;
    const addComment = (): void => {
      if (!isIgnored && comments.length < mostComments) comments.push(firstLine + index);
    };
    if (end !== undefined) {
      if (line === end) {
        if (line.startsWith("/")) addComment();
        end = undefined;
      }
      return isIgnored ? nothing : written;
    }
    const slash = line.length < 100 ? ignoreMark.exec(line)?.[1] : undefined;
    if (slash === "") ignored.push(firstLine + index);
    else if (slash !== undefined) ignored.pop();
    if (slash !== undefined) return nothing;
    end = endOf(line, lines[index - 1] ?? "", lines[index - 2] ?? "");
    const isComment = line.startsWith("//") && !line.startsWith("///");
    if (isComment || line === "[comment]") addComment();
    if (line.length <= longestDelimiter && container.test(line)) delimiters.add(line);
    if (delimiters.size > deepest) {
      const place = `${path}:${firstLine + index}:1`;
      throw new CliError("usage", `${place}: blocks are nested more than ${deepest} levels deep`);
    }
    return isIgnored ? nothing : written;
  });
  const open = ignored[0];
  if (open === undefined) return { text: kept.join("\n"), comments };
  throw new CliError("usage", `${path}:${open}:1: the knowctl:ignore region is never closed`, {
    hints: ["close it with <!-- /knowctl:ignore -->"],
  });
}
