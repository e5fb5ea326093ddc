const startLength = 1000;

/** How a report of this tool begins, by file extension. */
const reportStarts: Readonly<Record<string, RegExp>> = {
  json: /^\{\s*"version": ?\d+,\s*"(?:type": ?"ingest-report"|command": ?"(?:status"|eval |lint"|verify"))/,
  xml: /<testsuites name="knowctl /,
  html: /<meta name="generator" content="knowctl [a-z]+ report">/,
};

/** Whether a file is a report of an earlier run of any command, and so no document, by the start of its text. */
export function isOwnReport(path: string, text: string): boolean {
  const extension = path.slice(path.lastIndexOf(".") + 1).toLowerCase();
  return reportStarts[extension]?.test(text.slice(0, startLength)) === true;
}
