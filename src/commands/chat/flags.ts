import type { Command } from "commander";
import {
  choice,
  collect,
  collectParsed,
  decimal,
  examples,
  integer,
  size,
} from "../../surface/options.ts";
import type { Run } from "../../surface/run.ts";

const id = (flag: string) => integer(flag === "--agent" ? -(2 ** 31) : 0, 2 ** 31 - 1);

function addSessionOptions(command: Command): Command {
  return command
    .option("--agent <id>", "agent that answers, in a new session", id("--agent"))
    .option("--project <id>", "project that scopes a new session", id("--project"))
    .option("--session <id>", "continue this session; the beginning of its id is enough")
    .option("-c, --continue", "continue the last session of this profile")
    .option("--parent <id>", "message to answer to (default: the last one)", id("--parent"));
}

function addRequestOptions(command: Command): Command {
  return command
    .option("--model <provider/version>", "language model for this message, split at the first /")
    .option("--provider <name>", "language model provider alone")
    .option("--model-version <name>", "language model alone")
    .option("--temperature <number>", "randomness of the model, 0 to 2", decimal(0, 2))
    .option("--tool <id>", "allow only this tool (repeatable)", collectParsed(id("--tool")))
    .option("--no-tools", "allow no tool")
    .option("--force-tool <id>", "a tool that must run", id("--force-tool"))
    .option("--file <path>", "upload this file and send it along (repeatable)", collect)
    .option("--file-id <id>", "send along a file uploaded before (repeatable)", collect)
    .option("--source-type <type>", "search only this source type (repeatable)", collect)
    .option("--document-set <name>", "search only this document set (repeatable)", collect)
    .option("--filter-tag <key=value>", "search only documents with this tag (repeatable)", collect)
    .option("--since <when>", "search only newer documents: 2026-01-31, 7d, 12h, or ISO 8601")
    .option("--deep-research", "research at length; consumes significantly more tokens")
    .option("--no-stream", "take the answer in one piece")
    .option("--payload <file>", "JSON file (or -) of request members, merged last");
}

export function addChat(program: Command, run: Run): void {
  const chat = program
    .command("chat")
    .description(
      "Ask one question, or talk; the answer comes as it is written.\n" +
        "On a terminal and without a message it is a conversation: /help there lists its commands.\n" +
        "Without a message, stdin is the message; with one, `-` appends stdin as context.\n" +
        "-o, --output takes text (default), json, ndjson or packets.",
    )
    .argument("[message...]", "the question; after -- it may begin with a dash");
  addRequestOptions(addSessionOptions(chat))
    .option("--live", "off a terminal: write text as it comes, interim text included")
    .option("--no-sources", "do not list the sources after the answer")
    .option(
      "--show <list>",
      "on stderr: reasoning,tools,documents (the default), none, or all, which cuts little short",
    )
    .option(
      "--render <mode>",
      "draw the answer as markdown or plain; auto: as Markdown on a terminal",
      choice("auto", "markdown", "plain"),
    )
    .option("--no-remember", "keep nothing of this session on this machine (see chat.remember)")
    .option("--save <file>", "write the final answer to a file as well (a cut one to FILE.partial)")
    .option("--record <file>", "record the stream as it comes, to play it again")
    .option("--force", "replace the file of --record where it exists")
    .option("--replay <file>", "play a recorded answer instead of asking")
    .option("--replay-speed <factor>", "so many times as fast, 0 for at once", decimal(0, 1e6))
    .option(
      "--max-packet <size>",
      "longest line of a stream (default: 64MiB); a reply may have four times as much",
      size(1024, 2 ** 30),
    )
    .option("--batch <file>", "ask the questions of an NDJSON file (or -), one result line each")
    .option("--concurrency <n>", "most questions of a batch at once (default: 4)", integer(1, 64))
    .option("--resume <results>", "recover or ask only what this result file leaves without answer")
    .option("--no-reask", "with --resume: never ask again what the service may have been asked")
    .addHelpText(
      "after",
      examples([
        ['knowctl chat "How do I request leave?"', "ask, and see the sources below the answer"],
        ['knowctl chat --continue "And in summer?"', "go on in the last session"],
        ['knowctl chat "What does this tell a newcomer?" - < docs/welcome.md', "stdin as context"],
        ['knowctl chat --since 30d --source-type file "What is new?"', "narrow the search"],
        ['knowctl chat --output json "Who is on call?"', "one object for a script"],
        ['knowctl chat --record answer.ndjson "Who is on call?"', "keep the stream"],
        [
          `echo '{"id":"1","message":"Who is on call?"}' | knowctl chat --batch -`,
          "many questions, a result line each",
        ],
        ["knowctl chat --replay answer.ndjson --replay-speed 2", "play it again, without asking"],
        [
          'knowctl chat --show none -- "--force: what does it do?"',
          "a message with dashes, quietly",
        ],
      ]),
    )
    .action(run(async () => (await import("./chat.ts")).chat));
}
