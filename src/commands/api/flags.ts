import { Option, type Command } from "commander";
import { choice, collect, filled } from "../../cli/options.ts";
import type { Run } from "../../cli/commands.ts";

/** `--input`. Its option name is `inputFile`, because the global `--no-input` uses `input`. */
function inputOption(): Option {
  const option = new Option("--input <file>", "send this file as the body; - for stdin");
  option.attributeName = () => "inputFile";
  return option;
}

function options(): Option[] {
  return [
    new Option("-X, --method <method>", "HTTP method; may also stand before the path"),
    new Option(
      "-f, --raw-field <name=value>",
      "add a text field to the body (repeatable)",
    ).argParser(collect),
    new Option(
      "-F, --field <name=value>",
      "add a typed field: true, false, null, number, @file (repeatable)",
    ).argParser(collect),
    inputOption().argParser(filled),
    new Option("-H, --header <name:value>", "add a request header (repeatable)").argParser(collect),
    new Option("-i, --include", "print status and headers before the body"),
    new Option("--paginate", "request all pages and print their rows as one list"),
    new Option("--silent", "do not print the body"),
    new Option("--key <which>", "key to send: api or access").argParser(choice("api", "access")),
  ];
}

const about = [
  "Send any request with the key of the profile.",
  "PATH is relative to the API root: tool, /tool and /api/tool are the same. A full address must " +
    "begin with the base URL. Redirects are not followed.",
  "The method is GET; with fields or --input it is POST. Fields nest: a[b]=c, a[]=c, a[][b]=c. " +
    "With --input, or with GET, HEAD or OPTIONS, fields become the query.",
  "The request carries the access token; below the ingestion path it carries the API key. Keys " +
    "and credentials are masked in the output. Only requests that change nothing are retried.",
].join("\n");

/** `api`. */
export function addApi(program: Command, run: Run): void {
  const api = program
    .command("api")
    .description(about)
    .usage("[options] [method] <path>")
    .argument("<method-or-path>", "method (GET, POST, PUT, …), or the path")
    .argument("[path]", "path below the API root");
  for (const option of options()) api.addOption(option);
  api
    .configureHelp({
      essentials: [
        "--method",
        "--raw-field",
        "--field",
        "--input",
        "--header",
        "--include",
        "--paginate",
      ],
      examples: [
        ["knowctl api tool", "GET; indented on a terminal"],
        ["knowctl api manage/admin/connector/status --jq '.[].name'", "select with jq"],
        ["knowctl api tool --output csv --fields id,name", "as CSV"],
        [
          "knowctl api chat/send-chat-message -f message=Hello -F stream=false --jq .answer",
          "fields make it a POST",
        ],
        ["knowctl api POST chat/send-chat-message --input question.json", "body from a file"],
        ["knowctl api tool --include --silent", "only status and headers"],
        [
          "knowctl api chat/get-user-chat-sessions --paginate --dialect onyx --fields id,name",
          "all pages",
        ],
      ],
    })
    .action(run(async () => (await import("./api.ts")).api));
}
