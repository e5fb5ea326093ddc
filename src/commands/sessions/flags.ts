import type { Command } from "commander";
import { choice, examples, positive } from "../../surface/options.ts";
import type { Run } from "../../surface/run.ts";

const idHelp = "id of the session, or the beginning of it, or `last`";

const render = [
  "--render <mode>",
  "draw answers as markdown or plain; auto: as Markdown on a terminal",
  choice("auto", "markdown", "plain"),
] as const;

function addList(sessions: Command, run: Run): void {
  sessions
    .command("list")
    .description(
      "List the chat sessions, the one used last first.\n" +
        "Where the interface has no such listing: those asked in from this machine.",
    )
    .option("--limit <n>", "at most this many", positive)
    .option("--local", "only what this machine remembers, without asking the service")
    .addHelpText(
      "after",
      examples([
        ["knowctl sessions list --limit 20", "a table, or tab-separated values in a pipe"],
        ["knowctl sessions list --filter 'name~*leave*' --fields id,name", "by name"],
        ["knowctl sessions list --output ndjson", "the whole records, a line each"],
      ]),
    )
    .action(run(async () => (await import("./list.ts")).sessionsList));
}

function addShow(sessions: Command, run: Run): void {
  sessions
    .command("show")
    .description("Show a conversation: questions, answers, sources and files.")
    .argument("<id>", idHelp)
    .option("--all", "show the messages of other branches of the conversation, too")
    .option("--no-sources", "do not list the sources below the answers")
    .option(...render)
    .addHelpText(
      "after",
      examples([
        ["knowctl sessions show last", "the session used last on this machine"],
        ["knowctl sessions show last --all", "with answers that were asked for again"],
        ["knowctl sessions show last --output json", "one object for a script"],
      ]),
    )
    .action(run(async () => (await import("./show.ts")).sessionsShow));
}

function addExport(sessions: Command, run: Run): void {
  sessions
    .command("export")
    .description(
      "Write a conversation as Markdown, or with --output json as one object.\n" +
        "The texts stand in it as the service keeps them.",
    )
    .argument("<id>", idHelp)
    .option("--file <file>", "write to this file (default: stdout)")
    .option("--all", "with the messages of other branches")
    .addHelpText(
      "after",
      examples([
        ["knowctl sessions export last --file leave.md", "keep a conversation"],
        ["knowctl sessions export last --output json", "for a script"],
      ]),
    )
    .action(run(async () => (await import("./show.ts")).sessionsExport));
}

function addChanges(sessions: Command, run: Run): void {
  sessions
    .command("rename")
    .description("Give a session another name.")
    .argument("<id>", idHelp)
    .argument("<name...>", "the new name")
    .addHelpText(
      "after",
      examples([['knowctl sessions rename last "Leave in summer"', "find it again by its name"]]),
    )
    .action(run(async () => (await import("./change.ts")).sessionsRename));
  sessions
    .command("delete")
    .description("Delete sessions, from the service and from the index of this machine.")
    .argument("<id...>", "ids of sessions, or the beginnings of them")
    .option("-y, --yes", "do not ask")
    .option("--local", "only from the index of this machine")
    .addHelpText("after", examples([["knowctl sessions delete last --yes", "without a question"]]))
    .action(run(async () => (await import("./change.ts")).sessionsDelete));
}

function addRecover(sessions: Command, run: Run): void {
  sessions
    .command("recover")
    .description(
      "Get the answer of a question whose stream was cut. Nothing is asked again.\n" +
        "An answer still being made is followed; a complete one is read from the session.\n" +
        "Exit code 11 while there is no whole answer. --timeout bounds --wait (default 900 s).",
    )
    .argument("[id]", `${idHelp} (default: last)`)
    .option("--wait", "look again until the answer is complete")
    .option("--live", "off a terminal: write text as it comes, interim text included")
    .option("--no-sources", "do not list the sources after the answer")
    .option(...render)
    .option("--show <list>", "on stderr: reasoning,tools,documents or none or all")
    .addHelpText(
      "after",
      examples([
        ["knowctl sessions recover", "the last question of this machine"],
        ["knowctl sessions recover --wait last > answer.md", "wait until it is there"],
      ]),
    )
    .action(run(async () => (await import("./recover.ts")).sessionsRecover));
}

/** `sessions list | show | export | rename | delete | recover`. */
export function addSessions(program: Command, run: Run): void {
  const sessions = program
    .command("sessions")
    .description("Look at, keep and recover conversations.");
  addList(sessions, run);
  addShow(sessions, run);
  addExport(sessions, run);
  addChanges(sessions, run);
  addRecover(sessions, run);
}
