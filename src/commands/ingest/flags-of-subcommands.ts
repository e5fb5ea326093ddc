import type { Command } from "commander";
import {
  addAccessOptions,
  addContentOptions,
  addMappingOptions,
  addOverwriteOption,
  addPaceOptions,
  addReportOptions,
  addSelectionOptions,
  addTargetOptions,
  addUploadOptions,
} from "./flags-shared.ts";
import { choice, collectParsed, examples, positive, share } from "../../surface/options.ts";
import type { Run } from "../../surface/run.ts";

/** As in sync/orphans/orphan-classes.ts, which help must not load. */
const orphanClassNames = ["gone", "excluded", "other-options", "row-gone", "opted-out"] as const;

/** `ingest retry`. */
export function addRetry(ingest: Command, run: Run): void {
  const retry = ingest
    .command("retry")
    .description(
      "Send what failed last time, and nothing else.\n" +
        "The failures are those that the state holds for the target, or those of a JSON report.\n" +
        "Target and options are the recorded ones: neither has to be given again.",
    )
    .argument("[report]", "report that `knowctl ingest --report FILE.json` wrote");
  // Known, so that the refusal can say why; what failed is sent with the recorded options.
  for (const option of addMappingOptions(retry).options) {
    // A permission is given anew for each run, as --allow-secrets is.
    if (option.attributeName() !== "dropAccess") option.hideHelp();
  }
  addAccessOptions(addTargetOptions(addContentOptions(retry)));
  addReportOptions(addUploadOptions(addOverwriteOption(retry)))
    .addHelpText(
      "after",
      examples([
        ["knowctl ingest retry", "what the state says"],
        ["knowctl ingest retry shard-1.json", "what a report says"],
      ]),
    )
    .action(run(async () => (await import("./retry/retry.ts")).ingestRetry));
}

/** `ingest documents`. */
export function addDocuments(ingest: Command, run: Run): void {
  const documents = ingest
    .command("documents")
    .description("Print the documents of files as NDJSON and send nothing; ingest - takes them.")
    .argument("[path...]", "folders, files or globs (default: the configured include)");
  addSelectionOptions(addContentOptions(addMappingOptions(documents)))
    .option("--cc-pair-id <id>", "write this pair beside each document", positive)
    .addHelpText(
      "after",
      examples([
        ["knowctl ingest documents docs > documents.ndjson", "one document a line"],
        ["knowctl ingest documents docs | knowctl ingest - --cc-pair-id 2", "and send them"],
      ]),
    )
    .action(run(async () => (await import("./documents.ts")).printDocuments));
}

/** `ingest orphans`. */
export function addOrphans(ingest: Command, run: Run): void {
  const orphans = ingest
    .command("orphans")
    .description(
      "List documents that the folder no longer yields, and remove them when asked to.\n" +
        "Each is judged by the options that it was sent with. --prune and --tombstone take the classes\n" +
        "gone and row-gone; excluded, opted-out and other-options only with --class. Nothing is removed\n" +
        "while a file cannot be read, after a failed upload, or when no file is found at all.",
    )
    .argument(
      "[path...]",
      "folders, files or globs (default: the configured include, else the project root)",
    );
  addPaceOptions(addAccessOptions(addTargetOptions(addMappingOptions(orphans))))
    .option("--prune", "delete them, where the service can")
    .option("--tombstone", "replace their text by a short removal notice")
    .option(
      "--class <name>",
      "with --prune or --tombstone also this class, else list only it (repeatable)",
      collectParsed(choice(...orphanClassNames)),
    )
    .option(
      "--max-delete <number>",
      "most to remove, N or P% (default: 10%, at least 1, at most 100)",
      share,
    )
    .option("--dry-run", "check and list, but remove nothing")
    .option("-y, --yes", "do not ask")
    .addHelpText(
      "after",
      examples([
        ["knowctl ingest orphans docs --cc-pair-id 2", "see them"],
        [
          "knowctl ingest orphans docs --cc-pair-id 2 --tombstone --max-delete 5% --yes",
          "in a pipeline",
        ],
      ]),
    )
    .action(run(async () => (await import("./orphans/orphans.ts")).ingestOrphans));
}
