import type { Command } from "commander";
import {
  addAccessOptions,
  addContentOptions,
  addDropAccessOption,
  addNotifyOption,
  addOverwriteOption,
  addReportOptions,
  addRecordedTargetOptions,
  addUploadOptions,
} from "../ingest/flags-shared.ts";
import type { Run } from "../../cli/commands.ts";

/** `retry`. */
export function addRetry(program: Command, run: Run): void {
  const retry = program
    .command("retry")
    .description(
      "Send the documents that failed, and nothing else.\n" +
        "Failures come from the state, or from a JSON report. Target and options are recorded with " +
        "them: you need not repeat them.",
    )
    .argument("[report]", "report that `knowctl ingest --report FILE.json` wrote")
    .optionsGroup("Which documents:")
    .option(
      "--missing",
      "instead: documents that `knowctl verify` found missing, listed only or stale",
    );
  addAccessOptions(addRecordedTargetOptions(addDropAccessOption(addContentOptions(retry))));
  addNotifyOption(addReportOptions(addUploadOptions(addOverwriteOption(retry))))
    .configureHelp({
      essentials: [
        "--cc-pair-id",
        "--connector",
        "--dry-run",
        "--concurrency",
        "--report",
        "--max-failures",
        "--missing",
      ],
      examples: [
        ["knowctl retry", "failures of the state"],
        ["knowctl retry shard-1.json", "failures of a report"],
        ["knowctl retry --missing", "what verify did not find in the index"],
      ],
    })
    .action(run(async () => (await import("./retry.ts")).retry));
}
