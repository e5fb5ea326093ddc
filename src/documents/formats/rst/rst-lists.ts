import { isBlank, takeBody, takeIndented, takeItem, textOf } from "./rst-lines.ts";
import {
  addText,
  inDefinition,
  inItem,
  type Block,
  type ItemNumber,
  type Reading,
} from "./rst-reading.ts";

const bullet = /^[-+*\u2022\u2023\u2043](?: +|$)/;
const enumerator = /^(?:\(?(\d{1,9}|#|[a-zA-Z]|[ivxlcdmIVXLCDM]{1,12})([.)]))(?: +|$)/;

/** Whether the line after an enumerator fits: `A. Einstein` can also begin a paragraph. */
function isEnumerated({ lines }: Block, at: number): boolean {
  const next = lines[at + 1];
  return (
    next === undefined || isBlank(next) || next.text.startsWith(" ") || enumerator.test(next.text)
  );
}

const romans: Readonly<Record<string, number>> = {
  i: 1,
  v: 5,
  x: 10,
  l: 50,
  c: 100,
  d: 500,
  m: 1000,
};

function romanValue(written: string): number {
  const values = Array.from(written.toLowerCase(), (sign) => romans[sign] ?? 0);
  return values.reduce(
    (sum, value, at) => sum + (value < (values[at + 1] ?? 0) ? -value : value),
    0,
  );
}

/** The number that an enumerator shows. `#` counts on, and so does a letter that may be a Roman number. */
function numberOf({ pieces }: Reading, written: string): ItemNumber {
  const last = pieces.at(-1);
  const next = last?.kind === "html" ? last.next : undefined;
  if (written === "#") return { value: next ?? 1, type: "" };
  if (/^\d+$/.test(written)) return { value: Number(written), type: "" };
  const isUpper = written === written.toUpperCase();
  const letter = written.length === 1 ? (written.toLowerCase().charCodeAt(0) ?? 0) - 96 : undefined;
  const isLetter = letter !== undefined && (letter === next || !/^[iI]$/.test(written));
  const isRoman = letter === undefined || romanValue(written) === next || !isLetter;
  const type = isRoman ? "i" : "a";
  return {
    value: isRoman ? romanValue(written) : letter,
    type: ` type="${isUpper ? type.toUpperCase() : type}"`,
  };
}

/** A list item. */
export function readListItem(block: Block, at: number): number {
  const { reading, lines } = block;
  const text = lines[at]?.text ?? "";
  const numbered = enumerator.exec(text);
  const marker = bullet.exec(text) ?? (numbered && isEnumerated(block, at) ? numbered : undefined);
  if (!marker) return -1;
  const taken = takeItem(lines, at, marker[0].length);
  const number = marker === numbered ? numberOf(reading, marker[1] ?? "") : undefined;
  inItem(reading, () => block.readInner(taken.lines), number);
  return taken.next;
}

const fieldName = /^:(?![: ])((?:[^:\\]|\\.|:(?![ `]|$))*)(?<! ):(?: +|$)/;
// Fields at the start of a page that say how it is built.
const buildFields = new Set(["orphan", "tocdepth", "nocomments", "nosearch", "hide-toc", "no-toc"]);

// Fields that Sphinx shows by other names (docs: "Python info field lists"): what they are about follows.
const infoFields: ReadonlyMap<string, string> = new Map(
  Object.entries({
    Parameters: "param parameter arg argument key keyword kwarg",
    Raises: "raises raise except exception",
    Variables: "var ivar cvar",
    Returns: "returns return",
    "Return type": "rtype",
  }).flatMap(([label, names]) => names.split(" ").map((name) => [name, label] as const)),
);
const typeField = /^:(?:type|vartype) +(\S+):(?: +|$)(.*)/;

/** The types that fields of a block give to names. */
function typesOf(block: Block): ReadonlyMap<string, string> {
  block.types ??= new Map(
    block.lines.flatMap(({ text }) => {
      const [, name, type] = (text.startsWith(":") && typeField.exec(text)) || [];
      return name === undefined || type === undefined ? [] : [[name, type] as const];
    }),
  );
  return block.types;
}

/** `param str colour` with its text, as Sphinx shows it. */
function infoText(block: Block, name: string, text: string): string {
  const [kind = "", ...words] = name.split(/ +/);
  const label = infoFields.get(kind);
  const subject = words.pop() ?? "";
  if (label === undefined) return `${name}: ${text}`.trim();
  if (subject === "") return `${label}: ${text}`.trim();
  const type = words.join(" ") || (typesOf(block).get(subject) ?? "");
  const shown = type === "" ? subject : `${subject} (${type})`;
  return `${label}: ${shown}${text === "" ? "" : ` – ${text}`}`;
}

/** `:name: text`. */
export function readField(block: Block, at: number): number {
  const { reading, lines } = block;
  const text = lines[at]?.text ?? "";
  const [marker, name = ""] = (text.startsWith(":") && fieldName.exec(text)) || [];
  if (marker === undefined) return -1;
  const taken = takeBody(lines, at, marker.length);
  const isBuild = reading.pieces.length === 0 && buildFields.has(name);
  // The type stands beside the name that it is of.
  if (isBuild || typeField.test(text)) return taken.next;
  const [first, ...rest] = taken.lines;
  const isInline = first !== undefined && !isBlank(first);
  const end = isInline ? rest.findIndex((line) => isBlank(line)) : 0;
  const paragraph = rest.slice(0, end === -1 ? rest.length : end);
  inItem(reading, () => {
    addText(reading, infoText(block, name, textOf(isInline ? [first, ...paragraph] : [])));
    block.readInner(rest.slice(paragraph.length));
  });
  return taken.next;
}

// docutils, "reStructuredText Markup Specification", Option Lists.
const option =
  /^(?:-[\w?](?: ?(?:[a-zA-Z][\w-]*|<[^<>]+>))?|(?:--|\/)[a-zA-Z][\w-]*(?:[ =](?:[a-zA-Z][\w-]*|<[^<>]+>))?)(?:, (?:-[\w?](?: ?(?:[a-zA-Z][\w-]*|<[^<>]+>))?|(?:--|\/)[a-zA-Z][\w-]*(?:[ =](?:[a-zA-Z][\w-]*|<[^<>]+>))?)){0,9}(?: {2,}|$)/;

/** `-a, --all  text`. */
export function readOption(block: Block, at: number): number {
  const { reading, lines } = block;
  const text = lines[at]?.text ?? "";
  const marker = /^[-/]/.test(text) ? option.exec(text)?.[0] : undefined;
  if (marker === undefined) return -1;
  const hasText = marker.length < text.length || lines[at + 1]?.text.startsWith(" ");
  if (!hasText) return -1;
  const taken = takeBody(lines, at, marker.length);
  inDefinition(reading, [`\`\`${marker.trim()}\`\``], () => block.readInner(taken.lines));
  return taken.next;
}

/** Lines that begin with `|`: each is a line of its own. */
export function readLineBlock({ reading, lines }: Block, at: number): number {
  const isLine = (text = ""): boolean => text === "|" || text.startsWith("| ");
  if (!isLine(lines[at]?.text)) return -1;
  const texts: string[] = [];
  let next = at;
  for (; !isBlank(lines[next]); next++) {
    const text = lines[next]?.text ?? "";
    if (isLine(text)) texts.push(text.slice(1).trim());
    else if (text.startsWith(" ")) texts.push(`${texts.pop() ?? ""} ${text.trim()}`);
    else break;
  }
  addText(reading, texts.filter((text) => text !== "").join("\n"), true);
  return next;
}

/** A line above an indented block: a term and its definition. */
export function readDefinition(block: Block, at: number): number {
  const { reading, lines } = block;
  if (!lines[at + 1]?.text.startsWith(" ")) return -1;
  const taken = takeIndented(lines, at + 1);
  inDefinition(reading, [lines[at]?.text ?? ""], () => block.readInner(taken.lines));
  return taken.next;
}
