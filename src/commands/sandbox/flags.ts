import type { Command } from "commander";
import { collect, decimal, examples, filled, integer } from "../../surface/options.ts";
import type { Run } from "../../surface/run.ts";

export function addSandbox(program: Command, run: Run): void {
  program
    .command("sandbox")
    .description(
      "Run a local service with the same interface, to try everything on.\n" +
        "Upload documents, ask questions, rehearse a pipeline: it listens on this machine only, takes\n" +
        "the key `sandbox`, keeps what is uploaded, and answers with sentences quoted from it.\n" +
        "No account, no network, no language model, unless --llm-url names one: then it searches,\n" +
        "gives the passages to that model, and turns the numbers it cites into citations.",
    )
    .option(
      "--port <number>",
      "port to listen on, 0 for any free one (default: 8787)",
      integer(0, 65_535),
    )
    .option(
      "--host <address>",
      "address to listen on; other than loopback needs KNOWCTL_SANDBOX_KEY",
    )
    .option(
      "--data <dir>",
      "folder that keeps the documents (default: knowctl/sandbox in the user's data folder)",
    )
    .option(
      "--fault <list>",
      "inject faults: latency=200ms,429=0.1,500=0.05,cut=0.02,reset=,html=,hang=,seed=",
    )
    .option(
      "--llm-url <url>",
      "answer through this OpenAI-compatible server, with or without /v1; its key, if it takes one, is read from KNOWCTL_SANDBOX_LLM_KEY",
      filled,
    )
    .option("--llm-model <name>", "the server's model that answers", filled)
    .option(
      "--llm-system <text>",
      "instructions for the model, in place of the sandbox's own",
      filled,
    )
    .option(
      "--play <path>",
      "answer with recorded streams: a file, or a folder of them (repeatable); each question takes the next, or the one it names as play:NAME",
      collect,
    )
    .option(
      "--play-speed <number>",
      "play so many times as fast as recorded, 0 at once",
      decimal(0, 1_000_000),
    )
    .option("--open", "open its page with connectors, documents and a search box in the browser")
    .addHelpText(
      "after",
      examples([
        ["knowctl sandbox", "start it; Ctrl-C ends it"],
        [
          "KNOWCTL_API_KEY=sandbox knowctl connectors list --base-url http://127.0.0.1:8787",
          "use it",
        ],
        [
          "knowctl sandbox --port 0 --data ./trial",
          "any free port, documents in a folder of your own",
        ],
        ["knowctl sandbox --dialect onyx", "paths and packets of the other dialect"],
        [
          "knowctl sandbox --llm-url http://127.0.0.1:11434/v1 --llm-model qwen3",
          "answers by a model, here of a server on this machine",
        ],
        ["knowctl sandbox --play recordings --play-speed 2", "what was recorded, twice as fast"],
        ["knowctl sandbox --fault latency=200ms,429=0.1,500=0.05,cut=0.02", "rehearse bad days"],
      ]),
    )
    .action(run(async () => (await import("./sandbox.ts")).runSandbox));
}
