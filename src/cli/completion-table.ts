import type { Argument, Command, Option } from "commander";
import type { CommandRow, CompletionTable, FlagRow, Takes } from "../config/command-table.ts";
import { formatsOf } from "./formats.ts";
import { isRepeatable, globalOptions } from "./options.ts";
import { topicNames } from "./topics.ts";
import { isGroup, summaryOf } from "./commands.ts";

const valuesByFlag: Readonly<Record<string, Takes>> = {
  "--profile": "profile",
  "--connector": "connector",
  "--cc-pair-id": "pair",
  "--agent": "agent",
  "--session": "session",
  "--tool": "tool",
  "--force-tool": "tool",
  "--source": "source",
  "--source-type": "source",
  "--rule": "rule",
  "--show": { list: ["reasoning", "tools", "documents", "none", "all"] },
};

const valuesByName: Readonly<Record<string, Takes>> = {
  file: "file",
  path: "file",
  "path-or-id": "file",
  report: "file",
  results: "file",
  dir: "directory",
  key: "key",
  profile: "profile",
  "id-or-name": "connector-or-pair",
};

/** Commands whose argument has an ambiguous name. */
const valuesByCommand: Readonly<Record<string, Takes>> = {
  "connectors find": "connector",
  sessions: "session",
};

function valuesOfName(name: string): Takes {
  return valuesByName[name] ?? "free";
}

function wordsOf(parse: unknown): readonly string[] | undefined {
  return typeof parse === "function" && "choices" in parse
    ? (parse.choices as readonly string[])
    : undefined;
}

function valueOf(option: Option, path: string): Takes {
  const long = option.long ?? "";
  const placeholder = /[<[]([\w/=-]+)/.exec(option.flags)?.[1] ?? "";
  if (long === "--output") return formatsOf(path);
  return wordsOf(option.parseArg) ?? valuesByFlag[long] ?? valuesOfName(placeholder);
}

function argumentValue(argument: Argument, path: string): Takes {
  const [group = ""] = path.split(" ");
  const words = wordsOf(argument.parseArg);
  if (words) return words;
  if (argument.name() === "id" || path === "connectors find") {
    return valuesByCommand[path] ?? valuesByCommand[group] ?? "free";
  }
  return valuesOfName(argument.name());
}

function flagRow(option: Option, path: string): FlagRow {
  const names = [option.short, option.long].filter((name) => name !== undefined);
  const row: FlagRow = { names, text: option.description };
  if (option.required || option.optional) row.takes = valueOf(option, path);
  if (isRepeatable(option)) row.repeats = true;
  return row;
}

function commandRow(command: Command, path: string, globals: ReadonlySet<string>): CommandRow {
  const own = command.options.filter(
    (option) =>
      !globals.has(option.long ?? "") ||
      (option.long === "--output" && formatsOf(path) !== formatsOf("")),
  );
  const last = command.registeredArguments.at(-1);
  return {
    text: summaryOf(command),
    commands: [
      ...command.commands.map((each) => each.name()),
      ...(isGroup(command) ? ["help"] : []),
    ],
    flags: own.map((option) => flagRow(option, path)),
    arguments: command.registeredArguments.map((argument) => argumentValue(argument, path)),
    ...(last?.variadic === true && { endless: true }),
  };
}

/**
 * Every command with its flags and the values to complete. `words`: the configuration keys and the
 * rules of `lint`, which this folder does not know.
 */
export function completionTable(
  program: Command,
  words: Pick<CompletionTable, "keys" | "rules">,
): CompletionTable {
  const globals = globalOptions();
  const names = new Set(globals.map((option) => option.long ?? ""));
  const commands: Record<string, CommandRow> = {};
  const visit = (command: Command, path: string): void => {
    commands[path] = commandRow(command, path, names);
    for (const each of command.commands)
      visit(each, path === "" ? each.name() : `${path} ${each.name()}`);
  };
  visit(program, "");
  const help = { names: ["-h", "--help"], text: "show help" };
  return {
    commands,
    globals: [...globals.map((option) => flagRow(option, "")), help],
    topics: topicNames,
    ...words,
  };
}
