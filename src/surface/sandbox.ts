import type { Command } from "commander";
import { examples, integer } from "./options.ts";
import type { Run } from "./run.ts";

export function addSandbox(program: Command, run: Run): void {
  program
    .command("sandbox")
    .description(
      "Run a local service with the same interface, to try everything on.\n" +
        "Upload documents, ask questions, rehearse a pipeline: it listens on this machine only, takes\n" +
        "the key `sandbox`, keeps what is uploaded, and answers with sentences quoted from it.\n" +
        "No account, no network, no language model.",
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
        ["knowctl sandbox --fault latency=200ms,429=0.1,500=0.05,cut=0.02", "rehearse bad days"],
      ]),
    )
    .action(run(async () => (await import("../commands/sandbox.ts")).runSandbox));
}
