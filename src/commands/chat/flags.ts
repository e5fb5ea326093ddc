import type { Command } from "commander";
import {
  collect,
  collectParsed,
  decimal,
  integer,
  size,
  addStateOption,
  renderOption,
  showOption,
} from "../../cli/options.ts";
import type { Run } from "../../cli/commands.ts";

const id = (flag: string) => integer(flag === "--agent" ? -(2 ** 31) : 0, 2 ** 31 - 1);

function addSessionOptions(command: Command): Command {
  return command
    .optionsGroup("Session:")
    .option("--agent <id>", "agent for a new session", id("--agent"))
    .option("--project <id>", "project for a new session", id("--project"))
    .option("--session <id>", "continue this session (the beginning of its id is enough)")
    .option("-c, --continue", "continue the last session of this profile")
    .option("--parent <id>", "message to reply to (default: the last one)", id("--parent"));
}

function addRequestOptions(command: Command): Command {
  return command
    .optionsGroup("Model and tools:")
    .option("--model <provider/version>", "language model for this message")
    .option("--provider <name>", "only the provider of the model")
    .option("--model-version <name>", "only the version of the model")
    .option("--temperature <number>", "randomness of the model, 0 to 2", decimal(0, 2))
    .option("--tool <id>", "allow only this tool (repeatable)", collectParsed(id("--tool")))
    .option("--no-tools", "allow no tool")
    .option("--force-tool <id>", "tool that must run", id("--force-tool"))
    .optionsGroup("Files:")
    .option("--file <path>", "upload and attach this file (repeatable)", collect)
    .option("--file-id <id>", "attach an uploaded file (repeatable)", collect)
    .optionsGroup("Documents to search:")
    .option("--source-type <type>", "search only this source type (repeatable)", collect)
    .option("--document-set <name>", "search only this document set (repeatable)", collect)
    .option("--filter-tag <key=value>", "search only documents with this tag (repeatable)", collect)
    .option("--since <when>", "search only newer documents: 7d, 12h, 2026-01-31")
    .optionsGroup("Request:")
    .option("--deep-research", "longer research; uses many more tokens")
    .option("--no-stream", "receive the answer in one piece")
    .option("--max-packet <size>", "longest line of a stream (default: 64MiB)", size(1024, 2 ** 30))
    .option("--payload <file>", "JSON file (or -) with more members of the request");
}

export function addChat(program: Command, run: Run): void {
  const chat = program
    .command("chat")
    .description(
      "Ask questions; answers stream and cite their sources.\n" +
        "On a terminal, without a message, it is a conversation; /help lists its commands. In a pipe, " +
        "stdin is the message; beside a message, `-` appends stdin as context.\n" +
        "--output takes text (default), json, ndjson or packets.",
    )
    .argument("[message...]", "question; after -- it may begin with a dash");
  addStateOption(addRequestOptions(addSessionOptions(chat)).optionsGroup("Answer:"))
    .option("--live", "in a pipe: write text as it arrives, interim text included")
    .option("--no-sources", "do not list the sources below answers")
    .option(...showOption)
    .option(...renderOption)
    .option("--no-remember", "record nothing about this session on this machine")
    .option("--save <file>", "also write the answer to a file (an incomplete one to FILE.partial)")
    .optionsGroup("Recordings:")
    .option("--record <file>", "record the stream, for --replay")
    .option("--force", "with --record: overwrite the file")
    .option("--replay <file>", "play a recorded stream instead of asking")
    .option(
      "--replay-speed <factor>",
      "factor of the recorded speed, 0 for at once",
      decimal(0, 1e6),
    )
    .optionsGroup("Batch:")
    .option("--batch <file>", "ask the questions of an NDJSON file (or -)")
    .option(
      "--concurrency <number>",
      "with --batch: questions in flight (default: 4)",
      integer(1, 64),
    )
    .option(
      "--resume <results>",
      "with --batch: only the questions that this result file has no answer to",
    )
    .option(
      "--no-reask",
      "with --resume: never repeat a question that the service may have received",
    )
    .configureHelp({
      essentials: [
        "--continue",
        "--session",
        "--agent",
        "--file",
        "--source-type",
        "--since",
        "--model",
        "--batch",
      ],
      examples: [
        ['knowctl chat "How do I request leave?"', "ask; the sources follow the answer"],
        ['knowctl chat --continue "And in summer?"', "continue the last session"],
        ['knowctl chat "What does this tell a newcomer?" - < docs/welcome.md', "stdin as context"],
        ['knowctl chat --since 30d --source-type file "What is new?"', "narrow the search"],
        ['knowctl chat --output json "Who is on call?"', "one JSON object"],
        ['knowctl chat --record answer.ndjson "Who is on call?"', "record the stream"],
        [
          `echo '{"id":"1","message":"Who is on call?"}' | knowctl chat --batch -`,
          "many questions, one result per line",
        ],
        ["knowctl chat --replay answer.ndjson --replay-speed 2", "replay a recorded stream"],
        [
          'knowctl chat --show none -- "--force: what does it do?"',
          "a message that begins with dashes",
        ],
      ],
    })
    .action(run(async () => (await import("./chat.ts")).chat));
}
