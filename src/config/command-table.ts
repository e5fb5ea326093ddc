/** What a flag or an argument takes: fixed words, words in a list, or a kind of value. */
export type Takes =
  | readonly string[]
  | { readonly list: readonly string[] }
  | "free"
  | "file"
  | "directory"
  | "profile"
  | "connector"
  | "pair"
  | "connector-or-pair"
  | "source"
  | "agent"
  | "tool"
  | "session"
  | "key";

/** A flag. Without `takes` it is a switch. */
export interface FlagRow {
  names: string[];
  text: string;
  takes?: Takes;
  repeats?: true;
}

export interface CommandRow {
  text: string;
  /** Names of the commands below it. */
  commands: string[];
  flags: FlagRow[];
  arguments: Takes[];
  /** The last argument may be given again and again. */
  endless?: true;
}

/** The surface as completion needs it: `dist/completion.json`, made at build from the program. */
export interface CompletionTable {
  /** By path: `""`, `connectors`, `connectors list`. */
  commands: Record<string, CommandRow>;
  /** Flags that every command takes. */
  globals: FlagRow[];
  /** Keys that `config get` takes, without the names of profiles. */
  keys: string[];
}
