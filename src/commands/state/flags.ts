import type { Command } from "commander";
import { choice, examples, filled, positive } from "../../surface/options.ts";
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
    .description("List what was sent and what failed, as recorded here.\nThe service is not asked.")
    .option("--status <status>", "sent or failed", choice("sent", "failed"))
    .option("--limit <number>", "show at most this many", positive);
  addPlace(addPair(list))
    .addHelpText(
      "after",
      examples([
        ["knowctl state list", "all records"],
        ["knowctl state list --status failed --json", "what failed last time, and why"],
        ["knowctl state list --filter 'path~docs/*' --fields path,stored_id", "ids of a folder"],
      ]),
    )
    .action(run(async () => (await import("./list.ts")).stateList));
}

function addForget(state: Command, run: Run): void {
  const forget = state
    .command("forget")
    .description("Forget records, so that the documents are sent again under the same ids.")
    .argument("[path-or-id...]", "files, folders or document ids")
    .option("--failed", "forget failures only")
    .option("--all", "forget everything")
    .option("-y, --yes", "do not ask");
  addPlace(addPair(forget))
    .addHelpText(
      "after",
      examples([
        ["knowctl state forget docs/welcome.md", "send one file again the next time"],
        ["knowctl state forget --all --yes", "the service has lost everything: send all again"],
      ]),
    )
    .action(run(async () => (await import("./forget.ts")).stateForget));
}

const loadTransfer = () => import("./transfer.ts");

function addExport(state: Command, run: Run): void {
  const command = state
    .command("export")
    .description(
      "Write the state as NDJSON, for another machine or for `state merge`.\n" +
        "It holds paths, ids, hashes and dates; no keys and nothing of this machine.",
    )
    .argument("[file]", "file to write (default: -, stdout)");
  addPlace(command)
    .addHelpText(
      "after",
      examples([
        ["knowctl state export state.ndjson", "to a file"],
        ["knowctl state export | gzip > state.ndjson.gz", "packed"],
      ]),
    )
    .action(run(async () => (await loadTransfer()).stateExport));
}

function addImport(state: Command, run: Run): void {
  const command = state
    .command("import")
    .description(
      "Bring an exported state into the one here.\n" +
        "Of two records of one document the one sent last stays. Files are read once more after it,\n" +
        "and sent only if they changed. Of a file that is not whole nothing is imported.",
    )
    .argument("<file>", "file that `knowctl state export` wrote, or - for stdin")
    .option("--replace", "forget first what is recorded here");
  addPlace(command)
    .addHelpText(
      "after",
      examples([
        ["knowctl state import state.ndjson", "add what another machine has sent"],
        ["gunzip < state.ndjson.gz | knowctl state import - --replace", "as it was exported"],
      ]),
    )
    .action(run(async () => (await loadTransfer()).stateImport));
}

function addMerge(state: Command, run: Run): void {
  const command = state
    .command("merge")
    .description(
      "Bring the exported states of all shards together, here or in a file.\n" +
        "Of two records of one document the one sent last stays.",
    )
    .argument("<file...>", "files that `knowctl state export` wrote")
    .option("--out <file>", "write this file instead of the state here (- for stdout)", filled);
  addPlace(command)
    .addHelpText(
      "after",
      examples([
        ["knowctl state merge state-*.ndjson", "into the state here"],
        ["knowctl state merge state-1.ndjson state-2.ndjson --out all.ndjson", "into a file"],
      ]),
    )
    .action(run(async () => (await loadTransfer()).stateMerge));
}

/** `state list | forget | export | import | merge`. */
export function addState(program: Command, run: Run): void {
  const state = program.command("state").description("Work with the record of what was sent.");
  addList(state, run);
  addForget(state, run);
  addExport(state, run);
  addImport(state, run);
  addMerge(state, run);
}
