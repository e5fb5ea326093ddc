import { posix } from "node:path";
import { isMap, textOf, type Value } from "../front-matter/values.ts";

/** The files of a book in their order: quarto.org, "Book Structure". */
export function chaptersIn(value: Value): string[] {
  if (Array.isArray(value)) return value.flatMap(chaptersIn);
  if (value !== null && isMap(value))
    return chaptersIn(value["chapters"] ?? value["href"] ?? value["file"] ?? null);
  const name = textOf(value);
  return name === undefined ? [] : [posix.normalize(name)];
}

/** The pages that begin parts of a book. */
function partsIn(value: Value): string[] {
  if (!Array.isArray(value)) return [];
  return value.flatMap((each) => {
    const part = each !== null && isMap(each) ? textOf(each["part"]) : undefined;
    return part === undefined ? [] : [posix.normalize(part)];
  });
}

/** What a book does not render, in the patterns of .gitignore: files that no list of it names. */
export function outsideOfBook(read: (key: string) => Value | undefined): string {
  const lists = ["book.chapters", "book.appendices"].map((key) => read(key) ?? null);
  const isBook = textOf(read("project.type")) === "book" && Array.isArray(lists[0]);
  if (!isBook || read("project.render") !== undefined) return "";
  const named = [...lists.flatMap(chaptersIn), ...lists.flatMap(partsIn)];
  const files = ["*.qmd", "*.Rmd", "*.md", "*.ipynb", "!/index.*"];
  return [...files, ...named.map((each) => `!/${each.replace(/^\.?\//, "")}`)].join("\n");
}
