import type { Chosen } from "./profiles.ts";
import type { CommandRow, CompletionTable, FlagRow, Takes } from "../../config/command-table.ts";

/** What may stand where the cursor is. */
export interface Position {
  command: CommandRow;
  /** What a value there would be; undefined where none may stand. */
  takes: Takes | undefined;
  /** Part of the current word before the value: `--output=` or nothing. */
  prefix: string;
  /** Flags and commands may stand here too. */
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

interface Walk {
  path: string;
  command: CommandRow;
  /** Flags given so far, by their first name. */
  given: Set<string>;
  positionals: number;
  onlyPositionals: boolean;
  /** The flag whose value comes next. */
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

function takeFlag(walk: Walk, flags: readonly FlagRow[], word: string): void {
  const equals = word.startsWith("--") ? word.indexOf("=") : -1;
  const name = equals < 0 ? word : word.slice(0, equals);
  const flag = flags.find(({ names }) => names.includes(name));
  if (!flag) return;
  walk.given.add(flag.names[0] ?? name);
  if (flag.takes === undefined) return;
  if (equals < 0) walk.open = flag;
  else takeValue(walk, flag, word.slice(equals + 1));
}

function takeValue(walk: Walk, flag: FlagRow, value: string): void {
  const member = members[flag.names.at(-1) ?? ""];
  if (member) walk.chosen[member] = value;
}

function takeWord(walk: Walk, table: CompletionTable, word: string): void {
  const { open } = walk;
  if (open) {
    walk.open = undefined;
    takeValue(walk, open, word);
    return;
  }
  if (walk.onlyPositionals || word === "-" || !word.startsWith("-")) {
    const below = walk.path === "" ? word : `${walk.path} ${word}`;
    if (walk.positionals === 0 && !walk.onlyPositionals && Object.hasOwn(table.commands, below)) {
      walk.path = below;
      walk.command = table.commands[below] ?? walk.command;
    } else walk.positionals++;
    return;
  }
  if (word === "--") walk.onlyPositionals = true;
  else takeFlag(walk, flagsOf(table, walk.command), word);
}

function argumentAt({ command, positionals }: Walk): Takes | undefined {
  return command.arguments[positionals] ?? (command.endless ? command.arguments.at(-1) : undefined);
}

/** Where the cursor is: `words` stand before it, `current` is the beginning of its word. */
export function findPosition(
  table: CompletionTable,
  words: readonly string[],
  current: string,
): Position | undefined {
  const root = table.commands[""];
  if (!root) return undefined;
  const walk: Walk = {
    path: "",
    command: root,
    given: new Set(),
    positionals: 0,
    onlyPositionals: false,
    open: undefined,
    chosen: {},
  };
  for (const word of words) takeWord(walk, table, word);
  const { command, path, chosen, open } = walk;
  const at = { command, path, chosen, prefix: "", flags: [], commands: [] };
  if (open) return { ...at, takes: open.takes };
  const flags = flagsOf(table, command);
  const equals = /^(--[\w-]+=)/.exec(current)?.[1];
  if (equals !== undefined && !walk.onlyPositionals) {
    const flag = flags.find(({ names }) => names.includes(equals.slice(0, -1)));
    return { ...at, takes: flag?.takes, prefix: equals };
  }
  // `help` stands among the commands and takes the name of another.
  const afterHelp = walk.positionals === 1 && words.at(-1) === "help";
  const first = (walk.positionals === 0 || afterHelp) && !walk.onlyPositionals;
  const left = flags.filter((flag) => flag.repeats || !walk.given.has(flag.names[0] ?? ""));
  return {
    ...at,
    takes: argumentAt(walk),
    flags: walk.onlyPositionals ? [] : left,
    commands: first ? command.commands.filter((name) => !afterHelp || name !== "help") : [],
  };
}
