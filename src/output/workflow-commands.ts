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
