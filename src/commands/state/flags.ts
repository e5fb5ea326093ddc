import type { Command } from "commander";
import { choice, positive, addSharedOptions, addStateOption } from "../../cli/options.ts";
import type { Run } from "../../cli/commands.ts";

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
  addStateOption(addPair(list))
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
    .action(run(async () => (await import("./records.ts")).stateList));
}

function addForget(state: Command, run: Run): void {
  const forget = state
    .command("forget")
    .description("Forget records; the next upload sends these documents again, with the same ids.")
    .argument("[path-or-id...]", "files, folders or document ids")
    .option("--failed", "forget only failures")
    .option("--all", "forget everything")
    .option("-y, --yes", "do not ask");
  addStateOption(addPair(forget))
    .configureHelp({
      examples: [
        ["knowctl state forget docs/welcome.md", "the next upload sends this file"],
        ["knowctl state forget --all --yes", "the service lost its documents: send all again"],
      ],
    })
    .action(run(async () => (await import("./records.ts")).stateForget));
}

const loadTransfer = () => import("./transfer.ts");

function addExport(state: Command, run: Run): void {
  const command = state
    .command("export")
    .description(
      "Write the state as NDJSON, for `state import` on another machine.\n" +
        "The file contains paths, ids, hashes and dates. It contains no keys.",
    )
    .argument("[file]", "file to write (default: -, stdout)");
  addStateOption(command)
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
      "Merge exported states into the record of this project.\n" +
        "Shows what they add for each target, and asks. Of two records of a document the later " +
        "upload wins. The next upload reads every file again, and sends what changed. An incomplete " +
        "export is refused as a whole.",
    )
    .argument("<file...>", "files that `knowctl state export` wrote, or - for stdin")
    .option("-y, --yes", "do not ask");
  addStateOption(command)
    .configureHelp({
      examples: [
        ["knowctl state import state-*.ndjson", "the uploads of all shards"],
        ["gunzip < state.ndjson.gz | knowctl state import - --yes", "in a pipeline"],
      ],
    })
    .action(run(async () => (await loadTransfer()).stateImport));
}

function addMove(state: Command, run: Run): void {
  const command = state
    .command("move")
    .description(
      "Move all records of a service to its new address.\n" +
        "Use it only when both are addresses of the same service. Sends no request.",
    )
    .argument("<old>", "address in the records, see `knowctl state list --fields target`")
    .argument("<new>", "address that the service has now")
    .option("-y, --yes", "do not ask");
  addStateOption(command)
    .configureHelp({
      examples: [
        ["knowctl state move http://127.0.0.1:8787 http://localhost:8787", "the same service"],
      ],
    })
    .action(run(async () => (await import("./records.ts")).stateMove));
}

function addShare(state: Command, run: Run): void {
  const command = state
    .command("share")
    .description(
      "Keep the record of this project in a PostgreSQL database, for many machines.\n" +
        "Creates the tables and the project. Asks first.",
    )
    .option("-y, --yes", "do not ask");
  addStateOption(addSharedOptions(command))
    .configureHelp({
      examples: [
        [
          "knowctl state share --shared-state postgres://knowctl@db/knowctl --state-project handbook",
          "once, with a role that may create tables; the password is in ~/.pgpass",
        ],
      ],
    })
    .action(run(async () => (await import("./share.ts")).stateShare));
}

function addUnshare(state: Command, run: Run): void {
  const command = state
    .command("unshare")
    .description(
      "Keep the state of this machine apart from the shared record. Both keep their records. Asks first.",
    )
    .option("-y, --yes", "do not ask");
  addStateOption(command)
    .configureHelp({ examples: [["knowctl state unshare", "no longer a copy"]] })
    .action(run(async () => (await import("./share.ts")).stateUnshare));
}

function addPush(state: Command, run: Run): void {
  const command = state
    .command("push")
    .description("Push what the shared record lacks, and fetch what other machines recorded.")
    .option("--all", "push every record: the database was lost, or restored from a backup");
  addStateOption(addSharedOptions(command))
    .configureHelp({
      examples: [
        ["knowctl state push", "after a run that could not reach the database"],
        ["knowctl state push --all", "into a new database, after `knowctl state share`"],
      ],
    })
    .action(run(async () => (await import("./share.ts")).statePush));
}

/** `state list | forget | export | import | move | share | unshare | push`. */
export function addState(program: Command, run: Run): void {
  const state = program
    .command("state")
    .description("Show, forget, export, import, move and share the upload record.");
  addList(state, run);
  addForget(state, run);
  addExport(state, run);
  addImport(state, run);
  addMove(state, run);
  addShare(state, run);
  addUnshare(state, run);
  addPush(state, run);
}
