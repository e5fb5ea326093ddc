import type { Command } from "commander";
import { collect, positive, addStateOption, viaOption } from "../../cli/options.ts";
import type { Run } from "../../cli/commands.ts";

/** `search`. */
export function addSearch(program: Command, run: Run): void {
  const search = program
    .command("search")
    .description(
      "Find documents in the index, the best first: ten, unless --limit sets another number.\n" +
        "There are four ways: indexed (Enterprise) and keyword (administrators) cost nothing, assisted and chat call " +
        "language models. Without --via, the first way that costs nothing and that the service has is used. A way " +
        "that costs asks first; without a terminal it needs --allow-tokens. The standard dialect has only chat.",
    )
    .argument("<query...>", "words to search for; after -- they may begin with a dash")
    .option("--limit <number>", "show at most this many", positive)
    .optionsGroup("Documents to search:")
    .option("--source-type <type>", "search only this source type (repeatable)", collect)
    .option("--document-set <name>", "search only this document set (repeatable)", collect)
    .option("--filter-tag <key=value>", "search only documents with this tag (repeatable)", collect)
    .option("--since <when>", "search only newer documents: 7d, 12h, 2026-01-31")
    .optionsGroup("Way and cost:")
    .option(...viaOption)
    .option(
      "--allow-tokens <calls>",
      "allow this many model calls without asking: assisted needs 15, chat 1",
      positive,
    )
    .optionsGroup("Results:");
  addStateOption(search)
    .configureHelp({
      essentials: ["--limit", "--source-type", "--filter-tag", "--since", "--via"],
      examples: [
        ["knowctl search annual leave --dialect onyx", "the ten best documents"],
        [
          "knowctl search leave --filter-tag team=people --since 30d --dialect onyx",
          "fewer documents",
        ],
        ["knowctl search leave --dialect onyx --jq '.[].path'", "the local files of the documents"],
        ["knowctl search leave --via chat --allow-tokens 1", "the documents behind an answer"],
      ],
    })
    .action(run(async () => (await import("./search.ts")).search));
}
