import type { Command } from "commander";
import {
  addContentOptions,
  addMappingOptions,
  addSelectionOptions,
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
