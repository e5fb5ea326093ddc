const lists = ["table", "json", "ndjson", "yaml", "csv", "tsv"] as const;
const uploads = ["text", "table", "json", "ndjson"] as const;

/** The flags that select from the output. */
export type Picking = "fields" | "filter" | "jq";

/** What a command prints: the formats of `--output`, and the flags that select from it. */
export interface OutputForm {
  formats: readonly string[];
  picks: readonly Picking[];
  /** What to do instead of a refused flag. */
  hint?: string;
}

const listForm: OutputForm = { formats: lists, picks: ["fields", "filter", "jq"] };
const recordForm: OutputForm = {
  formats: lists,
  picks: ["fields", "jq"],
  hint: "--filter is for lists; this is one record: select members with --fields",
};
const answerForm: OutputForm = {
  formats: ["text", "json", "ndjson", "packets"],
  picks: ["fields", "jq"],
  hint: "--filter is for lists: pick members of the answer with --fields or --jq",
};
const uploadForm: OutputForm = {
  formats: uploads,
  picks: [],
  hint: "pipe its JSON on: knowctl ingest … --output ndjson | jq …; or select from knowctl state list",
};
const stateForm = noForm("to select records, use `knowctl state list`");

/** The command has no data to lay out: no format, nothing to select from. */
function noForm(hint = "leave the flag out"): OutputForm {
  return { formats: [], picks: [], hint };
}

/** Commands that print something else than a list. Flags that are not here are refused (exit 2). */
const special: Readonly<Record<string, OutputForm>> = {
  api: { ...listForm, formats: [...lists, "raw"] },
  chat: answerForm,
  completion: noForm(),
  "config get": noForm("for another form: knowctl config show --fields KEY --json"),
  "config init": noForm("to see what was saved: knowctl config show --json"),
  "config schema": noForm("it is JSON: pipe it to jq"),
  "config set": noForm("to see what was saved: knowctl config show --json"),
  "config trust": noForm(),
  "config unset": noForm("to see what is left: knowctl config show --json"),
  "config use": noForm("to see the profiles: knowctl config list --json"),
  "config validate": noForm(),
  "connectors create": recordForm,
  "connectors find": noForm("for more than the id: knowctl connectors get NAME"),
  "connectors get": recordForm,
  ingest: uploadForm,
  "ingest documents": {
    formats: ["ndjson"],
    picks: [],
    hint: "pipe the documents on: knowctl ingest documents … | jq …",
  },
  "ingest explain": recordForm,
  "ingest retry": uploadForm,
  login: noForm(),
  logout: noForm(),
  "report merge": recordForm,
  sandbox: noForm(),
  "sessions delete": noForm("to see the sessions: knowctl sessions list"),
  "sessions export": { ...recordForm, formats: ["text", "markdown", ...lists] },
  "sessions recover": { ...answerForm, formats: ["text", "json", "ndjson"] },
  "sessions rename": noForm("to see the sessions: knowctl sessions list"),
  "sessions show": { ...recordForm, formats: ["text", ...lists] },
  "state export": stateForm,
  "state forget": stateForm,
  "state import": stateForm,
  "state merge": stateForm,
};

/** What the command with this path (`connectors list`) prints. */
export function formOf(path: string): OutputForm {
  return special[path] ?? listForm;
}

/** What `--output` takes for the command with this path (`connectors list`). */
export function formatsOf(path: string): readonly string[] {
  return formOf(path).formats;
}

/** Every format that some command has. */
export const allFormats: readonly string[] = [
  ...new Set([...lists, ...Object.values(special).flatMap(({ formats }) => formats)]),
];
