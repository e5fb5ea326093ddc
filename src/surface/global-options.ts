import { Option } from "commander";
import { listFormats } from "./formats.ts";
import { choice, collect, decimal, filled } from "./options.ts";

function inGroup(heading: string, options: readonly Option[]): Option[] {
  return options.map((option) => option.helpGroup(heading));
}

/** The global flags. Each call creates new ones, because an option belongs to one command. */
export function globalOptions(): Option[] {
  return [
    ...inGroup("Connection:", [
      new Option("--profile <name>", "profile of the configuration to use"),
      new Option("--config <file>", "configuration file to use instead of searching for one"),
      new Option("--base-url <url>", "address of the service"),
      new Option("--dialect <name>", "standard or onyx").argParser(choice("standard", "onyx")),
      new Option("--timeout <seconds>", "longest wait for a response").argParser(
        decimal(0.001, 86_400),
      ),
      new Option("--ca-file <file>", "PEM file with additional certificate authorities"),
      new Option("--client-cert <file>", "PEM file with a client certificate"),
      new Option(
        "--client-key <file>",
        "PEM file with the key of the client certificate (default: the same file)",
      ),
      new Option("--proxy <url>", "proxy (default: HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY)"),
    ]),
    ...inGroup("Output:", [
      new Option("-o, --output <format>", `output format: ${listFormats.join(", ")}`),
      new Option("--json", "same as --output json"),
      new Option("--fields <list>", "columns or members to show, in order: a,b.c"),
      new Option(
        "--filter <expr>",
        "keep rows where key=value, key!=value, key~glob or key!~glob (repeatable)",
      ).argParser(collect),
      new Option("--jq <expr>", "print the result of a jq expression on the JSON output"),
      new Option("-q, --quiet", "no progress and no notes"),
      new Option("-v, --verbose", "show each request with its status and time"),
      new Option("--debug", "as --verbose, with redacted headers and stack traces"),
      new Option("--no-color", "no colour"),
    ]),
    ...inGroup("Behaviour:", [
      new Option(
        "--root <dir>",
        "project root (default: searched from the working directory up)",
      ).argParser(filled),
      new Option("--no-input", "never ask a question; a missing answer is an error"),
    ]),
  ];
}
