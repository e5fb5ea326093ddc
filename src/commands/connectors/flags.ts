import type { Command } from "commander";
import { choice, collectParsed, decimal, examples, integer } from "../../surface/options.ts";
import type { Run } from "../../surface/run.ts";

const load = () => import("./connectors.ts");

const showCredentials = [
  "--show-credentials",
  "do not replace credentials and configuration by *** (on a terminal only)",
] as const;

function addList(connectors: Command, run: Run): void {
  connectors
    .command("list")
    .description(
      "List every connector with its cc_pair_id.\n" +
        "json, ndjson and yaml hold the whole records.",
    )
    .option("--source <source>", "only this source, as web or ingestion_api")
    .option("--access-type <type>", "only this access type, as public or private")
    .option("--name <glob>", "only names like this: * and ?, ignoring case")
    .option("--group <id>", "only pairs of this group", integer(0, 2 ** 31 - 1))
    .option("--sort <key>", "order by a column, as name or last_update")
    .option("--reverse", "in descending order")
    .option(
      "--watch [seconds]",
      "look again every so many seconds (default 5): a table that is redrawn, or a line a change",
      decimal(1, 86_400),
    )
    .option(...showCredentials)
    .addHelpText(
      "after",
      examples([
        ["knowctl connectors list", "a table, or tab-separated values in a pipe"],
        ["knowctl connectors list --source web --sort last_update --reverse", "the latest first"],
        [
          "knowctl connectors list --filter 'owner~*@example.com' --output csv",
          "for a spreadsheet",
        ],
        [
          "knowctl connectors list --fields cc_pair_id,name,connector.refresh_freq",
          "other columns",
        ],
        ["knowctl connectors list --json", "the whole records"],
      ]),
    )
    .action(run(async () => (await load()).connectorsList));
}

function addGet(connectors: Command, run: Run): void {
  connectors
    .command("get")
    .description("Show one connector in full.")
    .argument("<id-or-name>", "cc_pair_id, or the whole name")
    .option("--source <source>", "only a connector of this source")
    .option(...showCredentials)
    .addHelpText(
      "after",
      examples([
        ["knowctl connectors get 2", "by its cc_pair_id"],
        ['knowctl connectors get "Handbook uploads"', "by its name"],
        [
          "knowctl connectors get 2 --fields name,connector.time_updated --output yaml",
          "a part of it",
        ],
      ]),
    )
    .action(run(async () => (await load()).connectorsGet));
}

function addFind(connectors: Command, run: Run): void {
  connectors
    .command("find")
    .description(
      "Print the cc_pair_id of the connector with this name.\n" +
        "Nothing else is printed. The exact name first, then ignoring case; never a part of a name.",
    )
    .argument("<name>", "the whole name")
    .option("--source <source>", "only a connector of this source")
    .addHelpText(
      "after",
      examples([
        ['knowctl connectors find "Handbook uploads"', "its id"],
        [
          "knowctl ingest docs --cc-pair-id \"$(knowctl connectors find 'Handbook uploads')\"",
          "in a script",
        ],
      ]),
    )
    .action(run(async () => (await load()).connectorsFind));
}

function addCreate(connectors: Command, run: Run): void {
  connectors
    .command("create")
    .description(
      "Create a connector for uploads, and print its cc_pair_id.\n" +
        "One of this name and source that exists is found, and no second is made.\n" +
        "Needs the onyx dialect; elsewhere connectors are created on the admin page (exit 9).",
    )
    .argument("<name>", "its name")
    .option(
      "--access-type <type>",
      "who may see its documents: public (default) is everybody with an account, private its groups",
      choice("public", "private"),
    )
    .option(
      "--group <id>",
      "group whose members may see its documents, with --access-type private (repeatable)",
      collectParsed(integer(0, 2 ** 31 - 1)),
    )
    .addHelpText(
      "after",
      examples([
        ["knowctl connectors create Handbook --dialect onyx", "its id, new or not"],
        [
          'knowctl ingest docs --dialect onyx --cc-pair-id "$(knowctl connectors create Handbook --dialect onyx)"',
          "in a pipeline: safe to repeat",
        ],
        ["knowctl connectors create Handbook --dialect onyx --json", "and whether it is new"],
      ]),
    )
    .action(run(async () => (await import("./create.ts")).connectorsCreate));
}

/** `connectors list | get | find | create`. */
export function addConnectors(program: Command, run: Run): void {
  const connectors = program
    .command("connectors")
    .description("Look up connectors and their ids, or create one.");
  addList(connectors, run);
  addGet(connectors, run);
  addFind(connectors, run);
  addCreate(connectors, run);
}
