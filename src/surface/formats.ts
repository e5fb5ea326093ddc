const lists = ["table", "json", "ndjson", "yaml", "csv", "tsv"] as const;
const uploads = ["text", "table", "json", "ndjson"] as const;

/** Formats of the commands that write something else than lists and records. */
const special: Readonly<Record<string, readonly string[]>> = {
  api: [...lists, "raw"],
  chat: ["text", "json", "ndjson", "packets"],
  ingest: uploads,
  "ingest retry": uploads,
  "sessions recover": ["text", "json", "ndjson"],
  "sessions show": ["text", ...lists],
  "sessions export": ["text", "markdown", ...lists],
};

/** What `--output` takes for the command with this path (`connectors list`). */
export function formatsOf(path: string): readonly string[] {
  return special[path] ?? lists;
}

/** Every format that some command has. */
export const allFormats: readonly string[] = [
  ...new Set([...lists, ...Object.values(special).flat()]),
];
