import type { Command } from "commander";
import {
  addMappingOptions,
  addReportOptions,
  addTargetOptions,
  addUploadOptions,
} from "./ingest-options.ts";
import { examples } from "./options.ts";
import type { Run } from "./run.ts";

/** `ingest retry`. */
export function addRetry(ingest: Command, run: Run): void {
  const retry = ingest
    .command("retry")
    .description(
      "Send what failed last time, and nothing else.\n" +
        "The failures are those that the state holds for the target, or those of a JSON report.",
    )
    .argument("[report]", "report that `knowctl ingest --report FILE.json` wrote");
  addReportOptions(addUploadOptions(addTargetOptions(addMappingOptions(retry))))
    .addHelpText(
      "after",
      examples([
        ["knowctl ingest retry --cc-pair-id 2", "what the state says"],
        ["knowctl ingest retry shard-1.json --cc-pair-id 2", "what a report says"],
      ]),
    )
    .action(run(async () => (await import("../commands/ingest/retry.ts")).ingestRetry));
}
