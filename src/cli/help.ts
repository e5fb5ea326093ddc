import type { Argument, Command, Help, Option } from "commander";
import { isGroup, pathOf, summaryOf } from "./commands.ts";
import { exampleLines, list, section, wrap, type Item } from "./layout.ts";
import { topicNames } from "./topics.ts";

/** A command line that works as written, and its purpose. */
export type Example = readonly [line: string, purpose: string];

// A command sets these with configureHelp(), which commander merges into its Help.
declare module "commander" {
  interface Help {
    /** Examples of the command; `-h` shows the first two. A group without: those of its subcommands. */
    examples?: readonly Example[];
    /** Long names of the flags, or names of the subcommands, that `-h` shows. Default: all. */
    essentials?: readonly string[];
  }
}

/** `-h` fits a screen of 24 lines; `--help` is complete. */
export type HelpKind = "short" | "full";

/** A help text in the making: the command with its own options, and the width of a line. */
interface Page {
  command: Command;
  helper: Help;
  options: readonly Option[];
  width: number;
}

const commandItem = (each: Command): Item => [each.name(), summaryOf(each)];
const argumentItem = (each: Argument): Item => [each.name(), each.description];

/** Subcommands without `help`, which every group has. */
function subcommandsOf(command: Command): Command[] {
  return command.commands.filter((each) => each.name() !== "help");
}

function examplesOf({ command, helper }: Page): readonly Example[] {
  return (
    helper.examples ??
    subcommandsOf(command).flatMap((each) => each.configureHelp().examples?.slice(0, 1) ?? [])
  );
}

/** The subcommands; the name of their group stands before the first of it. */
function shortCommands({ command, helper, width }: Page): string[] {
  const all = subcommandsOf(command);
  const isShown = (each: Command): boolean => helper.essentials?.includes(each.name()) ?? true;
  const groupOf = (each?: Command): string => each?.helpGroup().replace(/:$/, "") ?? "";
  const column = Math.max(...all.map((each) => groupOf(each).length));
  const shown = all.filter(isShown);
  const items = shown.map((each, index): Item => {
    const [name, summary] = commandItem(each);
    const group = groupOf(each) === groupOf(shown[index - 1]) ? "" : groupOf(each);
    return [column === 0 ? name : `${group.padEnd(column)}  ${name}`, summary];
  });
  const others = all.filter((each) => !isShown(each)).map((each) => each.name());
  const also = others.length === 0 ? [] : [wrap(`  Also: ${others.join(", ")}`, width, "  ")];
  return ["", ...list(items, width), ...also];
}

function shortOptions({ helper, options, width }: Page): string[] {
  const shown = options.filter((each) => helper.essentials?.includes(each.long ?? "") ?? true);
  const items = shown.map((each): Item => [helper.optionTerm(each), each.description]);
  return section("Options:", list(items, width));
}

/** Where the rest of the help is. */
function pointers(command: Command): string[] {
  const topics = `Topics: ${topicNames.join(", ")}`;
  if (!command.parent) {
    return ["More: knowctl COMMAND -h, knowctl --help, knowctl help TOPIC", topics];
  }
  const path = `knowctl ${pathOf(command)}`;
  return isGroup(command)
    ? [`More: ${path} COMMAND -h`]
    : [`All options: ${path} --help, knowctl help global-flags`];
}

function shortHelp(page: Page): string[] {
  const { command, width } = page;
  return [
    wrap(summaryOf(command), width),
    "",
    wrap(`Usage: ${page.helper.commandUsage(command)}`, width, "  "),
    ...(isGroup(command) ? shortCommands(page) : shortOptions(page)),
    ...section("Examples:", exampleLines(examplesOf(page).slice(0, 2), width)),
    "",
    ...pointers(command).map((line) => wrap(line, width, "  ")),
  ];
}

/** A section for each group, in the order in which the groups first occur. */
function groupedSections<Each extends Command | Option>(
  { helper, width }: Page,
  all: readonly Each[],
  { groupOf, itemOf }: { groupOf: (each: Each) => string; itemOf: (each: Each) => Item },
): string[] {
  const groups = helper.groupItems([...all], [...all], groupOf);
  const everything = all.map(itemOf);
  return [...groups].flatMap(([title, each]) =>
    section(title, list(each.map(itemOf), width, everything)),
  );
}

function fullHelp(page: Page): string[] {
  const { command, helper, options, width } = page;
  const commands = {
    groupOf: (each: Command) => each.helpGroup() || "Commands:",
    itemOf: commandItem,
  };
  const flags = {
    groupOf: (each: Option) => each.helpGroupHeading ?? "Options:",
    itemOf: (each: Option): Item => [helper.optionTerm(each), each.description],
  };
  const [, topics = "Global options such as --profile: knowctl help global-flags"] = command.parent
    ? []
    : pointers(command);
  return [
    wrap(command.description(), width),
    "",
    wrap(`Usage: ${helper.commandUsage(command)}`, width, "  "),
    ...section("Examples:", exampleLines(examplesOf(page), width)),
    ...section("Arguments:", list(command.registeredArguments.map(argumentItem), width)),
    ...groupedSections(page, subcommandsOf(command), commands),
    ...groupedSections(page, options, flags),
    "",
    wrap(topics, width, "  "),
  ];
}

/** Help of a command; `options` are those it does not share with every command. */
export function formatHelp(kind: HelpKind, page: Page): string {
  const lines = kind === "short" ? shortHelp(page) : fullHelp(page);
  return `${lines.join("\n")}\n`;
}
