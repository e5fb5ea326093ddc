/** The formats of every list: the names of the writers in output/formats/writers.ts. */
export const listFormats = ["table", "json", "ndjson", "yaml", "csv", "tsv"] as const;
const uploads = ["text", "table", "json", "ndjson"] as const;

/** A flag that selects parts of the output. */
export type SelectionFlag = "fields" | "filter" | "jq";

/** Output of a command: the formats of `--output`, and the flags that select parts of it. */
export interface OutputForm {
  formats: readonly string[];
  selection: readonly SelectionFlag[];
  /** Alternative to a rejected flag. */
  hint?: string;
}

const listForm: OutputForm = { formats: listFormats, selection: ["fields", "filter", "jq"] };
const recordForm: OutputForm = {
  formats: listFormats,
  selection: ["fields", "jq"],
  hint: "--filter is for lists; this is one record: select members with --fields",
};
const uploadForm: OutputForm = {
  formats: uploads,
  selection: [],
  hint: "pipe the JSON: knowctl ingest … --output ndjson | jq …; or use `knowctl state list`",
};
const answerForm: OutputForm = {
  formats: ["text", "json", "ndjson", "packets"],
  selection: ["fields", "jq"],
  hint: "--filter is for lists; this is one answer: select members with --fields or --jq",
};
/** One object with a summary and many items. */
const reportForm: OutputForm = {
  formats: ["text", "json", "ndjson"],
  selection: ["fields", "jq"],
  hint: "--filter is for lists; this is one report: select members with --fields or --jq",
};
const stateForm = noForm("to select records, use `knowctl state list`");

/** The command prints no data: it has no formats and nothing to select. */
function noForm(hint = "remove the flag"): OutputForm {
  return { formats: [], selection: [], hint };
}

/** Commands that do not print a list. Formats and flags not listed here are rejected (exit 2). */
const special: Readonly<Record<string, OutputForm>> = {
  api: { ...listForm, formats: [...listFormats, "raw"] },
  chat: answerForm,
  completion: noForm(),
  "config get": noForm("for another form: knowctl config show --fields KEY --json"),
  "config init": noForm("to see what was saved: knowctl config show --json"),
  "config schema": noForm("the output is JSON: pipe it to jq"),
  "config set": noForm("to see what was saved: knowctl config show --json"),
  "config trust": noForm(),
  "config unset": noForm("to see what is left: knowctl config show --json"),
  "config use": noForm("to see the profiles: knowctl config list --json"),
  "config validate": noForm(),
  convert: {
    formats: ["ndjson"],
    selection: [],
    hint: "pipe the documents: knowctl convert … | jq …",
  },
  "connectors create": recordForm,
  "connectors find": noForm("for more than the id: knowctl connectors get NAME"),
  "connectors get": recordForm,
  "eval answers": reportForm,
  "eval coverage": reportForm,
  "eval init": noForm("the output is YAML: write it to a file with --out FILE"),
  "eval retrieval": reportForm,
  explain: recordForm,
  ingest: uploadForm,
  lint: {
    formats: ["text", "json", "ndjson", "sarif", "junit"],
    selection: ["fields", "jq"],
    hint: "--filter is for lists; this is one report: select members with --fields or --jq",
  },
  login: noForm(),
  logout: noForm(),
  mcp: noForm("clients read the protocol from stdout"),
  "mcp install": noForm("to see the entry: knowctl mcp --print-config CLIENT"),
  "mcp uninstall": noForm(),
  skill: noForm("it prints Markdown"),
  "report merge": recordForm,
  retry: uploadForm,
  sandbox: noForm(),
  "sessions delete": noForm("to see the sessions: knowctl sessions list"),
  "sessions export": { ...recordForm, formats: ["text", "markdown", ...listFormats] },
  "sessions recover": { ...answerForm, formats: ["text", "json", "ndjson"] },
  "sessions rename": noForm("to see the sessions: knowctl sessions list"),
  "sessions show": { ...recordForm, formats: ["text", ...listFormats] },
  "state export": stateForm,
  "state forget": stateForm,
  "state import": stateForm,
  "state move": stateForm,
  "state push": stateForm,
  "state share": stateForm,
  "state unshare": stateForm,
  status: reportForm,
  verify: reportForm,
  try: noForm("for answers as JSON: knowctl sandbox, and knowctl chat --json"),
};

/** Output of the command with this path (`connectors list`). */
export function formOf(path: string): OutputForm {
  return special[path] ?? listForm;
}

/** Values of `--output` for the command with this path (`connectors list`). */
export function formatsOf(path: string): readonly string[] {
  return formOf(path).formats;
}

/** Formats of all commands. */
export const allFormats: readonly string[] = [
  ...new Set([...listFormats, ...Object.values(special).flatMap(({ formats }) => formats)]),
];
