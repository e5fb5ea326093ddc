import type { Handle } from "./rst-directive.ts";
import { addText, inDefinition } from "../rst-reading.ts";

// Directives that describe an object without a domain in their name.
const plainNames = new Set(
  "templatetag templatefilter fieldlookup function method classmethod staticmethod attribute property data exception class decorator decoratormethod type option cmdoption envvar confval describe object event setting opcode pdbcommand program-option describe-option token".split(
    " ",
  ),
);

/** Whether a directive describes an object: `function`, `py:function`, `rst:role`. */
export const isSignature = (name: string): boolean => plainNames.has(name) || name.includes(":");

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
export const describe: Handle = ({ reading, readInner }, { name, args, options, body }) => {
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
