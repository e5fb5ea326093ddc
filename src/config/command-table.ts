/** Values that a flag or an argument accepts: fixed words, a list of them, or a kind of value. */
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
  | "key"
  | "rule";

/** A flag. Without `takes` it is a switch. */
export interface FlagRow {
  names: string[];
  text: string;
  takes?: Takes;
  repeats?: true;
}

export interface CommandRow {
  text: string;
  /** Names of its subcommands. */
  commands: string[];
  flags: FlagRow[];
  arguments: Takes[];
  /** The last argument may be repeated. */
  endless?: true;
}

/** Commands and flags for shell completion: `dist/completion.json`, generated at build. */
export interface CompletionTable {
  /** By command path: `""`, `connectors`, `connectors list`. */
  commands: Record<string, CommandRow>;
  /** Flags that every command accepts. */
  globals: FlagRow[];
  /** Topics of `knowctl help TOPIC`. */
  topics: readonly string[];
  /** Keys that `config get` accepts, without profile names. */
  keys: string[];
  /** Names of the rules of `lint`. */
  rules: string[];
}
