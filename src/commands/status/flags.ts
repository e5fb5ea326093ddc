import type { Command } from "commander";
import type { Run } from "../../surface/run.ts";
import { addIdOptions, addTargetOptions } from "../ingest/flags-shared.ts";

/** `drift`. */
export function addDrift(program: Command, run: Run): void {
  const drift = program
    .command("drift")
    .description(
      "Compare the folder, the state and the service's list of documents.\n" +
        "not sent: a file whose document the service lacks. gone there: sent, but no longer in the service. extra: in the " +
        "service, without a file and without a record. elsewhere: recorded for another connector. Changes nothing. " +
        "Needs the onyx dialect: the standard dialect lists no documents (exit 9).",
    )
    .argument(
      "[path...]",
      "folders, files or globs (default: include of the configuration, or the project root)",
    );
  addTargetOptions(addIdOptions(drift))
    .optionsGroup("Result:")
    .option("--exit-code", "exit 12 if there is a difference")
    .configureHelp({
      essentials: ["--cc-pair-id", "--connector", "--id-prefix", "--state", "--exit-code"],
      examples: [
        ["knowctl drift --dialect onyx", "the whole project, with extra documents"],
        [
          "knowctl drift docs/people --cc-pair-id 2 --dialect onyx",
          "only files and records of a folder",
        ],
        [
          "knowctl drift --dialect onyx --exit-code --jq '.documents[] | select(.result == \"gone-there\") | .path'",
          "for a nightly job",
        ],
      ],
    })
    .action(run(async () => (await import("./status.ts")).drift));
}
