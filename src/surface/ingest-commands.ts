import type { Command } from "commander";
import {
  addMappingOptions,
  addPaceOptions,
  addReportOptions,
  addSelectionOptions,
  addTargetOptions,
  addUploadOptions,
} from "./ingest-options.ts";
import { examples, positive, share } from "./options.ts";
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

/** `ingest documents`. */
export function addDocuments(ingest: Command, run: Run): void {
  const documents = ingest
    .command("documents")
    .description("Print the documents of files as NDJSON and send nothing; ingest - takes them.")
    .argument("[path...]", "folders, files or globs (default: the configured include)");
  addSelectionOptions(addMappingOptions(documents))
    .option("--cc-pair-id <id>", "write this pair beside each document", positive)
    .addHelpText(
      "after",
      examples([
        ["knowctl ingest documents docs > documents.ndjson", "one document a line"],
        ["knowctl ingest documents docs | knowctl ingest - --cc-pair-id 2", "and send them"],
      ]),
    )
    .action(run(async () => (await import("../commands/ingest/documents.ts")).printDocuments));
}

/** `ingest orphans`. */
export function addOrphans(ingest: Command, run: Run): void {
  const orphans = ingest
    .command("orphans")
    .description(
      "List documents whose files are gone, and remove them when asked to.\n" +
        "Only documents that this state knows, of one target, within the given paths. Nothing is removed\n" +
        "while a file cannot be read, after a failed upload, or when no file is found at all.",
    )
    .argument("[path...]", "folders, files or globs (default: the configured include)");
  addPaceOptions(addTargetOptions(addMappingOptions(orphans)))
    .option("--prune", "delete them, where the service can")
    .option("--tombstone", "replace their text by a short removal notice")
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
    .action(run(async () => (await import("../commands/ingest/orphans.ts")).ingestOrphans));
}
