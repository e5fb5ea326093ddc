import { isJsonObject, type JsonObject } from "../front-matter/values.ts";
import { jsonErrorAt } from "../text/json-text.ts";
import { codeLines } from "./myst/fence.ts";

/** nbformat, "The notebook file format": a text, or its lines. */
export const textOf = (value: unknown): string =>
  Array.isArray(value)
    ? value.filter((line) => typeof line === "string").join("")
    : typeof value === "string"
      ? value
      : "";

export const objectOf = (value: unknown): JsonObject => (isJsonObject(value) ? value : {});
export const objectsOf = (value: unknown): JsonObject[] =>
  Array.isArray(value) ? value.filter((each) => isJsonObject(each)) : [];

/** Markdown whose fences and comments end with it: nothing in a cell reaches into the next one. */
export function closed(text: string): string {
  let marks = "";
  for (const line of text.split("\n")) {
    const [, found = ""] = /^[ \t>]*(`{3,}|~{3,})/.exec(line) ?? [];
    if (marks === "") marks = found;
    else if (found.startsWith(marks) && line.trim() === found) marks = "";
  }
  const isOpen = text.lastIndexOf("<!--") > text.lastIndexOf("-->");
  return `${text}${marks === "" ? "" : `\n${marks}`}${marks === "" && isOpen ? "-->" : ""}`;
}

/** What the author of a notebook wrote, without outputs; "" for a broken one. Code is in fences. */
export function sourcesOf(text: string): string {
  if (jsonErrorAt(text) !== undefined) return "";
  const cells = objectsOf(objectOf(JSON.parse(text))["cells"]);
  return cells
    .map((cell) => {
      const source = textOf(cell["source"]);
      if (cell["cell_type"] !== "code") return closed(source);
      return codeLines(source.split("\n"), "{code}").join("\n");
    })
    .join("\n\n");
}
