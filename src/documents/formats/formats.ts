import { CliError } from "../../errors.ts";
import type { Format, FormatName, Parsed } from "./format.ts";
import { extensionStart, isPacked } from "../files/file-name.ts";

/** Plain text: everything is body, without any syntax. */
export function readText(text: string): Parsed {
  return { frontMatter: undefined, body: text, bodyLine: 1, isMarkdown: false, warnings: [] };
}

/** To add a format, add a file in this folder, an entry here and its name in format.ts. */
export const formats = {
  markdown: {
    extensions: ["md", "markdown", "qmd", "rmd"],
    gives: "text",
    load: async () => (await import("./markdown/markdown.ts")).readMarkdown,
  },
  text: {
    extensions: ["txt"],
    gives: "text",
    load: async () => readText,
  },
  html: {
    extensions: ["html", "htm"],
    isConverted: true,
    gives: "text",
    load: async () => (await import("./html.ts")).readHtml,
  },
  mdx: {
    extensions: ["mdx"],
    gives: "text",
    load: async () => (await import("./mdx/mdx.ts")).readMdx,
  },
  rst: {
    extensions: ["rst", "rest"],
    isConverted: true,
    gives: "text",
    load: async () => (await import("./rst/rst.ts")).readRst,
  },
  asciidoc: {
    extensions: ["adoc", "asciidoc", "asc"],
    isConverted: true,
    gives: "text",
    load: async () => (await import("./adoc/adoc.ts")).readAdoc,
  },
  ipynb: {
    extensions: ["ipynb"],
    isConverted: true,
    gives: "text",
    load: async () => (await import("./ipynb.ts")).readNotebook,
  },
  json: {
    extensions: ["json"],
    gives: "rows",
    load: async () => (await import("./json.ts")).readJson,
  },
  ndjson: {
    extensions: ["ndjson", "jsonl"],
    gives: "rows",
    load: async () => (await import("./json.ts")).readNdjson,
  },
  csv: {
    extensions: ["csv"],
    gives: "rows",
    load: async () => (await import("./csv.ts")).readCsv,
  },
  tsv: {
    extensions: ["tsv"],
    gives: "rows",
    load: async () => (await import("./csv.ts")).readTsv,
  },
  docx: {
    extensions: ["docx", "docm"],
    isConverted: true,
    gives: "binary",
    load: async () => (await import("./docx/docx.ts")).readDocx,
  },
  pptx: {
    extensions: ["pptx", "pptm", "ppsx"],
    isConverted: true,
    gives: "binary",
    load: async () => (await import("./pptx/pptx.ts")).readPptx,
  },
  xlsx: {
    extensions: ["xlsx", "xlsm"],
    isConverted: true,
    gives: "binary",
    load: async () => (await import("./xlsx/xlsx.ts")).readXlsx,
  },
  odt: {
    extensions: ["odt"],
    isConverted: true,
    gives: "binary",
    load: async () => (await import("./odt/odt.ts")).readOdt,
  },
  epub: {
    extensions: ["epub"],
    isConverted: true,
    gives: "binary",
    load: async () => (await import("./epub/epub.ts")).readEpub,
  },
  pdf: {
    extensions: ["pdf"],
    isConverted: true,
    gives: "binary",
    load: async () => (await import("./pdf/pdf.ts")).readPdf,
  },
} as const satisfies Record<FormatName, Format>;

/** Formats whose files may begin with front matter. */
export const withFrontMatter: readonly unknown[] = [
  formats.markdown,
  formats.mdx,
  formats.rst,
  formats.asciidoc,
];

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

/** Formats that office programs save as another one, which is read: their extensions by its own. */
const savedAs: Readonly<Record<string, readonly string[]>> = {
  docx: ["doc", "rtf", "pages"],
  xlsx: ["xls", "xlsb", "ods", "numbers"],
  pptx: ["ppt", "pps", "odp"],
};

/** What to do with a file of a format that is not read; undefined if no program helps. */
export function wayOn(path: string): string | undefined {
  const extension = path.slice(extensionStart(path) + 1).toLowerCase();
  const [other] = Object.entries(savedAs).find(([, all]) => all.includes(extension)) ?? [];
  return other && `save it as .${other} in an office program`;
}

/**
 * Runs a reader. What a library throws for a file of a converted format is no fault of the tool's:
 * the file fails by its name. Throws CliError `usage`.
 */
export async function orRefuse<Result>(
  { isConverted }: Format,
  path: string,
  read: () => Result | Promise<Result>,
): Promise<Result> {
  try {
    return await read();
  } catch (error) {
    if (error instanceof CliError || isConverted !== true) throw error;
    const message = error instanceof Error ? error.message : String(error);
    const isTooDeep = error instanceof RangeError;
    const reason = isTooDeep ? "it is nested too deeply or too large" : message.split("\n", 1)[0];
    throw new CliError("usage", `${path}: cannot be read: ${reason}`, {
      hints: ["open and save it in another program, or exclude it"],
      cause: error,
    });
  }
}
