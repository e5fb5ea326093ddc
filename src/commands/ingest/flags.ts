import type { Command } from "commander";
import { addDocuments, addOrphans, addRetry } from "./flags-of-subcommands.ts";
import {
  addAccessOptions,
  addContentOptions,
  addMappingOptions,
  addOverwriteOption,
  addReportOptions,
  addSelectionOptions,
  addStdinOptions,
  addTargetOptions,
  addUploadOptions,
} from "./flags-shared.ts";
import { examples, positive } from "../../surface/options.ts";
import type { Run } from "../../surface/run.ts";

export function addIngest(program: Command, run: Run): void {
  const ingest = program
    .command("ingest")
    .description("Upload folders of documents; only what changed is sent.")
    .argument(
      "[path...]",
      "folders, files, globs, or - for stdin (default: the configured include)",
    );
  addSelectionOptions(
    addAccessOptions(addTargetOptions(addContentOptions(addMappingOptions(ingest)))),
  )
    .option("--checksum", "read every file instead of trusting size, times and inode")
    .option("--force", "send every document, changed or not")
    .option("--no-state", "neither read nor write the state store")
    .option("--save-options", "write these options into the project file, for plain knowctl ingest")
    .option("-y, --yes", "with --save-options: change what differs there without asking");
  addStdinOptions(addReportOptions(addUploadOptions(addOverwriteOption(ingest))))
    .addHelpText(
      "after",
      examples([
        ["knowctl ingest docs --cc-pair-id 2", "upload a folder; a second run sends what changed"],
        [
          'knowctl ingest docs --connector "Handbook uploads" --sections headings',
          "by name, one section per heading",
        ],
        [
          "knowctl ingest docs --cc-pair-id 2 --shard 1/8 --report shard-1.json",
          "one of 8 runs that share the work; see docs/pipelines.md",
        ],
        [
          "knowctl ingest documents docs | knowctl ingest - --cc-pair-id 2",
          "NDJSON between the two: for jq, Spark, another machine",
        ],
        ["knowctl ingest docs --dry-run", "see the plan; needs no key and no connection"],
        ["knowctl ingest explain docs/welcome.md", "why a file is in or out, and what is sent"],
        [
          "knowctl ingest docs --since HEAD~1 --updated-at git --dry-run",
          "what a commit changed, dated by git",
        ],
        ["knowctl ingest docs --cc-pair-id 2 --images upload", "with the images of the project"],
        [
          "knowctl ingest prices.csv --cc-pair-id 2 --map id=sku,title=name,text=notes",
          "a document per row",
        ],
        [
          "knowctl ingest docs --cc-pair-id 2 --output ndjson",
          "one line per document, for a pipeline",
        ],
      ]),
    )
    .action(run(async () => (await import("./ingest.ts")).ingest));
  const explain = ingest
    .command("explain")
    .description(
      "Show why a file is in or out, where each field comes from, and the exact payload.",
    )
    .argument("<file>", "file to explain");
  addTargetOptions(addContentOptions(addMappingOptions(explain)))
    .option("--row <number>", "which row of a file of rows (default: the first)", positive)
    .addHelpText(
      "after",
      examples([
        ["knowctl ingest explain docs/welcome.md", "every field with its origin"],
        ["knowctl ingest explain prices.csv --map title=name,text=notes --row 2", "of one row"],
      ]),
    )
    .action(run(async () => (await import("./explain.ts")).explainFile));
  addRetry(ingest, run);
  addDocuments(ingest, run);
  addOrphans(ingest, run);
}
