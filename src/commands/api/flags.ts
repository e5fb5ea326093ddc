import { Option, type Command } from "commander";
import { flagOnly } from "../../surface/environment.ts";
import { choice, collect, examples, filled } from "../../surface/options.ts";
import type { Run } from "../../surface/run.ts";

/** `--input`. Its option name is `inputFile`, because the global `--no-input` uses `input`. */
function inputOption(): Option {
  const option = new Option("--input <file>", "send this file as the body; - is stdin");
  option.attributeName = () => "inputFile";
  return option;
}

function options(): Option[] {
  return [
    new Option("-X, --method <method>", "the method, where it does not stand before the path"),
    new Option("-f, --raw-field <name=value>", "add a text to the body (repeatable)").argParser(
      collect,
    ),
    new Option(
      "-F, --field <name=value>",
      "the same, typed: true, false, null, whole numbers, @file (repeatable)",
    ).argParser(collect),
    inputOption().argParser(filled),
    new Option("-H, --header <name:value>", "add a request header (repeatable)").argParser(collect),
    new Option("-i, --include", "print status and headers before the body; keys are masked"),
    new Option("--paginate", "ask for all pages and print their rows as one list"),
    new Option("--silent", "do not print the body"),
    new Option("--key <which>", "api or access: which key is sent").argParser(
      choice("api", "access"),
    ),
  ];
}

const about = `Send any request with the profile's key, and print the answer.
PATH is below the API root: tool, /tool and /api/tool are the same. An address must begin with the
base URL. Redirects are not followed.
The method is GET, or POST with fields or --input. Fields nest: a[b]=c, a[]=c, a[][b]=c. With GET,
HEAD, OPTIONS or --input they become the query, lists as repeated names.
The access token is sent, below the ingestion path the API key; --key overrules.
The body is printed as it comes, an error's too, laid out on a terminal; credentials of connectors
are masked. --output, --fields, --filter and --jq work on JSON; --output raw writes other bytes too. Only requests that change
nothing are repeated after a fault. The exit code tells the kind of failure, as everywhere.`;

/** `api`. */
export function addApi(program: Command, run: Run): void {
  const api = program
    .command("api")
    .description(about)
    .usage("[options] [method] <path>")
    .argument("<method-or-path>", "GET, HEAD, OPTIONS, POST, PUT, PATCH or DELETE; else the path")
    .argument("[path]", "path below the API root");
  for (const option of options()) api.addOption(flagOnly(option));
  api
    .addHelpText(
      "after",
      examples([
        ["knowctl api tool", "GET, laid out on a terminal"],
        ["knowctl api manage/admin/connector/status --jq '.[].name'", "a part of it"],
        ["knowctl api tool --output csv --fields id,name", "as a list"],
        [
          "knowctl api chat/send-chat-message -f message=Hello -F stream=false --jq .answer",
          "POST, because there are fields",
        ],
        ["knowctl api POST chat/send-chat-message --input question.json", "a body from a file"],
        ["knowctl api tool --include --silent", "status and headers alone"],
        [
          "knowctl api chat/get-user-chat-sessions --paginate --dialect onyx --fields id,name",
          "all pages",
        ],
      ]),
    )
    .action(run(async () => (await import("./api.ts")).api));
}
