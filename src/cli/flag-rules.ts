/**
 * Flags, by long name, that have no effect together with others or without others. The command
 * line must not contain them. A variable (`KNOWCTL_STATE`) is a default for all commands: it is never
 * rejected, and a flag of the command line wins over it. The command itself checks rules that depend on a configuration or on files.
 */
export interface FlagRule {
  flags: readonly string[];
  /** Rejected unless one of these is set. */
  without?: readonly string[];
  /** Rejected together with any of these; `argument` is any argument of the command. */
  beside?: readonly string[];
  /** Why the flag has no effect; follows a colon in the message. */
  why: string;
  /** Default: to use only one of them, or to add the missing flag. */
  hint?: string;
}

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
const chatRules: readonly FlagRule[] = [
  {
    flags: ["--concurrency", "--resume"],
    without: ["--batch"],
    why: "it applies to a batch of questions",
  },
  {
    flags: ["--no-reask"],
    without: ["--resume"],
    why: "it applies to questions of an earlier batch",
  },
  {
    flags: ["--replay-speed"],
    without: ["--replay"],
    why: "nothing is replayed",
  },
  {
    flags: ["--live"],
    beside: ["--no-stream"],
    why: "an answer in one piece is not written as it comes",
  },
  {
    flags: ["--force"],
    without: ["--record"],
    why: "it replaces the file of --record",
  },
  {
    flags: questionFlags,
    beside: ["--replay"],
    why: "--replay plays a recorded answer and sends no question",
  },
  {
    flags: ["--no-sources", "--show", "--render", "--live", "--json", "--fields", "--jq", "--save"],
    beside: ["--batch"],
    why: "a batch writes its results as ndjson",
  },
  {
    flags: ["--file", "--parent", "--payload", "--record"],
    beside: ["--batch"],
    why: "it applies to a single question",
  },
];

const onlyOneFile: FlagRule = {
  flags: ["--local"],
  beside: ["--config"],
  why: "--config names the file already",
};
/** Of every command that has both. */
export const oneTarget: FlagRule = {
  flags: ["--cc-pair-id"],
  beside: ["--connector"],
  why: "both name the target",
};
const evalRules: readonly FlagRule[] = [
  {
    flags: ["--record", "--allow-tokens", "--concurrency"],
    beside: ["--replay"],
    why: "--replay judges recorded responses and sends no question",
  },
];

/** Of `ingest` and `retry`. */
const onlyPlanned: FlagRule = {
  flags: ["--price-per-million"],
  without: ["--dry-run"],
  why: "it estimates what a plan costs",
};

/** Of the commands that tell how they ended. */
const nothingToTell: FlagRule = {
  flags: ["--notify"],
  beside: ["--dry-run"],
  why: "a run that changes nothing has no result to report",
};

/** What cannot be repeated with each change. */
const watchRules: readonly FlagRule[] = [
  {
    flags: ["--dry-run", "--exit-code", "--print-config"],
    beside: ["--watch"],
    why: "it ends when its text is printed",
    hint: "remove one of them",
  },
  {
    flags: ["--shard", "--since", "--claim"],
    beside: ["--watch"],
    why: "a watch keeps the whole folder up to date",
  },
  {
    flags: ["--no-state", "--force"],
    beside: ["--watch"],
    why: "each change would send every document again",
  },
];

/** Rules by the path of the command. A new pair of conflicting flags is one entry here. */
export const flagRules: Readonly<Record<string, readonly FlagRule[]>> = {
  api: [
    {
      flags: ["--output", "--json", "--fields", "--filter", "--jq"],
      beside: ["--silent"],
      why: "--silent prints no body",
    },
  ],
  chat: chatRules,
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
      hint: "pass the file as the argument: knowctl config trust FILE",
    },
  ],
  "config unset": [onlyOneFile],
  "config use": [
    onlyOneFile,
    {
      flags: ["--profile"],
      why: "the argument names the profile",
      hint: "remove --profile",
    },
  ],
  "config validate": [
    {
      flags: ["--config"],
      beside: ["argument"],
      why: "the argument names the file already",
      hint: "use only one of them, or run the command once for each file",
    },
  ],
  "eval answers": evalRules,
  "eval coverage": [
    {
      flags: ["--allow-tokens", "--via"],
      beside: ["--replay"],
      why: "--replay reads recorded results and asks no search",
    },
  ],
  "eval init": [
    {
      flags: ["--from-sessions"],
      beside: ["argument"],
      why: "the questions come either from sessions or from files",
    },
  ],
  "eval retrieval": evalRules,
  ingest: [
    {
      flags: ["--shared-state", "--state-project", "--offline-state"],
      beside: ["--no-state"],
      why: "without a state there is none to share",
    },
    onlyPlanned,
    nothingToTell,
    {
      flags: ["--claim"],
      beside: ["--shard"],
      why: "both divide the documents among several runs",
    },
    {
      flags: ["--claim"],
      beside: ["--offline-state"],
      why: "workers claim documents from the shared record",
    },
    {
      flags: ["--run"],
      without: ["--claim"],
      why: "it names the run that workers share",
    },
    {
      flags: [
        "--dry-run",
        "--report",
        "--gitlab-report",
        "--notify",
        "--verify",
        "--force",
        "--claim",
      ],
      beside: ["--print-config"],
      why: "--print-config only prints a project file",
    },
    {
      flags: ["--wait"],
      without: ["--verify"],
      why: "an upload itself does not wait for the index",
    },
    {
      flags: ["--verify"],
      beside: ["--dry-run"],
      why: "a dry run sends nothing that could be checked",
    },
    {
      flags: ["--every", "--settle"],
      without: ["--watch"],
      why: "a single upload waits for no change",
    },
    {
      flags: ["--prune"],
      without: ["--watch"],
      why: "a single upload removes nothing",
      hint: "use `knowctl prune`, or add --watch",
    },
    {
      flags: ["--tombstone"],
      without: ["--prune"],
      why: "an upload removes nothing",
      hint: "use `knowctl prune --tombstone`, or add --watch --prune",
    },
    ...watchRules,
  ],
  retry: [
    onlyPlanned,
    nothingToTell,
    {
      flags: ["--missing"],
      beside: ["argument"],
      why: "a report names failures, and --missing takes what verify recorded",
    },
    {
      flags: ["--report", "--gitlab-report"],
      beside: ["--dry-run"],
      why: "the dry run of a retry writes no report",
      hint: "remove one of them; --output json prints the plan",
    },
  ],
  prune: [
    nothingToTell,
    {
      flags: ["--report"],
      beside: ["--dry-run"],
      why: "a dry run removes nothing",
      hint: "remove one of them; --output json prints the list",
    },
    {
      flags: ["--yes"],
      beside: ["--dry-run"],
      why: "a dry run removes nothing",
    },
  ],
  lint: [
    {
      flags: ["--write-baseline"],
      without: ["--baseline"],
      why: "it needs the file to write",
    },
    {
      flags: ["--max-warnings"],
      beside: ["--write-baseline"],
      why: "--write-baseline accepts every finding",
    },
  ],
  logout: [
    {
      flags: ["--config"],
      why: "the command removes keys only from the user file",
      hint: "remove a key from another file with `knowctl config unset KEY --config FILE`",
    },
  ],
  "report merge": [
    {
      flags: ["--shared"],
      beside: ["argument"],
      why: "the reports come from the shared record, or from files",
    },
    {
      flags: ["--shared-state", "--state-project"],
      without: ["--shared"],
      why: "the reports come from files",
    },
    {
      flags: ["--output", "--json", "--fields", "--jq"],
      beside: ["--report"],
      why: "--report prints nothing, and the extension of FILE sets the format",
      hint: "use only one of them: --report FILE.json, .xml or .html, or the flag for stdout",
    },
  ],
  "state forget": [
    {
      flags: ["--failed"],
      beside: ["--all"],
      why: "--all forgets everything, --failed only failures",
    },
  ],
  try: [
    {
      flags: [
        "--profile",
        "--config",
        "--base-url",
        "--timeout",
        "--ca-file",
        "--client-cert",
        "--client-key",
        "--proxy",
        "--root",
      ],
      why: "it talks to a local service of its own",
      hint: "to use a service and settings of yours: knowctl ingest, knowctl chat",
    },
  ],
  verify: [
    {
      flags: ["--allow-tokens"],
      without: ["--via"],
      why: "only --via chat costs tokens",
    },
    {
      flags: ["--via"],
      beside: ["--reader"],
      why: "what a search does not find is not hidden for sure",
    },
    {
      flags: ["--expect"],
      without: ["--reader"],
      why: "a leak test compares the view of another reader with your own",
    },
    {
      flags: ["--sample", "--since-last"],
      beside: ["--explain"],
      why: "--explain shows one file",
    },
    {
      flags: ["--depth"],
      beside: ["--explain"],
      why: "--explain shows all evidence",
    },
  ],
};
