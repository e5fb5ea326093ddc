import type { FlagRule } from "./flag-rule.ts";

/** Flags that need a question to send. */
const questionFlags = [
  "--batch",
  "--continue",
  "--file",
  "--file-id",
  "--parent",
  "--payload",
  "--record",
  "--no-remember",
  "--session",
  "--agent",
  "--project",
  "--model",
  "--provider",
  "--model-version",
  "--temperature",
  "--tool",
  "--no-tools",
  "--force-tool",
  "--source-type",
  "--document-set",
  "--filter-tag",
  "--since",
  "--deep-research",
  "--no-stream",
  "--max-packet",
];

/** Rules of `chat`. */
export const chatRules: readonly FlagRule[] = [
  {
    flags: ["--concurrency", "--resume"],
    without: ["--batch"],
    why: "it applies to a batch of questions",
    hint: "add --batch FILE, or remove this flag",
  },
  {
    flags: ["--no-reask"],
    without: ["--resume"],
    why: "it applies to questions of an earlier batch",
    hint: "add --resume RESULTS, or remove this flag",
  },
  {
    flags: ["--replay-speed"],
    without: ["--replay"],
    why: "nothing is replayed",
    hint: "add --replay FILE, or remove this flag",
  },
  {
    flags: ["--live"],
    beside: ["--no-stream"],
    why: "an answer in one piece is not written as it comes",
    hint: "leave one of them out",
  },
  {
    flags: ["--force"],
    without: ["--record"],
    why: "it replaces the file of --record",
    hint: "add --record FILE, or remove this flag",
  },
  {
    flags: questionFlags,
    beside: ["--replay"],
    why: "--replay plays a recorded answer and sends no question",
    hint: "use only one of them",
  },
  {
    flags: ["--no-sources", "--show", "--render", "--live", "--json", "--fields", "--jq", "--save"],
    beside: ["--batch"],
    why: "a batch writes its results as ndjson",
    hint: "use only one of them",
  },
  {
    flags: ["--file", "--parent", "--payload", "--record"],
    beside: ["--batch"],
    why: "it applies to a single question",
    hint: "use only one of them",
  },
];
