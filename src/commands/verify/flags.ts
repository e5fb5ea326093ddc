import type { Command } from "commander";
import {
  addNotifyOption,
  addPaceOptions,
  addRecordedTargetOptions,
  addWaitOption,
} from "../ingest/flags-shared.ts";
import { choice, collectParsed, filled, integer, positive, reportText } from "../../cli/options.ts";
import type { Run } from "../../cli/commands.ts";

/** `verify`. */
export function addVerify(program: Command, run: Run): void {
  const verify = program
    .command("verify")
    .description(
      "Check that uploaded documents are in the index.\n" +
        "A service accepts an upload before it is indexed, and may lose it. Uploads that the state records are " +
        "checked with their recorded options; without a record, the files are the expectation if configuration and target " +
        "say how they were sent. Costs no tokens.",
    )
    .argument("[path...]", "folders, files or globs (default: every recorded document)");
  verify
    .optionsGroup("Checks:")
    .option(
      "--sample <number>",
      "check this many documents, suspicious ones first",
      integer(1, 1_000_000),
    )
    .option(
      "--depth <depth>",
      "text: compare the text (default); exists: only whether it is indexed",
      choice("text", "exists"),
    )
    .option("--since-last", "skip documents found current since their upload")
    .option("--reader <profile>", "check what the key of this profile can see", filled)
    .option(
      "--expect <result>",
      "hidden: the reader must not see the documents (leak test)",
      choice("hidden"),
    )
    .option("--explain <file>", "show each request for a file, and what it proves", filled);
  verify
    .optionsGroup("Way and cost:")
    .option(
      "--via <way>",
      "search for rare words instead: indexed, keyword or chat; proves only that it is indexed",
      choice("indexed", "keyword", "assisted", "chat"),
    )
    .option(
      "--allow-tokens <calls>",
      "allow this many model calls without asking: --via chat needs one for each document",
      positive,
    );
  addWaitOption(verify)
    .optionsGroup("Reports:")
    .option("--report <file>", reportText, collectParsed(filled));
  addPaceOptions(addRecordedTargetOptions(addNotifyOption(verify)))
    .configureHelp({
      essentials: [
        "--sample",
        "--depth",
        "--wait",
        "--since-last",
        "--reader",
        "--expect",
        "--explain",
        "--report",
      ],
      examples: [
        ["knowctl verify", "every uploaded document: is its text in the index?"],
        ["knowctl verify --sample 200 --wait 1m", "a sample, after a large upload"],
        ["knowctl verify --explain docs/welcome.md", "the evidence for one file"],
        [
          "knowctl verify docs/board --reader intern --expect hidden",
          "a leak test with another person's key",
        ],
      ],
    })
    .action(run(async () => (await import("./verify.ts")).verify));
}
