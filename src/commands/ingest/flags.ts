import type { Command } from "commander";
import {
  addAccessOptions,
  addContentOptions,
  addMappingOptions,
  addNotifyOption,
  addOverwriteOption,
  addReportOptions,
  addSelectionOptions,
  addStdinOptions,
  addRecordedTargetOptions,
  addUploadOptions,
  addWaitOption,
} from "./flags-shared.ts";
import type { Run } from "../../cli/commands.ts";
import { duration, durationFrom, filled, tombstoneText } from "../../cli/options.ts";

export function addIngest(program: Command, run: Run): void {
  const ingest = program
    .command("ingest")
    .description("Upload documents; only what changed is sent.")
    .argument(
      "[path...]",
      "folders, files, globs, or - for stdin (default: include of the configuration)",
    );
  addMappingOptions(addSelectionOptions(addAccessOptions(addRecordedTargetOptions(ingest))));
  addUploadOptions(addStdinOptions(addContentOptions(ingest)))
    .option("--checksum", "read every file instead of trusting size, times and inode")
    .option("--force", "send every document, changed or not")
    .option("--claim", "share the work with other runs on one shared record")
    .option("--run <name>", "with --claim: name of the run (default: the commit)", filled)
    .option("--no-state", "neither read nor write the state")
    .option("--allow-id-change", "send recorded documents again under another id");
  addWaitOption(
    ingest
      .optionsGroup("Checks:")
      .option("--verify", "check that every sent document is in the index; exit 0 only then"),
  );
  ingest
    .optionsGroup("Changes:")
    .option("--watch", "then upload what changes, until Ctrl-C")
    .option(
      "--every <duration>",
      "with --watch: time between full checks (default: 1h)",
      durationFrom(1),
    )
    .option(
      "--settle <duration>",
      "with --watch: upload after this time without a change (default: 2s)",
      duration,
    )
    .option("--prune", "with --watch: remove documents whose files are gone, as `knowctl prune`")
    .option("--tombstone", tombstoneText);
  addNotifyOption(addReportOptions(addOverwriteOption(ingest)))
    .optionsGroup("Remembered options:")
    .option("--print-config", "print the project file that repeats this command, and send nothing")
    .configureHelp({
      essentials: [
        "--cc-pair-id",
        "--connector",
        "--include",
        "--sections",
        "--dry-run",
        "--since",
        "--report",
        "--print-config",
      ],
      examples: [
        [
          "knowctl ingest docs --id-prefix handbook/ --cc-pair-id 2",
          "upload a folder; the next run sends only what changed",
        ],
        [
          'knowctl ingest docs --id-prefix handbook/ --connector "Handbook uploads" --sections headings',
          "connector by name, one section per heading",
        ],
        [
          "knowctl ingest docs --id-prefix handbook/ --cc-pair-id 2 --shard 1/8 --report shard-1.json",
          "one of 8 parallel runs",
        ],
        [
          "knowctl convert docs | knowctl ingest - --cc-pair-id 2",
          "NDJSON in between, for jq or another machine",
        ],
        [
          "knowctl ingest docs --id-prefix handbook/ --cc-pair-id 2 --verify --wait 1m",
          "exit 0 only when the index holds what was sent",
        ],
        ["knowctl ingest docs --cc-pair-id 2 --watch", "keep an uploaded folder up to date"],
        ["knowctl ingest docs --dry-run", "see the plan; needs no key and no connection"],
        [
          "knowctl ingest docs --since HEAD~1 --updated-at git --dry-run",
          "files that a commit changed, with dates from git",
        ],
        ["knowctl ingest docs --id-prefix handbook/ --cc-pair-id 2 --images upload", "with images"],
        [
          "knowctl ingest prices.csv --cc-pair-id 2 --map id=sku,title=name,text=notes",
          "one document per row",
        ],
        [
          "knowctl ingest docs --id-prefix handbook/ --cc-pair-id 2 --output ndjson",
          "one line per document, for a pipeline",
        ],
      ],
    })
    .action(run(async () => (await import("./ingest.ts")).ingest));
}
