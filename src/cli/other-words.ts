/** Words of other tools, with the command or the global flag of this tool that does the same. */
export const otherWords: Readonly<Record<string, string>> = {
  add: "ingest",
  ask: "chat",
  auth: "login",
  check: "doctor",
  delete: "prune",
  demo: "try",
  diff: "status",
  documents: "convert",
  drift: "status --remote",
  find: "search",
  import: "ingest",
  index: "ingest",
  init: "config init",
  list: "connectors list",
  ls: "connectors list",
  orphans: "prune",
  plan: "ingest --dry-run",
  preview: "ingest --dry-run",
  push: "ingest",
  query: "chat",
  remove: "prune",
  rm: "prune",
  serve: "sandbox",
  server: "sandbox",
  setup: "config init",
  start: "try",
  sync: "ingest",
  talk: "chat",
  test: "doctor",
  update: "ingest",
  upload: "ingest",
  version: "--version",
  watch: "ingest --watch",
  whoami: "doctor",
};

/** The command or flag that a word of another tool stands for; undefined for any other word. */
export function commandFor(word: string): string | undefined {
  return Object.hasOwn(otherWords, word) ? otherWords[word] : undefined;
}

/** Flags that a command does not have, with the command line that does the same. */
const otherFlags: Readonly<Record<string, string>> = {
  "ingest --class": "prune --class NAME",
  "ingest --missing": "retry --missing",
  "ingest --remote": "status --remote",
  "prune --prune": "prune",
  "prune --remote": "prune --extra",
  "status --prune": "prune",
  "status --tombstone": "prune --tombstone",
  "connectors list --watch": "connectors status --watch SECONDS",
};

/** Flags of other tools, with the flag of this tool that does the same. */
const sameFlags: Readonly<Record<string, string>> = {
  "--ccpair": "--cc-pair-id",
  "--jobs": "--concurrency",
  "--pair": "--cc-pair-id",
  "--parallel": "--concurrency",
  "--silent": "--quiet",
  "--tag": "--filter-tag",
  "--url": "--base-url",
  "--workers": "--concurrency",
};

/** Commands that judge each document by the flags of its upload, and take none that shape documents. */
const judging = new Set(["prune", "retry", "status", "verify"]);

/** Flags that select files or shape documents, of `ingest`, `convert`, `explain` and `lint`. */
export const shapingFlags = new Set(
  (
    "--include --exclude --no-ignore --drafts --format --id-prefix --map --max-section-chars --link --link-style " +
    "--link-base --metadata --tag --source --sections --anchors --links --updated-at --owners --meta-commit --images"
  ).split(" "),
);

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
  if (judging.has(path) && shapingFlags.has(flag)) {
    return `${path} uses the flags of the upload; other flags: knowctl ingest PATH ${flag}`;
  }
  const same = sameFlags[flag];
  return same !== undefined && known.includes(same) ? `use ${same}` : undefined;
}
