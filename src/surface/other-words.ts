/** Words of other tools for what a command of this one does. */
export const otherWords: Readonly<Record<string, string>> = {
  add: "ingest",
  ask: "chat",
  auth: "login",
  check: "doctor",
  demo: "try",
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
};

/** The command that a word of another tool stands for; undefined for any other word. */
export function commandFor(word: string): string | undefined {
  return Object.hasOwn(otherWords, word) ? otherWords[word] : undefined;
}
