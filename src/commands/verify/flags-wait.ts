import type { Command } from "commander";
import { duration } from "../../surface/options.ts";

/** How long an upload or a check waits for the index. */
export function addWaitOption(command: Command): Command {
  return command
    .optionsGroup("Checks:")
    .option(
      "--wait <duration>",
      "keep asking for what is not there yet: 30s, 2m (default: 0; of ingest: 30s)",
      duration,
    );
}
