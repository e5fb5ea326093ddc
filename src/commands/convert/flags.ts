import type { Command } from "commander";
import {
  addContentOptions,
  addMappingOptions,
  addSelectionOptions,
  addTargetOptions,
} from "../ingest/flags-shared.ts";
import { positive } from "../../cli/options.ts";
import type { Run } from "../../cli/commands.ts";

/** `convert`. */
export function addConvert(program: Command, run: Run): void {
  const convert = program
    .command("convert")
    .description("Print documents as NDJSON, for `knowctl ingest -`; send nothing.")
    .argument("[path...]", "folders, files or globs (default: include of the configuration)");
  addContentOptions(addMappingOptions(addSelectionOptions(convert)))
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
        ["knowctl convert docs > documents.ndjson", "one document per line"],
        ["knowctl convert docs | knowctl ingest - --cc-pair-id 2", "send them"],
      ],
    })
    .action(run(async () => (await import("./convert.ts")).convert));
}

/** `explain`. */
export function addExplain(program: Command, run: Run): void {
  const explain = program
    .command("explain")
    .description(
      "Show why a file is included or skipped, the origin of each field, and the payload.",
    )
    .argument("<file>", "file to explain");
  addContentOptions(addMappingOptions(addTargetOptions(explain)))
    .optionsGroup("Which files:")
    .option("--row <number>", "row of a file of rows (default: 1)", positive)
    .configureHelp({
      essentials: ["--include", "--exclude", "--id-prefix", "--sections", "--map", "--row"],
      examples: [
        ["knowctl explain docs/welcome.md", "every field with its origin"],
        ["knowctl explain prices.csv --map title=name,text=notes --row 2", "one row"],
      ],
    })
    .action(run(async () => (await import("./explain.ts")).explain));
}
