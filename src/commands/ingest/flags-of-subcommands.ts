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
import { choice, collectParsed, positive, share } from "../../surface/options.ts";
import type { Run } from "../../surface/run.ts";

/** As in sync/orphans/orphan-classes.ts, which help must not load. */
const orphanClassNames = ["gone", "excluded", "other-options", "row-gone", "opted-out"] as const;

/** `ingest retry`. */
export function addRetry(ingest: Command, run: Run): void {
  const retry = ingest
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
  // Known, so that the refusal can say why; what failed is sent with the recorded options.
  for (const option of addMappingOptions(retry).options) {
    // A permission is given anew for each run, as --allow-secrets is.
    if (option.attributeName() !== "dropAccess") option.hideHelp();
  }
  addAccessOptions(addTargetOptions(addContentOptions(retry)));
  addReportOptions(addUploadOptions(addOverwriteOption(retry)))
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
        ["knowctl ingest retry", "failures of the state"],
        ["knowctl ingest retry shard-1.json", "failures of a report"],
        ["knowctl ingest retry --missing", "what verify did not find in the index"],
      ],
    })
    .action(run(async () => (await import("../retry/retry.ts")).ingestRetry));
}

/** `ingest documents`. */
export function addDocuments(ingest: Command, run: Run): void {
  const documents = ingest
    .command("documents")
    .description("Print documents as NDJSON, for `knowctl ingest -`; send nothing.")
    .argument("[path...]", "folders, files or globs (default: include of the configuration)");
  addContentOptions(addMappingOptions(addSelectionOptions(documents)))
    .optionsGroup("Documents:")
    .option("--cc-pair-id <id>", "add this connector/credential pair to each document", positive)
    .configureHelp({
      essentials: [
        "--include",
        "--exclude",
        "--since",
        "--id-prefix",
        "--sections",
        "--map",
        "--cc-pair-id",
      ],
      examples: [
        ["knowctl ingest documents docs > documents.ndjson", "one document per line"],
        ["knowctl ingest documents docs | knowctl ingest - --cc-pair-id 2", "send them"],
      ],
    })
    .action(run(async () => (await import("../convert/convert.ts")).printDocuments));
}

/** `ingest orphans`. */
export function addOrphans(ingest: Command, run: Run): void {
  const orphans = ingest
    .command("orphans")
    .description(
      "List uploaded documents whose files are gone; remove them on request.\n" +
        "Each document is checked with the options of its upload. --prune and --tombstone remove the " +
        "classes gone and row-gone; excluded, opted-out and other-options need --class. Nothing is " +
        "removed while a file cannot be read, after a failed upload, or if no file is found.",
    )
    .argument(
      "[path...]",
      "folders, files or globs (default: include of the configuration, or the project root)",
    );
  addPaceOptions(addMappingOptions(addAccessOptions(addTargetOptions(orphans))))
    .optionsGroup("Which documents:")
    .option("--remote", "documents that only the service has, instead of orphans of the state")
    .optionsGroup("Removal:")
    .option("--prune", "delete the documents, if the service can")
    .option("--tombstone", "replace their text by a removal notice")
    .option(
      "--class <name>",
      "also remove this class; without --prune and --tombstone: list only it (repeatable)",
      collectParsed(choice(...orphanClassNames)),
    )
    .option(
      "--max-delete <number>",
      "limit of removals, N or P% (default: 10%, from 1 to 100)",
      share,
    )
    .option("--dry-run", "show the plan; remove nothing")
    .option("-y, --yes", "do not ask")
    .configureHelp({
      essentials: [
        "--cc-pair-id",
        "--connector",
        "--prune",
        "--tombstone",
        "--class",
        "--max-delete",
        "--dry-run",
        "--yes",
      ],
      examples: [
        ["knowctl ingest orphans docs --cc-pair-id 2", "list orphans"],
        [
          "knowctl ingest orphans docs --cc-pair-id 2 --tombstone --max-delete 5% --yes",
          "in a pipeline",
        ],
        [
          "knowctl ingest orphans --remote --prune --id-prefix handbook/ --dialect onyx",
          "delete documents that only the service has, after a question",
        ],
      ],
    })
    .action(run(async () => (await import("../prune/prune.ts")).ingestOrphans));
}
