import type { Command } from "commander";
import { choice, filled, positive } from "../../surface/options.ts";
import type { Run } from "../../surface/run.ts";

function addPlace(command: Command): Command {
  return command.option(
    "--state <dir>",
    "folder of the state (default: .knowctl in the project root)",
    filled,
  );
}

function addPair(command: Command): Command {
  return command.option(
    "--cc-pair-id <id>",
    "only records of this connector/credential pair",
    positive,
  );
}

function addList(state: Command, run: Run): void {
  const list = state
    .command("list")
    .description(
      "List what was sent and what failed, as recorded on this machine.\nSends no request.",
    )
    .option(
      "--status <status>",
      "sent, failed, or removed (by a notice)",
      choice("sent", "failed", "removed"),
    )
    .option("--limit <number>", "show at most this many", positive);
  addPlace(addPair(list))
    .configureHelp({
      examples: [
        ["knowctl state list", "all records"],
        ["knowctl state list --status failed --json", "failures of the last run, with reasons"],
        [
          "knowctl state list --filter 'path~docs/*' --fields path,stored_id",
          "ids of the documents of a folder",
        ],
      ],
    })
    .action(run(async () => (await import("./list.ts")).stateList));
}

function addForget(state: Command, run: Run): void {
  const forget = state
    .command("forget")
    .description("Forget records; the next upload sends these documents again, with the same ids.")
    .argument("[path-or-id...]", "files, folders or document ids")
    .option("--failed", "forget only failures")
    .option("--all", "forget everything")
    .option("-y, --yes", "do not ask");
  addPlace(addPair(forget))
    .configureHelp({
      examples: [
        ["knowctl state forget docs/welcome.md", "the next upload sends this file"],
        ["knowctl state forget --all --yes", "the service lost its documents: send all again"],
      ],
    })
    .action(run(async () => (await import("./forget.ts")).stateForget));
}

const loadTransfer = () => import("./transfer.ts");

function addExport(state: Command, run: Run): void {
  const command = state
    .command("export")
    .description(
      "Write the state as NDJSON, for another machine or for `state merge`.\n" +
        "The file contains paths, ids, hashes and dates. It contains no keys.",
    )
    .argument("[file]", "file to write (default: -, stdout)");
  addPlace(command)
    .configureHelp({
      examples: [
        ["knowctl state export state.ndjson", "to a file"],
        ["knowctl state export | gzip > state.ndjson.gz", "compressed"],
      ],
    })
    .action(run(async () => (await loadTransfer()).stateExport));
}

function addImport(state: Command, run: Run): void {
  const command = state
    .command("import")
    .description(
      "Import an exported state.\n" +
        "If both have a record of a document, the later upload wins. The next upload reads every file " +
        "again, and sends it only if it changed. A truncated export is rejected as a whole.",
    )
    .argument("<file>", "file that `knowctl state export` wrote, or - for stdin")
    .option("--replace", "forget the records of this machine first");
  addPlace(command)
    .configureHelp({
      examples: [
        ["knowctl state import state.ndjson", "add the uploads of another machine"],
        ["gunzip < state.ndjson.gz | knowctl state import - --replace", "replace the state"],
      ],
    })
    .action(run(async () => (await loadTransfer()).stateImport));
}

function addMerge(state: Command, run: Run): void {
  const command = state
    .command("merge")
    .description(
      "Merge the exported states of all shards, into the local state or a file.\n" +
        "If two states have a record of a document, the later upload wins.",
    )
    .argument("<file...>", "files that `knowctl state export` wrote")
    .option("--out <file>", "write this file instead of the local state (- for stdout)", filled);
  addPlace(command)
    .configureHelp({
      examples: [
        ["knowctl state merge state-*.ndjson", "into the local state"],
        ["knowctl state merge state-1.ndjson state-2.ndjson --out all.ndjson", "into a file"],
      ],
    })
    .action(run(async () => (await loadTransfer()).stateMerge));
}

/** `state list | forget | export | import | merge`. */
export function addState(program: Command, run: Run): void {
  const state = program
    .command("state")
    .description("Show, forget, export and merge the upload record.");
  addList(state, run);
  addForget(state, run);
  addExport(state, run);
  addImport(state, run);
  addMerge(state, run);
}
