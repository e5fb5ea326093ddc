/** A piece of the code of a format. */
export interface Token {
  kind:
    | "literal"
    | "digit"
    | "point"
    | "comma"
    | "percent"
    | "exponent"
    | "date"
    | "text"
    | "general";
  text: string;
}

/** The part of a code for some numbers. */
export interface Section {
  tokens: Token[];
  isDate: boolean;
  condition: ((value: number) => boolean) | undefined;
}

const patterns: readonly (readonly [RegExp, Token["kind"]])[] = [
  [/"([^"]*)"?/y, "literal"],
  [/\\(.?)/y, "literal"],
  // The width of a character, and a character that fills the cell.
  [/[_*].?()/y, "literal"],
  [/\[(h+|m+|s+)\]/iy, "date"],
  [/\[\$([^\]-]*)[^\]]*\]/y, "literal"],
  [/General/iy, "general"],
  [/(AM\/PM|A\/P|上午\/下午)/iy, "date"],
  [/E[+-]/iy, "exponent"],
  [/(y+|m+|d+|h+|s+|e+)/iy, "date"],
  [/[0#?]/y, "digit"],
  [/\./y, "point"],
  [/,/y, "comma"],
  [/%/y, "percent"],
  [/@/y, "text"],
];

const compare: Readonly<Record<string, (value: number, other: number) => boolean>> = {
  "<": (value, other) => value < other,
  ">": (value, other) => value > other,
  "<=": (value, other) => value <= other,
  ">=": (value, other) => value >= other,
  "=": (value, other) => value === other,
  "<>": (value, other) => value !== other,
};

const longestCode = 1000;

function parseSections(code: string): Section[] {
  const sections: Section[] = [{ tokens: [], isDate: false, condition: undefined }];
  const source = code.slice(0, longestCode);
  for (let at = 0; at < source.length;) {
    const section = sections.at(-1);
    if (!section) break;
    if (source[at] === ";") {
      sections.push({ tokens: [], isDate: false, condition: undefined });
      at++;
      continue;
    }
    const found = patterns
      .map(([pattern, kind]) => {
        pattern.lastIndex = at;
        return { match: pattern.exec(source), kind };
      })
      .find(({ match }) => match);
    const bracket = found?.match ? undefined : /^\[[^\]]*\]/.exec(source.slice(at))?.[0];
    if (found?.match) {
      const [whole, inner = whole] = found.match;
      const text = whole.startsWith("[") && found.kind === "date" ? whole : inner;
      section.tokens.push({ kind: found.kind, text });
      section.isDate ||= found.kind === "date";
      at += whole.length;
    } else if (bracket !== undefined) {
      // A condition; others are colours and ways to write digits.
      const [, sign = "", other = ""] = /^\[([<>=]{1,2})(-?[\d.]+)\]$/.exec(bracket) ?? [];
      const test = compare[sign];
      if (test) section.condition = (value) => test(value, Number(other));
      at += bracket.length;
    } else {
      section.tokens.push({ kind: "literal", text: source[at] ?? "" });
      at++;
    }
  }
  return sections;
}

// A sheet has few formats and many numbers.
const parsed = new Map<string, Section[]>();
const mostParsed = 1000;

/** The sections of the code of a number format (ECMA-376 part 1, 18.8.31). */
export function sectionsOf(code: string): Section[] {
  const known = parsed.get(code);
  if (known) return known;
  if (parsed.size >= mostParsed) parsed.clear();
  const sections = parseSections(code);
  parsed.set(code, sections);
  return sections;
}
