// GitHub: `::name` at the start of a line, `##[name]` anywhere. Azure: `##vso[` anywhere.
const beforeBracket = /##(?:vso)?$/i;

/**
 * Breaks up workflow commands in text: a CI runner executes those in a log
 * (CVE-2020-15228). Keeps its state between calls, so it also breaks up a command
 * that arrives in pieces.
 */
export function createCommandBreaker(): (text: string) => string {
  let start: "blank" | "colon" | "text" = "blank";
  let last = "";
  return (text) => {
    let result = "";
    for (const character of text) {
      if (character === ":" && start === "colon") result += " ";
      else if (character === "[" && beforeBracket.test(last)) result += " ";
      result += character;
      last = (last + character).slice(-5);
      if (character === "\n") start = "blank";
      else if (start === "blank" && character === ":") start = "colon";
      else if (start !== "blank" || character.trim() !== "") start = "text";
    }
    return result;
  };
}

/**
 * The same for JSON: escapes `#` before such a bracket, which keeps the data
 * unchanged. A line of JSON never starts with `::`.
 */
export function breakCommandsInJson(json: string): string {
  return json.replace(/#(?=\[|vso\[|v?s?o?$)/gi, "\\u0023");
}

/** A message that GitHub shows beside the file. Its texts are untrusted. */
export interface Annotation {
  level: "error" | "warning" | "notice";
  /** Relative to the root of the repository. */
  file?: string | undefined;
  line?: number | undefined;
  column?: number | undefined;
  title?: string | undefined;
  message: string;
}

// https://github.com/actions/toolkit/blob/main/packages/core/src/command.ts: what the runner decodes.
function escapeData(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/**
 * An annotation as a workflow command of one line. Every text is passed through
 * `clean` and escaped, so that it cannot end the line or the property.
 */
export function formatAnnotation(
  annotation: Annotation,
  clean: (text: string) => string = (text) => text,
): string {
  const { level, file, line, column, title, message } = annotation;
  const properties = Object.entries({ file, line, col: column, title })
    .filter(([, value]) => value !== undefined && value !== "")
    .map(([name, value]) => `${name}=${escapeProperty(clean(String(value)))}`);
  const start = properties.length === 0 ? level : `${level} ${properties.join(",")}`;
  return `::${start}::${escapeData(clean(message))}`;
}
