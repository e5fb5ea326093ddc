import type { Command, Option } from "commander";
import { describe, expect, it } from "vitest";
import { createProgram } from "../../src/cli/program.ts";

interface Use {
  command: string;
  option: Option;
}

function usesIn(command: Command, path: string): Use[] {
  const own = command.options.map((option) => ({ command: path, option }));
  const below = command.commands.flatMap((each) => usesIn(each, `${path} ${each.name()}`.trim()));
  return [...own, ...below];
}

const program = createProgram(() => async () => {}, { write: () => {}, width: 80, kind: "full" });
const flags = new Map<string, Use[]>();
for (const use of usesIn(program, "")) {
  const name = use.option.long!;
  flags.set(name, [...(flags.get(name) ?? []), use]);
}

/** Flags with two meanings. */
const twoMeanings: Record<string, string> = {
  "--since": "a commit for ingest, a time for chat",
  "--force": "send everything for ingest, replace the recording for chat",
  "--include": "a pattern of files; for api, status and headers, as in gh",
  "--record": "a file with the stream of one answer for chat, a folder with all responses for eval",
  "--replay": "as --record",
  "--baseline": "known findings for lint, the report of an earlier run for eval",
  "--file": "a file to upload for chat, the file to write for sessions export",
};

/** Flags with one meaning that each command applies to its own thing, and so describes in its words. */
const appliedToOwnThing: Record<string, string> = {
  "--source": "of documents to send; of connectors to show",
  "--access-type": "of the pair to create; of pairs to show",
  "--group": "of the pair to create; of pairs to show",
  "--cc-pair-id": "target of an upload; of records to show",
  "--dry-run": "does nothing of what the command would do",
  "--concurrency": "documents, or questions of a batch",
  "--via": "ways to search; searches in place of look-ups",
  "--allow-tokens": "for one search; for one question a document",
  "--gitlab-report": "failures of an upload; findings of lint",
  "--report": "of the run; of several runs together",
  "--limit": "rows to show; cases to draft",
  "--all": "records; branches of a conversation",
  "--project": "of a session; of a file",
  "--exit-code": "12 if there is a difference; of an upload only with --dry-run",
  "--local": "the file, or the index, of this machine or project",
};

const placeholderOf = ({ option }: Use): string =>
  option.flags.replace(/^(?:-\w, )?--[\w-]+ ?/, "");

/** What the flag takes: nothing, one of these words, or anything. */
function kindOf({ option }: Use): string {
  const { required, optional, variadic, negate, argChoices } = option;
  return JSON.stringify({ required, optional, variadic, negate, argChoices });
}

const shared = [...flags].filter(
  ([name, uses]) => uses.length > 1 && twoMeanings[name] === undefined,
);

const distinct = (uses: Use[], read: (use: Use) => string): Record<string, string[]> => {
  const found: Record<string, string[]> = {};
  for (const use of uses) (found[read(use)] ??= []).push(use.command);
  return found;
};

describe("a flag means the same everywhere", () => {
  it.each(shared)("%s takes the same value", (_name, uses) => {
    for (const read of [placeholderOf, kindOf, ({ option }: Use) => option.short ?? ""]) {
      const found = distinct(uses, read);
      expect(Object.keys(found), JSON.stringify(found)).toHaveLength(1);
    }
  });

  it.each(shared)("%s has one description", (name, uses) => {
    if (appliedToOwnThing[name] !== undefined) return;
    const found = distinct(uses, ({ option }) => option.description);
    expect(Object.keys(found), JSON.stringify(found)).toHaveLength(1);
  });

  it("has no exception that is not needed", () => {
    for (const name of Object.keys(twoMeanings)) expect(flags.has(name), name).toBe(true);
    for (const name of Object.keys(appliedToOwnThing)) {
      const found = distinct(flags.get(name) ?? [], ({ option }) => option.description);
      expect(Object.keys(found).length, name).toBeGreaterThan(1);
    }
  });
});
