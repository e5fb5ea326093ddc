import type { Format, FormatName } from "./reader.ts";
import { extensionStart, isPacked } from "./file-name.ts";

/** To add a format, add a file in readers/, an entry here and its name in reader.ts. */
export const formats = {
  markdown: {
    extensions: ["md", "markdown"],
    gives: "text",
    load: async () => (await import("./readers/markdown/markdown.ts")).readMarkdown,
  },
  text: {
    extensions: ["txt"],
    gives: "text",
    load: async () => (await import("./readers/text.ts")).readText,
  },
  html: {
    extensions: ["html", "htm"],
    gives: "text",
    isConverted: true,
    load: async () => (await import("./readers/html.ts")).readHtml,
  },
  mdx: {
    extensions: ["mdx"],
    gives: "text",
    load: async () => (await import("./readers/mdx/mdx.ts")).readMdx,
  },
  rst: {
    extensions: ["rst", "rest"],
    gives: "text",
    isConverted: true,
    load: async () => (await import("./readers/rst/rst.ts")).readRst,
  },
  asciidoc: {
    extensions: ["adoc", "asciidoc", "asc"],
    gives: "text",
    isConverted: true,
    load: async () => (await import("./readers/adoc/adoc.ts")).readAdoc,
  },
  json: {
    extensions: ["json"],
    gives: "rows",
    load: async () => (await import("./readers/json.ts")).readJson,
  },
  ndjson: {
    extensions: ["ndjson", "jsonl"],
    gives: "rows",
    load: async () => (await import("./readers/ndjson.ts")).readNdjson,
  },
  csv: {
    extensions: ["csv"],
    gives: "rows",
    load: async () => (await import("./readers/csv.ts")).readCsv,
  },
  tsv: {
    extensions: ["tsv"],
    gives: "rows",
    load: async () => (await import("./readers/csv.ts")).readTsv,
  },
  docx: {
    extensions: ["docx"],
    gives: "binary",
    load: async () => (await import("./readers/docx/docx.ts")).readDocx,
  },
  pdf: {
    extensions: ["pdf"],
    gives: "binary",
    load: async () => (await import("./readers/pdf/pdf.ts")).readPdf,
  },
} as const satisfies Record<FormatName, Format>;

const byExtension = new Map<string, Format>(
  Object.values(formats).flatMap((format) =>
    format.extensions.map((extension) => [extension, format] as const),
  ),
);

/**
 * The format of a path: `named`, else by its extension, ignoring case. `.gz` may follow the
 * extension, except for binary formats.
 */
export function formatOf(path: string, named?: FormatName): Format | undefined {
  if (named !== undefined) return formats[named];
  const name = isPacked(path) ? path.slice(0, -3) : path;
  const dot = extensionStart(name);
  if (dot === -1) return undefined;
  const extension = name.slice(dot + 1);
  const format = byExtension.get(extension) ?? byExtension.get(extension.toLowerCase());
  return format?.gives === "binary" && name !== path ? undefined : format;
}
