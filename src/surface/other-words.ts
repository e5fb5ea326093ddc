/** Words of other tools, with the command or the global flag of this tool that does the same. */
export const otherWords: Readonly<Record<string, string>> = {
  add: "ingest",
  ask: "chat",
  auth: "login",
  check: "doctor",
  demo: "try",
  find: "search",
  import: "ingest",
  index: "ingest",
  init: "config init",
  list: "connectors list",
  ls: "connectors list",
  push: "ingest",
  query: "chat",
  serve: "sandbox",
  server: "sandbox",
  setup: "config init",
  start: "try",
  status: "doctor",
  sync: "ingest",
  talk: "chat",
  test: "doctor",
  upload: "ingest",
  version: "--version",
};

/** The command or flag that a word of another tool stands for; undefined for any other word. */
export function commandFor(word: string): string | undefined {
  return Object.hasOwn(otherWords, word) ? otherWords[word] : undefined;
}

/** Flags that a command does not have, with the command line that does the same. */
const otherFlags: Readonly<Record<string, string>> = {
  "connectors list --watch": "connectors status --watch SECONDS",
};

/** The command line to use instead of a flag that the command at `path` does not have. */
export function commandForFlag(path: string, flag: string): string | undefined {
  return otherFlags[`${path} ${flag}`];
}
