/**
 * Flags that have no effect in some company. A flag stands here by its long name; it is refused
 * where the command line gives it. A variable (`KNOWCTL_LOCAL=1`) is a default for all commands: it
 * is never refused. What depends on a configuration or on files is checked by the command itself.
 */
export interface FlagRule {
  flags: readonly string[];
  /** Refused unless one of these is set. */
  without?: readonly string[];
  /** Refused beside any of these; `argument` is any argument of the command. */
  beside?: readonly string[];
  /** Why it has no effect; a sentence's end behind a colon. */
  why: string;
  hint: string;
}

const onlyOneFile: FlagRule = {
  flags: ["--local"],
  beside: ["--config"],
  why: "--config names the file already",
  hint: "give one of them",
};
const removes = ["--prune", "--tombstone"];

/** Flags of a question, which is asked. */
const askingFlags = [
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

/** By the path of the command. A new flag without effect beside another one is one entry here. */
export const flagRules: Readonly<Record<string, readonly FlagRule[]>> = {
  api: [
    {
      flags: ["--output", "--json", "--fields", "--filter", "--jq"],
      beside: ["--silent"],
      why: "--silent prints no body",
      hint: "give one of them",
    },
  ],
  chat: [
    {
      flags: ["--concurrency", "--resume"],
      without: ["--batch"],
      why: "it is about many questions",
      hint: "add --batch FILE, or leave it out",
    },
    {
      flags: ["--no-reask"],
      without: ["--resume"],
      why: "it is about questions of an earlier batch",
      hint: "add --resume RESULTS, or leave it out",
    },
    {
      flags: ["--replay-speed"],
      without: ["--replay"],
      why: "nothing is replayed",
      hint: "add --replay FILE, or leave it out",
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
      hint: "add --record FILE, or leave it out",
    },
    {
      flags: askingFlags,
      beside: ["--replay"],
      why: "a recorded answer is played and nothing is asked",
      hint: "leave one of them out",
    },
    {
      flags: [
        "--no-sources",
        "--show",
        "--render",
        "--live",
        "--json",
        "--fields",
        "--jq",
        "--save",
      ],
      beside: ["--batch"],
      why: "a batch writes its results as ndjson",
      hint: "leave one of them out",
    },
    {
      flags: ["--file", "--parent", "--payload", "--record"],
      beside: ["--batch"],
      why: "it is for one question",
      hint: "leave one of them out",
    },
  ],
  "config init": [
    {
      flags: ["--config"],
      why: "a profile is saved in the user file",
      hint: "change another file with `knowctl config set KEY VALUE --config FILE`",
    },
  ],
  "config set": [onlyOneFile],
  "config trust": [
    {
      flags: ["--config"],
      why: "the argument names the file to trust",
      hint: "give the file as the argument: knowctl config trust FILE",
    },
  ],
  "config unset": [onlyOneFile],
  "config use": [
    onlyOneFile,
    {
      flags: ["--profile"],
      why: "the argument names the profile",
      hint: "leave --profile out",
    },
  ],
  "config validate": [
    {
      flags: ["--config"],
      beside: ["argument"],
      why: "the argument names the file already",
      hint: "give one of them, or run the command once for each",
    },
  ],
  "ingest orphans": [
    {
      flags: ["--yes"],
      without: removes,
      why: "the documents are only listed",
      hint: "add --prune or --tombstone to remove them, or leave --yes out",
    },
  ],
  logout: [
    {
      flags: ["--config"],
      why: "keys are stored in the user file, and removed from it",
      hint: "remove a key from another file with `knowctl config unset KEY --config FILE`",
    },
  ],
  "report merge": [
    {
      flags: ["--output", "--json", "--fields", "--jq"],
      beside: ["--report"],
      why: "nothing is printed then, and the extension of FILE names its form",
      hint: "give one of them: --report FILE.json, .xml or .html, or the flag for stdout",
    },
  ],
  "state forget": [
    {
      flags: ["--failed"],
      beside: ["--all"],
      why: "--all forgets everything, --failed only failures",
      hint: "give one of them",
    },
  ],
  "state merge": [
    {
      flags: ["--state", "--root"],
      beside: ["--out"],
      why: "--out writes a file, and no state is opened",
      hint: "give one of them",
    },
  ],
};
