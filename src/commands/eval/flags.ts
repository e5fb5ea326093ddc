import type { Command } from "commander";
import {
  filled,
  positive,
  addStateOption,
  collectParsed,
  integer,
  reportText,
  viaOption,
} from "../../cli/options.ts";
import { addNotifyOption } from "../ingest/flags-shared.ts";
import type { Run } from "../../cli/commands.ts";

/** The flags that both commands have, in their groups. */
function addRunOptions(command: Command): Command {
  addStateOption(command)
    .optionsGroup("Cases:")
    .option(
      "--drafts",
      "also ask cases with `review: true`; their results are provisional and count nowhere",
    )
    .optionsGroup("Way and cost:")
    .option(
      "--allow-tokens <calls>",
      "allow at most this many model calls without asking; the run stops before the next one",
      positive,
    )
    .option("--concurrency <number>", "questions in flight (default: 4)", integer(1, 64))
    .optionsGroup("Results:")
    .option("--baseline <report>", "compare with the .json report of an earlier run", filled)
    .option(
      "--fail-on <condition>",
      "exit with 13 only if: worse (a case got worse), significantly-worse (the verdict), or rate<0.9",
      filled,
    )
    .option("--report <file>", reportText, collectParsed(filled));
  return addNotifyOption(command)
    .optionsGroup("Recordings:")
    .option("--record <folder>", "also write every response to this new folder", filled)
    .option("--replay <folder>", "judge a recording again: no service, no profile", filled);
}

function addRetrieval(evaluation: Command, run: Run): void {
  const retrieval = evaluation
    .command("retrieval")
    .description(
      "Check which documents a search finds for the questions of suites.\n" +
        "The question is the query. A case passes when its must_retrieve documents are among the first k, and " +
        "none of must_not_retrieve. Without --via, the best search that costs nothing is used for all cases.",
    )
    .argument("<suite...>", "suite files (YAML or JSON)")
    .optionsGroup("Search:")
    .option(
      "--k <number>",
      "the first k documents count (default: of the suite, 5)",
      integer(1, 100),
    );
  retrieval.optionsGroup("Way and cost:").option(...viaOption);
  addRunOptions(retrieval)
    .configureHelp({
      essentials: ["--k", "--via", "--baseline", "--fail-on", "--report", "--replay"],
      examples: [
        ["knowctl eval retrieval suite.yaml --dialect onyx", "is each question's document found?"],
        [
          "knowctl eval retrieval suite.yaml --report now.json --baseline before.json",
          "what got better or worse",
        ],
      ],
    })
    .action(run(async () => (await import("./eval.ts")).evalRetrieval));
}

function addAnswers(evaluation: Command, run: Run): void {
  const answers = evaluation
    .command("answers")
    .description(
      "Ask the questions of suites, and check the answers and their sources.\n" +
        "Costs model tokens: one call or more for each question and repetition. Each question starts a new " +
        "session, which stays on the service.",
    )
    .argument("<suite...>", "suite files (YAML or JSON)")
    .optionsGroup("Checks:")
    .option(
      "--judge",
      "let the model that the suite names score the answers to `judge` expectations",
    );
  addRunOptions(answers)
    .configureHelp({
      essentials: ["--allow-tokens", "--judge", "--baseline", "--fail-on", "--report", "--replay"],
      examples: [
        ["knowctl eval answers suite.yaml", "announces the cost, and asks before it starts"],
        [
          "knowctl eval answers suite.yaml --allow-tokens 200 --report answers.html",
          "in a pipeline",
        ],
        ["knowctl eval answers suite.yaml --replay recorded", "judge recorded answers again"],
      ],
    })
    .action(run(async () => (await import("./eval.ts")).evalAnswers));
}

/** `eval retrieval` and `eval answers`. */
function addEvalRuns(evaluation: Command, run: Run): void {
  addRetrieval(evaluation, run);
  addAnswers(evaluation, run);
}

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
    .action(run(async () => (await import("./init.ts")).evalInit));
}

function addCoverage(evaluation: Command, run: Run): void {
  const coverage = evaluation
    .command("coverage")
    .description(
      "Find documents that no question retrieves or cites, and questions without a source.\n" +
        "The questions come from suites (a search is asked, as `eval retrieval` does), from JSON reports of earlier " +
        "runs, and from stored sessions. Names what it cannot know.",
    )
    .argument(
      "[input...]",
      "suites (.yaml, .yml, .json), reports (.json), and folders of documents",
    )
    .optionsGroup("Questions:")
    .option("--sessions", "also the questions of your 200 most recent sessions (onyx dialect)")
    .option("--drafts", "also ask cases with `review: true`")
    .option(
      "--replay <folder>",
      "read the search results from a recording of `eval retrieval`",
      filled,
    )
    .optionsGroup("Way and cost:")
    .option(...viaOption)
    .option(
      "--allow-tokens <calls>",
      "allow at most this many model calls without asking",
      positive,
    )
    .optionsGroup("Results:")
    .option("--report <file>", reportText, collectParsed(filled));
  addStateOption(coverage)
    .configureHelp({
      essentials: ["--sessions", "--replay", "--via", "--allow-tokens", "--report"],
      examples: [
        ["knowctl eval coverage suite.yaml docs --dialect onyx", "ask a search for each question"],
        [
          "knowctl eval coverage now.json docs --report gaps.html",
          "from an earlier run, without the service",
        ],
        ["knowctl eval coverage --sessions docs --dialect onyx", "what people asked"],
      ],
    })
    .action(run(async () => (await import("./coverage.ts")).evalCoverage));
}

/** `eval init`. */
export function addEval(program: Command, run: Run): void {
  const evaluation = program
    .command("eval")
    .description("Test search and answers with a suite of questions.");
  addInit(evaluation, run);
  addEvalRuns(evaluation, run);
  addCoverage(evaluation, run);
}
