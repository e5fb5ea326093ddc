import type { Command } from "commander";
import { examples, filled } from "../../surface/options.ts";
import type { Run } from "../../surface/run.ts";

/** `doctor`. */
export function addDoctor(program: Command, run: Run): void {
  program
    .command("doctor")
    .description(
      "Find out why a connection does not work, and what to do about it.\n" +
        "Looks at configuration, network, certificates, address, dialect and the rights of each key,\n" +
        "and writes nothing on the service. Ends with the exit code of the check that failed first.",
    )
    .option(
      "--bundle <file>",
      "write what was found to a file fit for a ticket (.json or text)",
      filled,
    )
    .option(
      "--stream-test",
      "ask a short question, which costs tokens, to see if answers are held back",
    )
    .addHelpText(
      "after",
      examples([
        ["knowctl doctor", "a line for each check: ok, warning, failure or skipped"],
        [
          "knowctl doctor --bundle ticket.txt",
          "for support: keys, home and user name are taken out",
        ],
        ["knowctl doctor --stream-test", "does a proxy hold answers back?"],
        ["knowctl doctor --filter status=failure --fields check,message,fix", "in a script"],
        ["knowctl doctor --json --jq '.checks[] | select(.status != \"ok\") | .check'", "with jq"],
      ]),
    )
    .action(run(async () => (await import("./doctor.ts")).doctor));
}
