import type { Command } from "commander";
import { duration } from "../../surface/options.ts";

/** How long an upload or a check waits for the index. */
export function addWaitOption(command: Command, fallback: string): Command {
  return command
    .optionsGroup("Checks:")
    .option(
      "--wait <duration>",
      `ask again until then for what is not there yet: 30s, 2m (default: ${fallback})`,
      duration,
    );
}
