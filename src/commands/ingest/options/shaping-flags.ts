import type { MappingFlags } from "./settings.ts";

/** Flags that shape documents. */
export const shapingFlags = [
  "idPrefix",
  "source",
  "sections",
  "anchors",
  "maxSectionChars",
  "link",
  "linkBase",
  "metadata",
  "tag",
  "updatedAt",
  "owners",
  "metaCommit",
  "map",
  "images",
  "drafts",
] as const satisfies (keyof MappingFlags)[];

/** Flags that select files. */
export const selectionFlags = [
  "include",
  "exclude",
  "ignore",
  "format",
] as const satisfies (keyof MappingFlags)[];

/** The flag as typed, e.g. `--id-prefix`. */
export function flagText(
  name: (typeof shapingFlags)[number] | (typeof selectionFlags)[number],
): string {
  if (name === "ignore") return "--no-ignore";
  return `--${name.replace(/[A-Z]/g, (big) => `-${big.toLowerCase()}`)}`;
}

/** The flags of `names` that are set on the command line, not by an environment variable. */
export function givenFlags(
  options: MappingFlags,
  names: readonly ((typeof shapingFlags)[number] | (typeof selectionFlags)[number])[],
): string[] {
  return names
    .filter((name) => (name === "ignore" ? options.ignore === false : options[name] !== undefined))
    .filter((name) => options.flagSources?.[name] !== "env")
    .map(flagText);
}
