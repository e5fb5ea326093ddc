import type { Command } from "commander";
import { collect, decimal, filled, integer } from "../../cli/options.ts";
import type { Run } from "../../cli/commands.ts";

export function addSandbox(program: Command, run: Run): void {
  program
    .command("sandbox")
    .description(
      "Run a local service, to try everything on.\n" +
        "It has the interface of the real service, and needs no account, no network and no language model. It listens on this machine only, " +
        "accepts the key `sandbox`, keeps the uploaded documents, and answers with sentences quoted " +
        "from them.\n" +
        "With --llm-url, it searches, sends the passages to that model, and turns the numbers in the " +
        "answer into citations.",
    )
    .option("--port <number>", "port, 0 for any free one (default: 8787)", integer(0, 65_535))
    .option("--host <address>", "address; any but loopback needs KNOWCTL_SANDBOX_KEY")
    .option("--data <dir>", "folder of its documents (default: in the user's data folder)")
    .option(
      "--fault <list>",
      "inject faults, for example latency=200ms,429=0.1,swallow=0.1; a wrong name lists all",
    )
    .option(
      "--llm-url <url>",
      "OpenAI-compatible server that writes the answers; its key: KNOWCTL_SANDBOX_LLM_KEY",
      filled,
    )
    .option("--llm-model <name>", "model of that server", filled)
    .option(
      "--llm-system <text>",
      "system prompt for the model, instead of the built-in one",
      filled,
    )
    .option(
      "--play <path>",
      "answer with recorded streams, one after the other; play:NAME as the question selects one (repeatable)",
      collect,
    )
    .option(
      "--play-speed <number>",
      "factor of the recorded speed, 0 for at once",
      decimal(0, 1_000_000),
    )
    .option("--open", "open its page in the browser")
    .configureHelp({
      essentials: ["--port", "--data", "--fault", "--llm-url", "--play", "--open"],
      examples: [
        ["knowctl sandbox", "start it; Ctrl-C ends it"],
        [
          "KNOWCTL_API_KEY=sandbox knowctl connectors list --base-url http://127.0.0.1:8787",
          "use it from a second terminal",
        ],
        [
          "knowctl sandbox --port 0 --data ./trial",
          "any free port, documents in a folder of your own",
        ],
        ["knowctl sandbox --dialect onyx", "the other dialect"],
        [
          "knowctl sandbox --llm-url http://127.0.0.1:11434/v1 --llm-model qwen3",
          "answers from a language model on this machine",
        ],
        ["knowctl sandbox --play recordings --play-speed 2", "recorded answers, twice as fast"],
        ["knowctl sandbox --fault latency=200ms,429=0.1,500=0.05,cut=0.02", "rehearse faults"],
      ],
    })
    .action(run(async () => (await import("./sandbox.ts")).runSandbox));
}
