import type { Includes } from "../../../parts/includes.ts";
import { MatterError, parseMatter } from "../../../../front-matter/matter.ts";
import { isMap, textOf, toValue, ValueError, type Value } from "../../../../front-matter/values.ts";
import type { Attributes } from "./attributes.ts";

const member = (value: Value | undefined, key: string): Value | undefined =>
  value !== undefined && isMap(value) ? value[key] : undefined;

/** The attributes that a component of Antora sets for its pages; undefined if it cannot be read. */
function componentAttributes(text: string): Value | undefined {
  try {
    return member(member(toValue(parseMatter(text, "yaml")), "asciidoc"), "attributes");
  } catch (error) {
    if (error instanceof MatterError || error instanceof ValueError) return undefined;
    throw error;
  }
}

/** Sets the attributes of the component and of its folders, for a page in a module of Antora. */
export function setComponentAttributes(
  { values }: Attributes,
  path: string,
  includes: Includes,
): void {
  const folder = /^((?:.*\/)?)modules\/[^/]+\/(?:pages|partials|examples)\//.exec(path)?.[1];
  if (folder === undefined) return;
  values.set("env-site", "");
  for (const family of ["partial", "example", "attachment"]) {
    values.set(`${family}sdir`, `${family}$`);
  }
  const description = includes.read(`/${folder}antora.yml`, [path]);
  const attributes = "text" in description ? componentAttributes(description.text) : undefined;
  if (attributes === undefined || !isMap(attributes)) return;
  for (const [name, value] of Object.entries(attributes)) {
    const text = textOf(value);
    // `@` at the end lets a page change the value.
    if (text !== undefined && text !== "false")
      values.set(name.toLowerCase(), text.replace(/@$/, ""));
  }
}
