import type { Command } from "commander";
import {
  addAccessOptions,
  addNotifyOption,
  addPaceOptions,
  addRecordedTargetOptions,
} from "../ingest/flags-shared.ts";
import {
  choice,
  collectParsed,
  filled,
  reportText,
  share,
  tombstoneText,
} from "../../cli/options.ts";
import type { Run } from "../../cli/commands.ts";

/** As in sync/orphans/orphan-classes.ts, which help must not load; and what another pair has too. */
const orphanClassNames = [
  "gone",
  "excluded",
  "other-options",
  "row-gone",
  "opted-out",
  "adopted",
  "foreign",
  "shared",
] as const;

/** `prune`. */
export function addPrune(program: Command, run: Run): void {
  const prune = program
    .command("prune")
    .description(
      "Remove documents whose files are gone.\n" +
        "Removes what `knowctl status` lists as gone or row-gone: shows it, asks, and deletes it. " +
        "Each document is checked with the flags of its upload. Nothing is removed while a file cannot be " +
        "read, after a failed upload, or if no file is found.",
    )
    .argument("[path...]", "folders, files or globs (default: the whole project)")
    .optionsGroup("Which documents:")
    .option(
      "--class <name>",
      "also: excluded, opted-out, other-options, adopted, foreign, shared (repeatable)",
      collectParsed(choice(...orphanClassNames)),
    )
    .option("--extra", "also remove documents that only the service has");
  addPaceOptions(addAccessOptions(addRecordedTargetOptions(prune, true)))
    .optionsGroup("Removal:")
    .option("--tombstone", tombstoneText)
    .option("--max-delete <number>", "limit, N or P% (default: 10%, from 1 to 100)", share)
    .option("--dry-run", "show what would be removed; remove nothing")
    .option("-y, --yes", "do not ask");
  addNotifyOption(
    prune.optionsGroup("Reports:").option("--report <file>", reportText, collectParsed(filled)),
  )
    .configureHelp({
      essentials: [
        "--cc-pair-id",
        "--connector",
        "--tombstone",
        "--class",
        "--extra",
        "--max-delete",
        "--dry-run",
        "--yes",
      ],
      examples: [
        ["knowctl prune docs --dry-run", "what would be removed"],
        ["knowctl prune docs --cc-pair-id 2 --tombstone --max-delete 5% --yes", "in a pipeline"],
        [
          "knowctl prune --extra --dialect onyx",
          "also what only the service has, after a question",
        ],
      ],
    })
    .action(run(async () => (await import("./prune.ts")).prune));
}
