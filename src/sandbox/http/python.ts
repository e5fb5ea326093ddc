/**
 * Formats values as Python prints them. The service uses such texts in stored metadata values, in
 * lists of names and in its 422 responses: observed-service.md 3.2, 6.3 and 12.3.
 */

const maxDepth = 100;

function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replace(/[\\'"\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    if (character === "\\" || character === quote) return `\\${character}`;
    if (character === "'" || character === '"') return character;
    if (character === "\n") return "\\n";
    if (character === "\r") return "\\r";
    if (character === "\t") return "\\t";
    const code = character.codePointAt(0) ?? 0;
    if (code <= 0xff) return `\\x${code.toString(16).padStart(2, "0")}`;
    if (code <= 0xffff) return `\\u${code.toString(16).padStart(4, "0")}`;
    return `\\U${code.toString(16).padStart(8, "0")}`;
  });
  return quote + escaped + quote;
}

/** `repr(value)` of a value parsed from JSON. */
export function pythonRepr(value: unknown, depth = 0): string {
  if (value === null || value === undefined) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "string") return quoted(value);
  if (typeof value === "number") return String(value);
  if (typeof value !== "object") return "...";
  if (depth > maxDepth) return "...";
  if (Array.isArray(value)) {
    return `[${value.map((item) => pythonRepr(item, depth + 1)).join(", ")}]`;
  }
  const members = Object.entries(value).map(
    ([key, item]) => `${quoted(key)}: ${pythonRepr(item, depth + 1)}`,
  );
  return `{${members.join(", ")}}`;
}

/** `str(value)`: like `repr`, but a string stays unchanged. */
export function pythonString(value: unknown): string {
  return typeof value === "string" ? value : pythonRepr(value);
}
