import type { Command } from "commander";
import { positive, addStateOption, renderOption, showOption } from "../../cli/options.ts";
import type { Run } from "../../cli/commands.ts";

const idHelp = "id of the session, the beginning of it, or `last`";

function addList(sessions: Command, run: Run): void {
  sessions
    .command("list")
    .description(
      "List the chat sessions, most recent first.\n" +
        "The standard dialect has no such list: there, only the sessions of this machine are shown.",
    )
    .option("--limit <number>", "show at most this many", positive)
    .option("--local", "only sessions of this machine; sends no request")
    .configureHelp({
      examples: [
        ["knowctl sessions list --limit 20", "a table, or tab-separated values in a pipe"],
        ["knowctl sessions list --filter 'name~*leave*' --fields id,name", "by name"],
        ["knowctl sessions list --output ndjson", "the complete records, one per line"],
      ],
    })
    .action(run(async () => (await import("./list.ts")).sessionsList));
}

function addShow(sessions: Command, run: Run): void {
  const show = sessions
    .command("show")
    .description("Show a conversation: questions, answers, sources and files.")
    .argument("<id>", idHelp)
    .option("--all", "include other branches of the conversation")
    .option("--no-sources", "do not list the sources below answers")
    .option(...renderOption);
  addStateOption(show)
    .configureHelp({
      examples: [
        ["knowctl sessions show last", "the last session of this machine (onyx dialect)"],
        ["knowctl sessions show last --all", "with regenerated answers"],
        ["knowctl sessions show last --output json", "one object for a script"],
      ],
    })
    .action(run(async () => (await import("./show.ts")).sessionsShow));
}

function addExport(sessions: Command, run: Run): void {
  sessions
    .command("export")
    .description(
      "Write a conversation as Markdown, or with --output json as one object.\n" +
        "The texts are those of the service, unchanged.",
    )
    .argument("<id>", idHelp)
    .option("--file <file>", "write to this file (default: stdout)")
    .option("--all", "include other branches of the conversation")
    .configureHelp({
      examples: [
        ["knowctl sessions export last --file leave.md", "keep a conversation (onyx dialect)"],
        ["knowctl sessions export last --output json", "for a script"],
      ],
    })
    .action(run(async () => (await import("./show.ts")).sessionsExport));
}

function addChanges(sessions: Command, run: Run): void {
  sessions
    .command("rename")
    .description("Rename a session.")
    .argument("<id>", idHelp)
    .argument("<name...>", "the new name")
    .configureHelp({
      examples: [
        ['knowctl sessions rename last "Leave in summer"', "find the session by name later"],
      ],
    })
    .action(run(async () => (await import("./change.ts")).sessionsRename));
  sessions
    .command("delete")
    .description("Delete sessions from the service and from the list of this machine.")
    .argument("<id...>", "ids of sessions, or their beginnings")
    .option("-y, --yes", "do not ask")
    .option("--local", "only from the list of this machine")
    .configureHelp({ examples: [["knowctl sessions delete last --yes", "without confirmation"]] })
    .action(run(async () => (await import("./change.ts")).sessionsDelete));
}

function addRecover(sessions: Command, run: Run): void {
  const recover = sessions
    .command("recover")
    .description(
      "Fetch an answer whose stream was cut, without asking again.\n" +
        "A complete answer is read from the session; an unfinished one is followed. Exits 11 while " +
        "the answer is incomplete. --timeout limits --poll (default: 900 s).",
    )
    .argument("[id]", `${idHelp} (default: last)`)
    .option("--poll", "poll until the answer is complete")
    .option("--live", "in a pipe: write text as it arrives, interim text included")
    .option("--no-sources", "do not list the sources below answers")
    .option(...renderOption)
    .option(...showOption);
  addStateOption(recover)
    .configureHelp({
      examples: [
        ["knowctl sessions recover", "the last question of this machine (onyx dialect)"],
        ["knowctl sessions recover --poll last > answer.md", "wait for the answer"],
      ],
    })
    .action(run(async () => (await import("./recover.ts")).sessionsRecover));
}

/** `sessions list | show | export | rename | delete | recover`. */
export function addSessions(program: Command, run: Run): void {
  const sessions = program
    .command("sessions")
    .description("Show, export, delete and recover conversations.");
  addList(sessions, run);
  addShow(sessions, run);
  addExport(sessions, run);
  addChanges(sessions, run);
  addRecover(sessions, run);
}
