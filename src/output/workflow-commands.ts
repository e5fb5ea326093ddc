// GitHub: `::name` at the beginning of a line, `##[name]` anywhere. Azure: `##vso[` anywhere.
const anywhere = /##(?:vso)?$/i;

/**
 * Breaks up workflow commands in text: a CI runner would act on them when they
 * stand in a log (CVE-2020-15228). Keeps its place over calls, so a command that
 * comes in pieces is broken as well.
 */
export function createCommandBreaker(): (text: string) => string {
  let start: "blank" | "colon" | "text" = "blank";
  let last = "";
  return (text) => {
    let result = "";
    for (const character of text) {
      if (character === ":" && start === "colon") result += " ";
      else if (character === "[" && anywhere.test(last)) result += " ";
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
 * The same for a text that is JSON: `#` before such a bracket is escaped, which
 * leaves the data as it is. A line of JSON never begins with `::`.
 */
export function breakCommandsInJson(json: string): string {
  return json.replace(/#(?=\[|vso\[|v?s?o?$)/gi, "\\u0023");
}

/** A remark that GitHub shows beside the file. Its texts may come from anywhere. */
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
 * An annotation as the one line that GitHub's runner acts on. Every text goes
 * through `clean` and is escaped, so that it ends neither line nor property.
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
