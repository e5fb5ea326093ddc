import { CliError } from "../../errors.ts";
import { neutralise } from "../../output/terminal/neutralise.ts";

/** Characters of one result, as JSON: about 10,000 tokens. */
export const mostResultChars = 40_000;
/** Characters of a text in a list: a title, a snippet. */
const mostTextChars = 2000;

/** Makes texts from outside inert, and cuts long ones: `…` and the number of characters left out. */
export function tidy(value: unknown, most = mostTextChars): unknown {
  if (typeof value === "string") {
    const text = neutralise(value);
    return text.length <= most ? text : `${text.slice(0, most)}… (${text.length - most} more)`;
  }
  if (Array.isArray(value)) return value.map((each) => tidy(each, most));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, tidy(each, most)]));
}

/** The first items that fit into a result, and how many do not. */
export function fitting<Item>(
  items: readonly Item[],
  most = mostResultChars,
): { items: Item[]; leftOut: number } {
  let chars = 0;
  const end = items.findIndex((item) => (chars += JSON.stringify(item).length + 1) > most);
  const shown = end === -1 ? [...items] : items.slice(0, end);
  return { items: shown, leftOut: items.length - shown.length };
}

/** The JSON that a command printed. Throws CliError `failure` where it is none. */
export function parseJson<Value>(text: string): Value {
  try {
    return JSON.parse(text) as Value;
  } catch (error) {
    throw new CliError("failure", "the command printed no JSON", { cause: error });
  }
}
