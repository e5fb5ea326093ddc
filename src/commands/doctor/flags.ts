import type { Command } from "commander";
import { filled } from "../../cli/options.ts";
import type { Run } from "../../cli/commands.ts";

/** `doctor`. */
export function addDoctor(program: Command, run: Run): void {
  program
    .command("doctor")
    .description(
      "Find out why a connection does not work.\n" +
        "Each failed check says what to do. Checks configuration, network, certificates, address, dialect and the permissions of each " +
        "key. Changes nothing on the service. Exits with the code of the first failed check.",
    )
    .option(
      "--bundle <file>",
      "write the results to a file for a support ticket (.json or text)",
      filled,
    )
    .option(
      "--stream-test",
      "ask a short question to see whether a proxy buffers answers (costs tokens)",
    )
    .configureHelp({
      examples: [
        ["knowctl doctor", "one line per check: ok, warning, failure or skipped"],
        [
          "knowctl doctor --bundle ticket.txt",
          "for support; without keys, home folder and user name",
        ],
        ["knowctl doctor --stream-test", "does a proxy buffer answers?"],
        [
          "knowctl doctor --filter status=failure --fields check,message,fix",
          "only failures, for a script",
        ],
        [
          "knowctl doctor --json --jq '.checks[] | select(.status != \"ok\") | .check'",
          "the same with jq",
        ],
      ],
    })
    .action(run(async () => (await import("./doctor.ts")).doctor));
}
