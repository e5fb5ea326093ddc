const startLength = 1000;

/** The reports of this tool, by how they begin. */
const marks: Readonly<Record<string, RegExp>> = {
  json: /^\{\s*"version": \d+,\s*"type": "ingest-report"/,
  xml: /<testsuites name="knowctl ingest"/,
  html: /<meta name="generator" content="knowctl ingest report">/,
};

/** Whether a file is a report of an earlier run, and no document: told by how its text begins. */
export function isOwnReport(path: string, text: string): boolean {
  const extension = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return marks[extension]?.test(text.slice(0, startLength)) === true;
}
