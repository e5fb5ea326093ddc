import type { Command } from "commander";
import { filled, positive, addStateOption } from "../../surface/options.ts";
import type { Run } from "../../surface/commands.ts";
import { addEvalRuns } from "./flags-run.ts";

function addInit(evaluation: Command, run: Run): void {
  const init = evaluation
    .command("init")
    .description(
      "Draft a suite of questions from documents or from stored sessions.\n" +
        "Each drafted case has `review: true` and does not count until you check the question and remove this " +
        "line. Costs no tokens.",
    )
    .argument(
      "[path...]",
      "folders, files or globs (default: include of the configuration, or the project root)",
    )
    .option("--from-sessions", "real questions of your stored sessions instead (onyx dialect)")
    .option("--limit <number>", "at most this many cases (default: 50)", positive)
    .option("--out <file>", "write to this new file (default: stdout)", filled);
  addStateOption(init)
    .configureHelp({
      examples: [
        ["knowctl eval init docs --out draft.yaml", "questions from titles and headings"],
        ["knowctl eval init docs --limit 10", "print a short draft"],
        ["knowctl eval init --from-sessions", "unanswered questions first"],
      ],
    })
    .action(run(async () => (await import("./init/init.ts")).evalInit));
}

/** `eval init`. */
export function addEval(program: Command, run: Run): void {
  const evaluation = program
    .command("eval")
    .description("Test search and answers with a suite of questions.");
  addInit(evaluation, run);
  addEvalRuns(evaluation, run);
}
