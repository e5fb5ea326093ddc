import type { Command } from "commander";
import type { Run } from "../../cli/commands.ts";
import { addSharedOptions, collectParsed, filled } from "../../cli/options.ts";

/** `report merge` and `report summary`. */
export function addReport(program: Command, run: Run): void {
  const report = program
    .command("report")
    .description("Merge reports of shards, or sum up the steps of a pipeline.");
  const merge = report
    .command("merge")
    .description(
      "Merge the JSON reports of all shards into one.\n" +
        "The merged report has the worst status of the runs. Exits 10 if documents failed or shards are missing. " +
        "A single report is converted to the format of --report.",
    )
    .argument("[file...]", "reports that `knowctl ingest --report FILE.json` wrote")
    .option(
      "--shared <run>",
      "merge the reports of all workers of a run of `ingest --claim`: its commit or name",
      filled,
    );
  addSharedOptions(merge)
    .option(
      "--report <file>",
      "write a .json, .sarif, .xml (JUnit) or .html file instead of stdout (repeatable)",
      collectParsed(filled),
    )
    .configureHelp({
      examples: [
        ["knowctl report merge shard-*.json --report run.html", "one page for the whole run"],
        ["knowctl report merge shard-*.json > run.json", "as JSON"],
        ["knowctl report merge --shared 4f2a9c1", "one report of all workers that shared a run"],
        ["knowctl report merge shard-1.json shard-2.json --jq .counts", "only the counts"],
      ],
    })
    .action(run(async () => (await import("./merge.ts")).reportMerge));
  report
    .command("summary")
    .description(
      "Show the steps of a pipeline in one table, with one exit code.\n" +
        "The exit code is 13 if a check failed, 10 if a step is incomplete or has no report, else 0. In a GitHub job, " +
        "the table becomes a part of the job summary.",
    )
    .argument(
      "<file...>",
      "JSON reports of lint, ingest, verify and eval, in the order of the steps",
    )
    .configureHelp({
      examples: [
        ["knowctl report summary lint.json upload.json verify.json", "the result of a pipeline"],
        ["knowctl report summary upload.json --json", "as data"],
      ],
    })
    .action(run(async () => (await import("./summary.ts")).reportSummary));
}
