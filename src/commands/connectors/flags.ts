import type { Command } from "commander";
import { choice, collectParsed, seconds, integer } from "../../cli/options.ts";
import type { Run } from "../../cli/commands.ts";

const load = () => import("./connectors.ts");

const showCredentials = [
  "--show-credentials",
  "show credentials and configuration instead of *** (only on a terminal)",
] as const;

function addList(connectors: Command, run: Run): void {
  connectors
    .command("list")
    .description(
      "List every connector with its cc_pair_id.\n" +
        "json, ndjson and yaml contain the complete records.",
    )
    .option("--source <type>", "only this source, for example web")
    .option("--access-type <type>", "only this access type: public, private or sync")
    .option("--name <glob>", "only matching names; * and ? are wildcards")
    .option("--group <id>", "only connectors of this group", integer(0, 2 ** 31 - 1))
    .option("--sort <key>", "sort by a column, for example name")
    .option("--reverse", "sort in descending order")
    .option(...showCredentials)
    .configureHelp({
      essentials: ["--source", "--access-type", "--name", "--sort", "--reverse"],
      examples: [
        ["knowctl connectors list", "a table, or tab-separated values in a pipe"],
        ["knowctl connectors list --source web --sort created --reverse", "newest first"],
        [
          "knowctl connectors list --filter 'owner~*@example.com' --output csv",
          "for a spreadsheet",
        ],
        [
          "knowctl connectors list --fields cc_pair_id,name,connector.refresh_freq",
          "other columns",
        ],
        ["knowctl connectors list --json", "the complete records"],
      ],
    })
    .action(run(async () => (await load()).connectorsList));
}

function addGet(connectors: Command, run: Run): void {
  connectors
    .command("get")
    .description("Show one connector in full.")
    .argument("<id-or-name>", "cc_pair_id, or the full name")
    .option("--source <type>", "only a connector of this source")
    .option(...showCredentials)
    .configureHelp({
      examples: [
        ["knowctl connectors get 2", "by its cc_pair_id"],
        ['knowctl connectors get "Handbook uploads"', "by its name"],
        [
          "knowctl connectors get 2 --fields name,connector.time_updated --output yaml",
          "selected members",
        ],
      ],
    })
    .action(run(async () => (await load()).connectorsGet));
}

function addFind(connectors: Command, run: Run): void {
  connectors
    .command("find")
    .description(
      "Print the cc_pair_id of the connector with this name, and nothing else.\n" +
        "An exact match wins over a match that ignores case. A part of a name is no match.",
    )
    .argument("<name>", "the full name")
    .option("--source <type>", "only a connector of this source")
    .configureHelp({
      examples: [
        ['knowctl connectors find "Handbook uploads"', "the id of a connector"],
        [
          "knowctl ingest docs --cc-pair-id \"$(knowctl connectors find 'Handbook uploads')\"",
          "in a script",
        ],
      ],
    })
    .action(run(async () => (await load()).connectorsFind));
}

function addCreate(connectors: Command, run: Run): void {
  connectors
    .command("create")
    .description(
      "Create a connector for uploads, and print its cc_pair_id.\n" +
        "If a connector with this name and source exists, its id is printed and nothing is created. " +
        "Needs the onyx dialect; with the standard dialect, create connectors on the admin page (exit 9).",
    )
    .argument("<name>", "name of the connector")
    .option(
      "--access-type <type>",
      "who may read its documents: public (default, every account) or private (its groups)",
      choice("public", "private"),
    )
    .option(
      "--group <id>",
      "with --access-type private: a group that may read its documents (repeatable)",
      collectParsed(integer(0, 2 ** 31 - 1)),
    )
    .configureHelp({
      examples: [
        [
          "knowctl connectors create Handbook --dialect onyx",
          "the id of the new or existing connector",
        ],
        [
          'knowctl ingest docs --dialect onyx --cc-pair-id "$(knowctl connectors create Handbook --dialect onyx)"',
          "in a pipeline: safe to repeat",
        ],
        [
          "knowctl connectors create Handbook --dialect onyx --json",
          "also shows whether it is new",
        ],
      ],
    })
    .action(run(async () => (await import("./create.ts")).connectorsCreate));
}

function addStatus(connectors: Command, run: Run): void {
  connectors
    .command("status")
    .description(
      "Show what the service has indexed: state, documents, errors and times of connectors.\n" +
        "With an id or a name also the queue: documents that wait for the index. " +
        "A state is the service's word, `indexing` during a run, `failing` after several failed runs, or `stale` if " +
        "the last success is a day old and three refreshes ago. " +
        "The standard dialect reports only names, sources and readers.",
    )
    .argument("[id-or-name...]", "cc_pair_id, or the full name (default: all connectors)")
    .option("--watch <seconds>", "repeat every so many seconds, until Ctrl-C", seconds(1))
    .configureHelp({
      examples: [
        ["knowctl connectors status --dialect onyx", "a table, or tab-separated values in a pipe"],
        ["knowctl connectors status 2 --dialect onyx --json", "one connector, with its queue"],
        [
          "knowctl connectors status --dialect onyx --filter state=failing --fields ccPairId,name",
          "connectors whose runs fail",
        ],
      ],
    })
    .action(run(async () => (await import("./status/status.ts")).connectorsStatus));
}

function addErrors(connectors: Command, run: Run): void {
  connectors
    .command("errors")
    .description(
      "List the documents that the service could not index when it crawled a connector.\n" +
        "A failed upload leaves no error in the service. " +
        "Needs the onyx dialect; the standard dialect has no such list (exit 9).",
    )
    .argument("<id-or-name>", "cc_pair_id, or the full name")
    .option("--resolved", "also list documents that a later run has indexed")
    .configureHelp({
      examples: [
        ['knowctl connectors errors "Engineering wiki" --dialect onyx', "newest first"],
        ["knowctl connectors errors 6 --dialect onyx --resolved --json", "also earlier errors"],
      ],
    })
    .action(run(async () => (await import("./status/status.ts")).connectorsErrors));
}

/** `connectors list | get | find | status | errors | create`. */
export function addConnectors(program: Command, run: Run): void {
  const connectors = program
    .command("connectors")
    .description("Look up connectors, ids and state; create connectors.");
  addList(connectors, run);
  addGet(connectors, run);
  addFind(connectors, run);
  addStatus(connectors, run);
  addErrors(connectors, run);
  addCreate(connectors, run);
}
