import {
  Extensions,
  type Document,
  type PreprocessorReader,
  type Registry,
} from "@asciidoctor/core";
import type { LeftOut, Surroundings } from "../../reader.ts";
import { resourcePath } from "./antora.ts";
import { chooseLines } from "./include-lines.ts";
import { prepareSource } from "./source.ts";

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
