import type { Command } from "commander";
import { filled } from "./options.ts";

/** Where a command reads or writes the record of uploads: see StateFlag in commands. */
export function addStateOption(command: Command): Command {
  return command.option(
    "--state <dir>",
    "folder of the state (default: .knowctl in the project root)",
    filled,
  );
}
