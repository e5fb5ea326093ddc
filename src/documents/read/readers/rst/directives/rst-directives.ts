import { codeDirectives } from "./rst-code.ts";
import { argumentOf, directiveName, type Handle, splitDirective } from "./rst-directive.ts";
import { type Line, textOf } from "../blocks/rst-lines.ts";
import {
  addText,
  type Block,
  inDefinition,
  leaveOut,
  nameOf,
  type Substitution,
} from "../rst-reading.ts";
import { tableDirectives } from "./rst-table-directives.ts";
import { pictureOf, textDirectives } from "./rst-text-directives.ts";

// Directives that describe an object without a domain in their name.
const plainNames = new Set(
  "templatetag templatefilter fieldlookup function method classmethod staticmethod attribute property data exception class decorator decoratormethod type option cmdoption envvar confval describe object event setting opcode pdbcommand program-option describe-option token".split(
    " ",
  ),
);

/** Whether a directive describes an object: `function`, `py:function`, `rst:role`. */
const isSignature = (name: string): boolean => plainNames.has(name) || name.includes(":");

// Words that the page shows before a name: by option, and by the last part of the directive.
const flags: readonly [option: string, word: string][] = [
  ["final", "final "],
  ["abstractmethod", "abstract "],
  ["async", "async "],
  ["classmethod", "classmethod "],
  ["staticmethod", "static "],
];
const kinds: ReadonlyMap<string, string> = new Map([
  ["class", "class "],
  ["exception", "exception "],
  ["classmethod", "classmethod "],
  ["staticmethod", "static "],
  ["property", "property "],
  ["decorator", "@"],
  ["decoratormethod", "@"],
]);

// Targets of Django's documentation: a page shows nothing of them.
const targets = new Set(["setting", "templatetag", "templatefilter", "fieldlookup"]);

// Options that the page shows below a signature.
const shownOptions = { type: "Type", default: "Default", value: "Value" };

/** Signatures, one on each line, with their types and defaults, and what they do. */
const describe: Handle = ({ reading, readInner }, { name, args, options, body }) => {
  if (targets.has(name) && body.length === 0) return;
  const joined = args.map(({ text }) => text.trim()).join("\n");
  const signatures = joined.replace(/\\\n */g, " ").split("\n");
  const kind = kinds.get(name.slice(name.lastIndexOf(":") + 1)) ?? "";
  const words = flags.map(([option, word]) => (options.has(option) ? word : "")).join("") + kind;
  const terms = signatures.map((written) => {
    const signature = written.startsWith(words) ? written : words + written;
    // Nothing in a signature is markup, but a backslash protects the character after it.
    const text = signature.replace(/\\(.)/g, "$1");
    return text.includes("`") ? signature : `\`\`${text}\`\``;
  });
  inDefinition(reading, terms, () => {
    for (const [option, label] of Object.entries(shownOptions)) {
      const value = options.get(option);
      if (!value) continue;
      const isMarkup = name === "confval" || value.includes("`");
      addText(reading, `${label}: ${isMarkup ? value : `\`\`${value}\`\``}`);
    }
    // Sphinx allows sections in the description of an object.
    readInner(body, true);
  });
};

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
