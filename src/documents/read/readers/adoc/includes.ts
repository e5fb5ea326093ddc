import {
  type Document,
  Extensions,
  type PreprocessorReader,
  type Registry,
} from "@asciidoctor/core";
import type { LeftOut, Surroundings } from "../../reader.ts";
import { resourcePath } from "./antora.ts";
import { prepareSource } from "./source.ts";

const tagLine = /\b(tag|end)::([^\s[\]]{1,200})\[\](?=$|\s|-->|\*\/)/;

/** Lines from 1 that `lines=1..5;8;10..-1` names. */
function isInRanges(spec: string, count: number): (line: number) => boolean {
  const chosen = new Uint8Array(count + 2);
  for (const range of spec.split(/[;,]/).slice(0, 100)) {
    const [, from = "", dots, to = ""] = /^\s*(\d*)(\.\.)?(-?\d*)\s*$/.exec(range) ?? [];
    if (from === "" && dots === undefined) continue;
    const start = Math.max(1, Number(from || 1));
    const end = dots === undefined ? start : to === "" || to.startsWith("-") ? count : Number(to);
    chosen.fill(1, Math.min(start, count + 1), Math.min(end, count) + 1);
  }
  return (line) => chosen[line] === 1;
}

interface Tags {
  named: ReadonlyMap<string, boolean>;
  /** Whether lines outside of all tags, and in tags without a name here, are taken. */
  isOutsideTaken: boolean;
  isOtherTaken: boolean;
}

// docs.asciidoctor.org, "Include Content by Tagged Regions".
function parseTags(spec: string): Tags {
  const named = new Map<string, boolean>();
  for (const part of spec.split(/[;,]/)) {
    const name = part.trim().replace(/^!/, "");
    if (name !== "") named.set(name, !part.trim().startsWith("!"));
  }
  const all = named.get("**");
  const other = named.get("*");
  named.delete("**");
  named.delete("*");
  const isNegative = [...named.values()].every((taken) => !taken);
  return {
    named,
    isOutsideTaken: all ?? (other === undefined ? isNegative && named.size > 0 : !other),
    isOtherTaken: other ?? all ?? (isNegative && named.size > 0),
  };
}

/** The lines within the chosen tags, and the chosen tags that do not occur. */
function taggedLines(
  lines: readonly string[],
  spec: string,
): { lines: string[]; missing: string[] } {
  const { named, isOutsideTaken, isOtherTaken } = parseTags(spec);
  const missing = new Set([...named].filter(([, taken]) => taken).map(([name]) => name));
  const open: { name: string; isTaken: boolean }[] = [];
  const kept: string[] = [];
  for (const line of lines) {
    const [, kind, name = ""] = (line.includes("::") && tagLine.exec(line)) || [];
    if (kind === "tag") {
      missing.delete(name);
      const own = named.get(name);
      const isTaken = own ?? (open.at(-1)?.isTaken === true || isOtherTaken);
      open.push({ name, isTaken });
    } else if (kind === "end") {
      if (open.at(-1)?.name === name) open.pop();
    } else if (open.at(-1)?.isTaken ?? isOutsideTaken) kept.push(line);
  }
  return { lines: kept, missing: [...missing] };
}

/** The lines of an included file that the attributes of the include choose. */
function chooseLines(
  text: string,
  options: Readonly<Record<string, string>>,
): { lines: string[]; missing: string[] } {
  let lines = text.replace(/\r\n?/g, "\n").replace(/\n$/, "").split("\n");
  let missing: string[] = [];
  const ranges = options["lines"];
  const tags = options["tags"] ?? options["tag"];
  if (ranges !== undefined) {
    const isChosen = isInRanges(ranges, lines.length);
    lines = lines.filter((_, index) => isChosen(index + 1));
  } else if (tags !== undefined) ({ lines, missing } = taggedLines(lines, tags));
  else lines = lines.filter((line) => !(line.includes("::") && tagLine.test(line)));
  return { lines, missing };
}

/** The document that takes includes, and what it lacks. */
export interface Including {
  /** Root-relative. */
  path: string;
  around: Surroundings;
  /** Number of lines of the file before its body. */
  linesBefore: number;
  leftOut: LeftOut[];
}

/** Root-relative paths from the document to the file that is read now. */
function chainOf(reader: PreprocessorReader, path: string): string[] {
  // The stack has the state of each file around: its fourth member is the path.
  const files = [...(reader.includeStack as unknown[][]).map((state) => state[3]), reader.path];
  return [path, ...files.slice(1).map(String)];
}

function take(
  { path, around, linesBefore, leftOut }: Including,
  reader: PreprocessorReader,
  target: string,
  attributes: Record<string, string>,
): void {
  const chain = chainOf(reader, path);
  // The library has passed the line already.
  const line = chain.length === 1 ? linesBefore + Number(reader.lineno) - 1 : undefined;
  const isOptional = Object.hasOwn(attributes, "optional-option");
  const leaveOut = (why: string): void => {
    if (!isOptional) leftOut.push({ kind: "include", what: `${target}: ${why}`, line });
  };
  const resource = resourcePath(target, chain.at(-1) ?? path, undefined);
  const included = around.includes.read(resource === undefined ? target : `/${resource}`, chain);
  if ("problem" in included) return leaveOut(included.problem);
  const { lines, missing } = chooseLines(included.text, attributes);
  if (missing.length > 0) leaveOut(`no tag ${missing.join(", ")}`);
  const { text, comments } = prepareSource(lines.join("\n"), included.path, 0);
  for (let count = 0; count < comments.length; count++) {
    leftOut.push({ kind: "comment", what: "", line: undefined });
  }
  reader.pushInclude(text.split("\n"), included.path, included.path, 1, attributes);
}

/** Extensions of the library with one processor, which answers every include through `around`. */
export function createRegistry(including: Including): Registry {
  return Extensions.create("includes", function (this: Registry) {
    this.includeProcessor(function (this: {
      process(
        answer: (
          document: Document,
          reader: PreprocessorReader,
          target: string,
          attributes: Record<string, string>,
        ) => void,
      ): void;
    }) {
      this.process((_document, reader, target, attributes) =>
        take(including, reader, target, attributes),
      );
    });
  });
}
