import { expect, it } from "vitest";
import { knownMembers } from "../../src/checks/eval/suite/suite-schema.ts";
import { words } from "../../src/checks/eval/words.ts";
import { commandNames } from "../../src/commands/chat/conversation/commands.ts";
import { checks } from "../../src/commands/doctor/doctor.ts";
import { formats } from "../../src/documents/formats/formats.ts";
import { listFormats } from "../../src/cli/formats.ts";
import { orphanClasses } from "../../src/sync/orphans/orphan-classes.ts";
import { namesIn, rowsOf } from "./pages.ts";

// Tables that people write about names that the program knows: each name has its row, and no row a
// name that is gone.

const extensions = Object.values(formats).flatMap((format) =>
  format.extensions.map((extension) => `.${extension}`),
);

it.each([
  ["docs/chat.md", "command", commandNames.map((name) => `/${name}`)],
  ["docs/doctor.md", "check", checks.map(({ name }) => name)],
  ["docs/eval-suites.md", "member", knownMembers["cases"] ?? []],
  ["docs/eval-suites.md", "word", [...Object.keys(words), "judge"]],
  // `.gz` may follow any of them.
  ["docs/formats.md", "format", [...extensions, ".gz"]],
  ["docs/prune.md", "class", [...orphanClasses, "shared"]],
])("%s: the table by %s has every name", (page, column, names) => {
  const first = rowsOf(page, column).map(([cell = ""]) => cell);
  // `/open N` is the command `/open`.
  const found = first.flatMap(namesIn).map((name) => name.split(" ")[0]!);
  expect(found.toSorted()).toEqual(names.toSorted());
});

it("docs/api.md has every format of a list", () => {
  const [, meaning = ""] = rowsOf("docs/api.md", "flag").find(([flag]) => flag === "`--output`")!;
  expect(namesIn(meaning).toSorted()).toEqual(listFormats.toSorted());
});
