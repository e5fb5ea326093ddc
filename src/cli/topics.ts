import { exitCodes } from "../errors.ts";
import { globalOptions } from "./options.ts";
import { list, section, wrap, type Item } from "./layout.ts";

/** Text, or a list in two columns. */
type Part = string | { title: string; items: readonly Item[] };

function exitCodeItems(): Item[] {
  return Object.entries(exitCodes).map(([name, { code, when }]) => [
    `${String(code).padEnd(4)}${name}`,
    when,
  ]);
}

function globalFlagParts(): Part[] {
  const options = globalOptions();
  const titles = [...new Set(options.map((each) => each.helpGroupHeading ?? ""))];
  const own: Item[] = [
    ["-V, --version", "show the version"],
    ["-h", "short help: the flags that matter most, two examples"],
    ["--help", "complete help"],
  ];
  return [
    ...titles.map((title) => ({
      title,
      items: options
        .filter((each) => each.helpGroupHeading === title)
        .map((each): Item => [each.flags, each.description]),
    })),
    { title: "Help:", items: own },
  ];
}

const environment: readonly Part[] = [
  "Every global flag has a variable: --base-url is KNOWCTL_BASE_URL (`knowctl help global-flags`). " +
    "A flag wins over its variable, and an empty variable counts as unset. A switch takes 1 or 0, " +
    "true or false; a repeatable flag takes values separated by commas.",
  {
    title: "Keys:",
    items: [
      ["KNOWCTL_API_KEY", "key for uploads; used for everything if it is the only key"],
      ["KNOWCTL_ACCESS_TOKEN", "key for listing, chat and administration"],
      ["KNOWCTL_CLIENT_KEY_PASSPHRASE", "passphrase of the key of the client certificate"],
      ["KNOWCTL_SANDBOX_KEY", "key that the sandbox accepts"],
      ["KNOWCTL_SANDBOX_LLM_KEY", "key of the language model of the sandbox"],
    ],
  },
  {
    title: "Defaults of flags, for commands that have them:",
    items: [
      ["KNOWCTL_CC_PAIR_ID, KNOWCTL_CONNECTOR", "target: --cc-pair-id, --connector"],
      ["KNOWCTL_STATE", "folder of the state: --state"],
      ["KNOWCTL_CONCURRENCY, KNOWCTL_RATE", "pace: --concurrency, --rate"],
    ],
  },
  "No other flag has a variable: what deletes, permits or spends stands on the command line.",
  {
    title: "Other variables:",
    items: [
      ["KNOWCTL_TRUST_PROJECT", "1 trusts the project file, and files of another owner"],
      ["HTTPS_PROXY, HTTP_PROXY, ALL_PROXY", "proxy, unless --proxy or the profile names one"],
      ["NO_PROXY", "hosts that are reached without a proxy"],
      ["NODE_EXTRA_CA_CERTS", "file with additional certificate authorities"],
      ["NO_COLOR, FORCE_COLOR", "colour off, colour on"],
      ["FORCE_HYPERLINK", "1 or 0: whether the terminal has hyperlinks"],
      ["CI", "no questions and no moving progress"],
      ["XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_DATA_HOME", "folders of the user's files"],
    ],
  },
];

/** Variables of this tool that the topic names: those of no flag, and those of single commands. */
export const namedVariables: readonly string[] = environment
  .flatMap((part) =>
    typeof part === "string" ? [] : part.items.flatMap(([names]) => names.split(", ")),
  )
  .filter((name) => name.startsWith("KNOWCTL_"));

const configuration: readonly Part[] = [
  "Nothing has to be configured: flags or variables are enough. `knowctl config init` asks for " +
    "address and key, tests them, and saves a profile.",
  {
    title: "The first place that has a value wins:",
    items: [
      ["1  flag", "--base-url"],
      ["2  variable", "KNOWCTL_BASE_URL"],
      ["3  project file", "searched from the working directory up to the git root"],
      ["4  user file", "profiles and keys"],
      ["5  default", "built in"],
    ],
  },
  {
    title: "Files:",
    items: [
      ["~/.config/knowctl/config.json", "user file (Windows: %APPDATA%\\knowctl)"],
      [".cliconfig.json", "project file: what is uploaded, and how"],
      [".knowctl", "state in the project root: what was uploaded"],
    ],
  },
  {
    title: "Commands:",
    items: [
      ["knowctl config show --origin", "the values in effect, and where each comes from"],
      ["knowctl config set KEY VALUE", "change the user file; --local: the project file"],
      ["knowctl config validate", "check the files"],
      ["knowctl config trust", "approve addresses and keys in a project file"],
      ["knowctl config schema", "every key, as JSON Schema"],
    ],
  },
];

const formats: readonly Part[] = [
  "Data goes to stdout; progress, warnings and errors go to stderr.",
  {
    title: "--output of lists and records:",
    items: [
      ["table", "for people; default of lists on a terminal"],
      ["tsv", "tab-separated without a header; default of lists in a pipe"],
      ["json", "one document; --json is short for it; default of single records in a pipe"],
      ["ndjson", "one JSON record per line"],
      ["yaml", "one document"],
      ["csv", "with a header, for spreadsheets"],
    ],
  },
  {
    title: "Other commands:",
    items: [
      ["chat", "text (default), json, ndjson, packets (the stream as it was received)"],
      ["ingest", "text (default), table, json, ndjson"],
      ["sessions show", "text, and the formats of lists"],
      ["sessions export", "markdown, text, and the formats of lists"],
      ["api", "the formats of lists, and raw (any bytes)"],
    ],
  },
  "json, ndjson and packets hold the complete data. The other formats remove control characters " +
    "and escape sequences.",
];

const filters: readonly Part[] = [
  "Rows of any list: --filter, repeatable; a row must pass every filter. Upper and lower case " +
    "are the same to ~ and !~.",
  {
    title: "--filter:",
    items: [
      ["key=value", "equal"],
      ["key!=value", "not equal"],
      ["key~glob", "matches a pattern with * and ?"],
      ["key!~glob", "does not match"],
    ],
  },
  {
    title: "What is printed:",
    items: [
      ["--fields a,b.c", "columns or members, in this order; b.c is a member of b"],
      ["--jq EXPR", "the result of a jq expression on the JSON; text comes without quotes"],
    ],
  },
  {
    title: "Documents that an answer may use (chat):",
    items: [
      ["--source-type TYPE", "of this source type"],
      ["--document-set NAME", "in this document set"],
      ["--filter-tag KEY=VALUE", "with this tag"],
      ["--since WHEN", "newer than 7d, 12h or 2026-01-31"],
    ],
  },
];

/** Topics of `knowctl help TOPIC`. */
const topics: Readonly<Record<string, () => readonly Part[]>> = {
  "exit-codes": () => [
    { title: "Exit codes:", items: exitCodeItems() },
    "An exit code other than 0 comes with a line on stderr that says why. Scripts must treat an " +
      "unknown code as a failure.",
  ],
  environment: () => environment,
  configuration: () => configuration,
  formats: () => formats,
  filters: () => filters,
  "global-flags": () => [
    "These flags may stand before or after the command.",
    ...globalFlagParts(),
  ],
};

export const topicNames: readonly string[] = Object.keys(topics);

/** Text of a topic in lines of at most `width` columns; undefined for any other word. */
export function topicText(name: string, width: number): string | undefined {
  if (!Object.hasOwn(topics, name)) return undefined;
  const parts = topics[name]?.() ?? [];
  const lines = parts.flatMap((part, index) =>
    typeof part === "string"
      ? [...(index === 0 ? [] : [""]), wrap(part, width)]
      : section(part.title, list(part.items, width)),
  );
  return `${lines.join("\n").trimStart()}\n`;
}
