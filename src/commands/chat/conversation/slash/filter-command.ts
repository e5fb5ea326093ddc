import { CliError } from "../../../../errors.ts";
import { dim } from "../../../../output/terminal/text.ts";
import { parseSince } from "../../session/time.ts";
import { settingWords, type Talk, type Work } from "../talk.ts";

/** The kinds of filters, as `/filter` names them. */
export const filterKinds = ["source", "set", "tag", "since"] as const;
type FilterKind = (typeof filterKinds)[number];

const members = {
  source: "sourceTypes",
  set: "documentSets",
  tag: "tags",
  since: "timeCutoff",
} as const satisfies Record<FilterKind, string>;

function isKind(word: string): word is FilterKind {
  return filterKinds.some((kind) => kind === word);
}

const usage = (message: string): CliError =>
  new CliError("usage", message, {
    hints: [
      "write: /filter source file, /filter set NAME, /filter tag KEY=VALUE, /filter since 30d, /filter clear",
    ],
  });

function addTag({ settings, client }: Talk, value: string): void {
  const equals = value.indexOf("=");
  if (equals < 1) throw usage(`"${value}" is not KEY=VALUE`);
  const tag: [string, string] = [value.slice(0, equals), value.slice(equals + 1)];
  // A service that reads tags as an object has one value for each key: the last value wins.
  const others = (settings.tags ?? []).filter(
    ([key]) => client.dialect.repeatsTagKeys || key !== tag[0],
  );
  settings.tags = [...others, tag];
}

function addFilter(talk: Talk, kind: FilterKind, value: string): void {
  const { settings, context } = talk;
  if (value === "") throw usage(`/filter ${kind}: a value is missing`);
  if (kind === "tag") addTag(talk, value);
  else if (kind === "since")
    settings.timeCutoff = parseSince(value, context.now(), "/filter since");
  else {
    const member = members[kind];
    settings[member] = [...new Set([...(settings[member] ?? []), value])];
  }
}

/** `/filter`: shows, adds or removes search filters. */
export async function chooseFilter(talk: Talk, _work: Work, argument: string): Promise<void> {
  const [, word = "", value = ""] = /^(\S*)\s*([\s\S]*)$/.exec(argument) ?? [];
  if (word === "clear") {
    if (value !== "" && !isKind(value)) throw usage(`there is no filter "${value}"`);
    for (const kind of filterKinds) {
      if (value === "" || value === kind) delete talk.settings[members[kind]];
    }
  } else if (isKind(word)) addFilter(talk, word, value.trim());
  else if (word !== "") throw usage(`there is no filter "${word}"`);
  const { filters } = settingWords(talk);
  await talk.output.note(
    dim(
      filters.length === 0
        ? "no filter: everything is searched"
        : `filters: ${filters.join(" · ")}`,
    ),
  );
}
