// The programs that read a document besides this tool, where they are installed.
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";

const formats = {
  markdown: "md",
  md: "md",
  mdx: "mdx",
  qmd: "qmd",
  rst: "rst",
  rest: "rst",
  adoc: "adoc",
  asc: "adoc",
  asciidoc: "adoc",
  html: "html",
  htm: "html",
  docx: "docx",
  odt: "odt",
  epub: "epub",
  pptx: "pptx",
  xlsx: "xlsx",
  ipynb: "ipynb",
  pdf: "pdf",
};

/** The format of a path that readers can be asked about. */
export const formatOf = (path) => formats[/\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ""];

/** Each reader with the Debian package that has it, and what it reads. */
const known = [
  ["pandoc", "pandoc", ["md", "html", "rst", "docx", "odt", "epub", "ipynb"]],
  ["markdown-it", "python3-markdown-it", ["md"]],
  ["sphinx", "python3-sphinx", ["rst"]],
  ["docutils", "python3-docutils", ["rst"]],
  ["asciidoctor", "asciidoctor", ["adoc"]],
  ["asciidoc", "asciidoc-base", ["adoc"]],
  ["libreoffice", "libreoffice", ["docx", "odt", "pptx", "xlsx"]],
  ["openpyxl", "python3-openpyxl", ["xlsx"]],
  ["poppler", "poppler-utils", ["pdf"]],
  ["mupdf", "mupdf-tools", ["pdf"]],
  ["python", "python3", ["html", "docx", "odt", "epub", "pptx", "ipynb"]],
];
// Status of the script where the program is missing.
const missing = 3;
// Debian's own has the libraries of Debian's packages.
const debianPython = "/usr/bin/python3";

/**
 * Reads files, given as absolute paths with their formats, by a reader of the script: yields
 * `{ path, text }` or `{ path, problem }`. `main` names the element of an HTML page that has its
 * text. Throws where the reader is missing.
 */
export async function* readPages(name, root, files, main = "main") {
  const script = join(import.meta.dirname, "read_pages.py");
  const isDebian = existsSync(debianPython);
  // Scripts of Debian's packages ask the path for their Python.
  const path = isDebian ? `${dirname(debianPython)}:${process.env.PATH}` : process.env.PATH;
  const child = spawn(isDebian ? debianPython : "python3", [script, name, root, main], {
    stdio: ["pipe", "pipe", "inherit"],
    env: { ...process.env, PATH: path },
  });
  const ended = new Promise((settle) => {
    child.on("error", () => settle(missing));
    child.on("close", settle);
  });
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify(files));
  for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line);
  if ((await ended) === missing) throw new Error("missing");
}

/** A reader: `read(root, files)` yields pages as readPages(), with the paths of the files below the root. */
export const foreignReaders = known.map(([name, debian, reads]) => ({
  name,
  debian,
  formats: reads,
  async *read(root, files) {
    const paths = new Map(files.map(({ path }) => [join(root, path), path]));
    const wanted = files.map(({ path, format }) => [join(root, path), format]);
    for await (const page of readPages(name, root, wanted)) {
      yield { ...page, path: paths.get(page.path) };
    }
  },
}));
