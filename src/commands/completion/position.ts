import type { CommandRow, CompletionTable, FlagRow, Takes } from "../../config/command-table.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";

/** Global flags on the line that select the service. */
export type Chosen = Pick<GlobalFlags, "profile" | "config" | "baseUrl">;

/** What is allowed at the cursor. */
export interface Position {
  /** The kind of value; undefined if no value is allowed. */
  takes: Takes | undefined;
  /** Part of the current word before the value: `--output=` or nothing. */
  prefix: string;
  /** Flags and commands that are also allowed. */
  flags: readonly FlagRow[];
  commands: readonly string[];
  path: string;
  chosen: Chosen;
}

const members: Readonly<Record<string, keyof Chosen>> = {
  "--profile": "profile",
  "--config": "config",
  "--base-url": "baseUrl",
};

/** What the words before the cursor say. */
interface Line {
  path: string;
  command: CommandRow;
  /** Flags so far, by their first name. */
  given: Set<string>;
  positionals: number;
  onlyPositionals: boolean;
  /** The flag whose value is next. */
  open: FlagRow | undefined;
  chosen: Chosen;
}

function flagsOf(table: CompletionTable, command: CommandRow): FlagRow[] {
  const own = new Set(command.flags.flatMap(({ names }) => names));
  return [
    ...command.flags,
    ...table.globals.filter(({ names }) => !names.some((each) => own.has(each))),
  ];
}

function readLine(table: CompletionTable, command: CommandRow, words: readonly string[]): Line {
  const line: Line = {
    path: "",
    command,
    given: new Set(),
    positionals: 0,
    onlyPositionals: false,
    open: undefined,
    chosen: {},
  };
  const readValue = ({ names }: FlagRow, value: string): void => {
    const member = members[names.at(-1) ?? ""];
    if (member) line.chosen[member] = value;
  };
  const readFlag = (word: string): void => {
    const [, name = word, value] = /^(--[^=]*)=([^]*)$/.exec(word) ?? [];
    const flag = flagsOf(table, line.command).find(({ names }) => names.includes(name));
    if (!flag) return;
    line.given.add(flag.names[0] ?? name);
    if (flag.takes === undefined) return;
    if (value === undefined) line.open = flag;
    else readValue(flag, value);
  };
  for (const word of words) {
    const below = line.path === "" ? word : `${line.path} ${word}`;
    if (line.open) {
      readValue(line.open, word);
      line.open = undefined;
    } else if (!line.onlyPositionals && word !== "-" && word.startsWith("-")) {
      if (word === "--") line.onlyPositionals = true;
      else readFlag(word);
    } else if (
      line.positionals === 0 &&
      !line.onlyPositionals &&
      Object.hasOwn(table.commands, below)
    ) {
      line.path = below;
      line.command = table.commands[below] ?? command;
    } else line.positionals++;
  }
  return line;
}

/** Finds the cursor's position: `words` are before it, `current` is the typed part of its word. */
export function findPosition(
  table: CompletionTable,
  words: readonly string[],
  current: string,
): Position | undefined {
  const root = table.commands[""];
  if (!root) return undefined;
  const line = readLine(table, root, words);
  const { command, path, chosen, open, positionals, onlyPositionals } = line;
  const at = { path, chosen, prefix: "", flags: [], commands: [] };
  if (open) return { ...at, takes: open.takes };
  const flags = onlyPositionals ? [] : flagsOf(table, command);
  const equals = onlyPositionals ? undefined : /^(--[\w-]+=)/.exec(current)?.[1];
  if (equals !== undefined) {
    const flag = flags.find(({ names }) => names.includes(equals.slice(0, -1)));
    return { ...at, takes: flag?.takes, prefix: equals };
  }
  // `help` is a command whose argument is the name of another command.
  const afterHelp = positionals === 1 && words.at(-1) === "help";
  const names = command.commands.filter((name) => !afterHelp || name !== "help");
  const topics = afterHelp && path === "" ? table.topics : [];
  const isFirst = (positionals === 0 || afterHelp) && !onlyPositionals;
  return {
    ...at,
    takes:
      command.arguments[positionals] ?? (command.endless ? command.arguments.at(-1) : undefined),
    flags: flags.filter((flag) => flag.repeats || !line.given.has(flag.names[0] ?? "")),
    commands: isFirst ? [...names, ...topics] : [],
  };
}
