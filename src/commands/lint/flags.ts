import type { Command } from "commander";
import { addIdOptions, addShapeOptions } from "../ingest/flags-shared.ts";
import { collectParsed, filled, integer, reportText } from "../../cli/options.ts";
import type { Run } from "../../cli/commands.ts";

/** `lint`. */
export function addLint(program: Command, run: Run): void {
  const lint = program
    .command("lint")
    .description(
      "Find what makes documents bad to answer from.\n" +
        "Run it before an upload. Reads files as `knowctl ingest` does, with the same configuration and the flags that affect findings. Needs no service and sends " +
        "nothing. Exits with 13 if there is a finding of level error, or more warnings than --max-warnings.",
    )
    .argument(
      "[path...]",
      "folders, files or globs (default: include of the configuration, or the project root)",
    );
  lint
    .optionsGroup("Rules:")
    .option("--rule <name>", "run only this rule (repeatable)", collectParsed(filled))
    .option("--notes", "on a terminal, list notes as well (other forms always have them)")
    .option("--max-warnings <number>", "fail if there are more warnings", integer(0, 1_000_000_000))
    .option("--baseline <file>", "leave out the findings that this file lists", filled)
    .option("--write-baseline", "write all findings into the file of --baseline")
    .option("--fix", "correct files where the meaning stays the same, and say what changed");
  lint
    .optionsGroup("Reports:")
    .option("--report <file>", reportText, collectParsed(filled))
    .option("--gitlab-report <file>", "write the findings as a GitLab code quality report", filled);
  addShapeOptions(addIdOptions(lint))
    .configureHelp({
      essentials: [
        "--rule",
        "--max-warnings",
        "--baseline",
        "--write-baseline",
        "--fix",
        "--report",
        "--include",
        "--exclude",
      ],
      examples: [
        ["knowctl lint docs", "everything that is wrong, the worst first"],
        ["knowctl lint docs --max-warnings 0 --report lint.sarif", "in a pipeline"],
        [
          "knowctl lint docs --baseline lint.json --write-baseline",
          "accept what is there; report only what is new",
        ],
        ["knowctl lint docs --rule dead-link --output ndjson", "one rule, for a script"],
      ],
    })
    .action(run(async () => (await import("./lint.ts")).lint));
}
