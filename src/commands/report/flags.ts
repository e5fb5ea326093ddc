import type { Command } from "commander";
import { examples } from "../../surface/options.ts";
import type { Run } from "../../surface/run.ts";

/** `report merge`. */
export function addReport(program: Command, run: Run): void {
  const report = program.command("report").description("Work with the reports of uploads.");
  report
    .command("merge")
    .description(
      "Merge the JSON reports of all shards into one.\n" +
        "The status of the merged report is the worst of the runs. Exits 0 when all is merged, 10 when\n" +
        "shards are missing. One report alone is written in another form.",
    )
    .argument("<file...>", "reports that `knowctl ingest --report FILE.json` wrote")
    .option("--report <file>", "write this file, .json, .xml (JUnit) or .html, instead of stdout")
    .addHelpText(
      "after",
      examples([
        ["knowctl report merge shard-*.json --report run.html", "a page of the whole run"],
        ["knowctl report merge shard-*.json > run.json", "as JSON"],
        ["knowctl report merge shard-1.json shard-2.json --jq .counts", "only the counts"],
      ]),
    )
    .action(run(async () => (await import("./report.ts")).reportMerge));
}
