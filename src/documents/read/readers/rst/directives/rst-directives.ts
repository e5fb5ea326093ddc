import { codeDirectives } from "./rst-code.ts";
import { argumentOf, directiveName, splitDirective, type Handle } from "./rst-directive.ts";
import { textOf, type Line } from "../blocks/rst-lines.ts";
import { addText, leaveOut, nameOf, type Block, type Substitution } from "../rst-reading.ts";
import { describe, isSignature } from "./rst-signatures.ts";
import { tableDirectives } from "./rst-table-directives.ts";
import { pictureOf, textDirectives } from "./rst-text-directives.ts";

// Directives whose page is made of code or data that is not here.
const generated =
  /^(?:auto(?!num)|doxygen|argparse|click$|program-output|command-output|swagger|openapi|exec$|inheritance-diagram)/;

/**
 * Its argument, often the name of what it shows, and its content stay. Counts the directive, unless
 * it is nothing but a box around its content.
 */
const unknown: Handle = (block, directive) => {
  const { name, line, body } = directive;
  const argument = argumentOf(directive);
  const isGenerated = generated.test(name);
  const isBox = argument === "" && body.some(({ text }) => text.trim() !== "");
  if (isGenerated || !isBox) {
    leaveOut(block.reading, "directive", isGenerated ? `${name} ${argument}`.trim() : name, line);
  }
  if (isGenerated) return describe(block, directive);
  addText(block.reading, argument);
  block.readInner(body);
};

function handlerOf(name: string): Handle {
  const handle = textDirectives.get(name) ?? codeDirectives.get(name) ?? tableDirectives.get(name);
  return handle ?? (isSignature(name) ? describe : unknown);
}

/** Reads a directive. Returns whether it is one. */
export function readDirective(block: Block, lines: Line[], rest: string): boolean {
  const [marker, name] = directiveName.exec(rest) ?? [];
  if (marker === undefined || name === undefined) return false;
  const own = lines.map((line, index) => {
    return index === 0 ? { ...line, text: rest.slice(marker.length) } : line;
  });
  const directive = splitDirective(name, own);
  const given = directive.options.get("name");
  if (given) block.reading.names.add(nameOf(given));
  handlerOf(directive.name)(block, directive);
  return true;
}

/** The text of `unicode::`: codes are characters, other words stay. */
function readCodes(text: string): string {
  const words = text.replace(/\s\.\.\s.*$/, "").split(/\s+/);
  return words
    .map((word) => {
      const code = /^(?:0x|x|\\x|U\+?|u|\\u|&#x)([\da-fA-F]{1,6});?$/.exec(word)?.[1];
      const value = code === undefined ? Number.NaN : Number.parseInt(code, 16);
      const decimal = /^\d{1,7}$/.test(word) ? Number(word) : Number.NaN;
      const point = Number.isNaN(value) ? decimal : value;
      return point <= 0x10ffff && point > 0 ? String.fromCodePoint(point) : word;
    })
    .join("");
}

/** What a substitution definition stands for: `replace:: text`, `image:: file`. */
export function readSubstitution(lines: readonly Line[]): Substitution | undefined {
  const [first] = lines;
  const [marker, name] = directiveName.exec(first?.text ?? "") ?? [];
  if (marker === undefined || name === undefined) return undefined;
  const own = lines.map((line, index) => {
    return index === 0 ? { ...line, text: line.text.slice(marker.length) } : line;
  });
  const directive = splitDirective(name, own);
  if (directive.name === "image") return { kind: "html", text: pictureOf(directive) };
  if (directive.name === "raw") {
    const isHtml = /html/i.test(argumentOf(directive));
    return { kind: "html", text: isHtml ? textOf(directive.body) : "" };
  }
  const text = textOf(directive.content).trim();
  return { kind: "text", text: directive.name === "unicode" ? readCodes(text) : text };
}
