const entities: Readonly<Record<string, string>> = {
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
};

/** Decodes the HTML character references that occur in addresses; others stay unchanged. */
export function decodeEntities(text: string): string {
  if (!text.includes("&")) return text;
  return text.replace(
    /&(?:#(\d{1,7})|#[xX]([\da-fA-F]{1,6})|([a-z]{2,4}));/g,
    (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined)
        return Object.hasOwn(entities, name) ? (entities[name] ?? whole) : whole;
      const code = decimal === undefined ? parseInt(hex ?? "", 16) : Number(decimal);
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
    },
  );
}

// Sticky: each match starts at the end of the last one, so that the text is scanned once.
const nameAndEquals = /[\s/]*([^\s"'<>/=]+)\s*(=?)\s*/y;
const unquoted = /[^\s"'<>`=]+/y;

interface AttributeValue {
  value: string;
  /** Offsets of the value with its quotes. */
  start: number;
  end: number;
}

function readValue(text: string, at: number): AttributeValue | undefined {
  const quote = text[at];
  if (quote === '"' || quote === "'") {
    const end = text.indexOf(quote, at + 1);
    return end === -1 ? undefined : { value: text.slice(at + 1, end), start: at, end: end + 1 };
  }
  unquoted.lastIndex = at;
  const value = unquoted.exec(text)?.[0];
  return value === undefined ? undefined : { value, start: at, end: at + value.length };
}

/**
 * Reads an attribute of a tag, if any, without character references; the attributes begin at `at`.
 * `end` is the offset where reading stopped. A template expression (`{…}`) is no value.
 */
export function readAttribute(
  text: string,
  at: number,
  name: string,
): { attribute?: AttributeValue; end: number } {
  let end = at;
  let attribute: AttributeValue | undefined;
  for (;;) {
    nameAndEquals.lastIndex = end;
    const found = nameAndEquals.exec(text);
    if (!found) break;
    end = nameAndEquals.lastIndex;
    if (found[2] === "") continue;
    const read = readValue(text, end);
    if (!read) break;
    end = read.end;
    if (found[1]?.toLowerCase() === name) attribute ??= read;
  }
  if (attribute === undefined || attribute.value.startsWith("{")) return { end };
  return { attribute: { ...attribute, value: decodeEntities(attribute.value) }, end };
}
