import type { Command } from "commander";
import type { Run } from "../../cli/commands.ts";
import { collectParsed, filled, reportText } from "../../cli/options.ts";
import { addNotifyOption, addRecordedTargetOptions } from "../ingest/flags-shared.ts";

/** `status`. */
export function addStatus(program: Command, run: Run): void {
  const status = program
    .command("status")
    .description(
      "Show what differs from the last upload.\n" +
        "new and changed: `knowctl ingest` sends them. failed: `knowctl retry` sends them again. gone: `knowctl prune` " +
        "removes them. Sends nothing and needs no key. With --remote the service's own list is compared too, which needs " +
        "the onyx dialect: not sent, gone there, extra (only the service has it), elsewhere (recorded for another pair).",
    )
    .argument(
      "[path...]",
      "folders, files or globs (default: what was uploaded, and include of the configuration)",
    );
  addRecordedTargetOptions(status)
    .optionsGroup("Result:")
    .option("--remote", "compare with the service's list of documents too")
    .option("--exit-code", "exit 12 if there is something to do");
  addNotifyOption(
    status.optionsGroup("Reports:").option("--report <file>", reportText, collectParsed(filled)),
  )
    .configureHelp({
      essentials: ["--remote", "--exit-code", "--cc-pair-id", "--connector", "--state"],
      examples: [
        ["knowctl status", "the whole project"],
        ["knowctl status docs --remote --dialect onyx", "with the service's list"],
        [
          "knowctl status --exit-code --jq '.documents[] | select(.result == \"changed\") | .path'",
          "for a nightly job",
        ],
      ],
    })
    .action(run(async () => (await import("./status.ts")).status));
}
