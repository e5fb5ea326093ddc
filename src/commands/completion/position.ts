import type { Chosen } from "./profiles.ts";
import type { CommandRow, CompletionTable, FlagRow, Takes } from "../../config/command-table.ts";

/** What is allowed at the cursor. */
export interface Position {
  command: CommandRow;
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

interface ParseState {
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

function readFlag(state: ParseState, flags: readonly FlagRow[], word: string): void {
  const equals = word.startsWith("--") ? word.indexOf("=") : -1;
  const name = equals < 0 ? word : word.slice(0, equals);
  const flag = flags.find(({ names }) => names.includes(name));
  if (!flag) return;
  state.given.add(flag.names[0] ?? name);
  if (flag.takes === undefined) return;
  if (equals < 0) state.open = flag;
  else readValue(state, flag, word.slice(equals + 1));
}

function readValue(state: ParseState, flag: FlagRow, value: string): void {
  const member = members[flag.names.at(-1) ?? ""];
  if (member) state.chosen[member] = value;
}

function readWord(state: ParseState, table: CompletionTable, word: string): void {
  const { open } = state;
  if (open) {
    state.open = undefined;
    readValue(state, open, word);
    return;
  }
  if (state.onlyPositionals || word === "-" || !word.startsWith("-")) {
    const below = state.path === "" ? word : `${state.path} ${word}`;
    if (state.positionals === 0 && !state.onlyPositionals && Object.hasOwn(table.commands, below)) {
      state.path = below;
      state.command = table.commands[below] ?? state.command;
    } else state.positionals++;
    return;
  }
  if (word === "--") state.onlyPositionals = true;
  else readFlag(state, flagsOf(table, state.command), word);
}

function argumentAt({ command, positionals }: ParseState): Takes | undefined {
  return command.arguments[positionals] ?? (command.endless ? command.arguments.at(-1) : undefined);
}

/** Finds the cursor's position: `words` are before it, `current` is the typed part of its word. */
export function findPosition(
  table: CompletionTable,
  words: readonly string[],
  current: string,
): Position | undefined {
  const root = table.commands[""];
  if (!root) return undefined;
  const state: ParseState = {
    path: "",
    command: root,
    given: new Set(),
    positionals: 0,
    onlyPositionals: false,
    open: undefined,
    chosen: {},
  };
  for (const word of words) readWord(state, table, word);
  const { command, path, chosen, open } = state;
  const at = { command, path, chosen, prefix: "", flags: [], commands: [] };
  if (open) return { ...at, takes: open.takes };
  const flags = flagsOf(table, command);
  const equals = /^(--[\w-]+=)/.exec(current)?.[1];
  if (equals !== undefined && !state.onlyPositionals) {
    const flag = flags.find(({ names }) => names.includes(equals.slice(0, -1)));
    return { ...at, takes: flag?.takes, prefix: equals };
  }
  // `help` is a command whose argument is the name of another command.
  const afterHelp = state.positionals === 1 && words.at(-1) === "help";
  const first = (state.positionals === 0 || afterHelp) && !state.onlyPositionals;
  const topics = afterHelp && path === "" ? table.topics : [];
  const left = flags.filter((flag) => flag.repeats || !state.given.has(flag.names[0] ?? ""));
  return {
    ...at,
    takes: argumentAt(state),
    flags: state.onlyPositionals ? [] : left,
    commands: first
      ? [...command.commands.filter((name) => !afterHelp || name !== "help"), ...topics]
      : [],
  };
}
