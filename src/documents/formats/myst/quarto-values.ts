import type { Surroundings } from "../format.ts";
import { textOf, valueAt } from "../../front-matter/values.ts";
import { dataOf, type MystPage } from "./page.ts";

const names = "meta|var|kbd|pagebreak|fa|bi|ai|iconify";
const shortcode = new RegExp(
  String.raw`(\{?)\{\{<[ \t]*(?:(${names})(?![\w-])[ \t]*([^{}<>\n]{0,500}?)|[^{}\n]{0,500}?)[ \t]*>\}\}(\}?)`,
  "g",
);
const known = new RegExp(String.raw`^\{\{<[ \t]*(?:${names})(?![\w-])`);

/** Whether a shortcode that begins at an offset is left to quartoValues(). */
export const isQuartoValue = (text: string, at: number): boolean =>
  text[at - 1] === "{" || known.test(text.slice(at, at + 50));

/**
 * Replaces the shortcodes of values, also in code: `{{< meta key >}}`, `{{< var name >}}` of
 * `_variables.yml`, keys, and what shows no text. `{{{< name >}}}` is the shortcode itself. What is
 * unknown stays. quarto.org, "Shortcodes".
 */
export function quartoValues(
  text: string,
  page: MystPage,
  around: Surroundings,
  path: string,
): string {
  if (!text.includes("{{<")) return text;
  return text.replace(
    shortcode,
    (written: string, open: string, name: string | undefined, argument = "", close = "") => {
      if (open !== "") return close === "" ? written : written.slice(1, -1);
      const key = argument.replace(/^(["'])(.*)\1$/, "$2");
      if (name === undefined) return written;
      if (name === "kbd") return `\`${key.replace(/[ \t].*/, "")}\`${close}`;
      if (name !== "meta" && name !== "var") return close;
      const value =
        name === "meta" ? page.valueOf(key) : valueAt(dataOf(around, "_variables.yml", path), key);
      const shown = value && textOf(value);
      return shown === undefined || shown === null ? written : shown + close;
    },
  );
}
