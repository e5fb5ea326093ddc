/** Words of other tools, with the command or the global flag of this tool that does the same. */
export const otherWords: Readonly<Record<string, string>> = {
  add: "ingest",
  ask: "chat",
  auth: "login",
  check: "doctor",
  delete: "ingest orphans",
  demo: "try",
  find: "search",
  import: "ingest",
  index: "ingest",
  init: "config init",
  list: "connectors list",
  ls: "connectors list",
  push: "ingest",
  query: "chat",
  remove: "ingest orphans",
  rm: "ingest orphans",
  serve: "sandbox",
  server: "sandbox",
  setup: "config init",
  start: "try",
  status: "doctor",
  sync: "ingest",
  talk: "chat",
  test: "doctor",
  update: "ingest",
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

/** Flags of other tools, with the flag of this tool that does the same. */
const sameFlags: Readonly<Record<string, string>> = {
  "--ccpair": "--cc-pair-id",
  "--jobs": "--concurrency",
  "--pair": "--cc-pair-id",
  "--parallel": "--concurrency",
  "--silent": "--quiet",
  "--url": "--base-url",
  "--workers": "--concurrency",
};

const keyFlags = new Set(["--access-token", "--api-key", "--key", "--token"]);

/** What to use instead of a flag that the command at `path` does not have; `known`: its flags. */
export function insteadOfFlag(
  path: string,
  flag: string,
  known: readonly (string | undefined)[],
): string | undefined {
  const line = otherFlags[`${path} ${flag}`];
  if (line !== undefined) return `use \`knowctl ${line}\``;
  if (keyFlags.has(flag)) {
    return "no flag takes a key: set KNOWCTL_API_KEY, or store it: knowctl login";
  }
  const same = sameFlags[flag];
  return same !== undefined && known.includes(same) ? `use ${same}` : undefined;
}
