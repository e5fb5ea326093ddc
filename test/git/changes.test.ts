import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  utimesSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { changesSince, isChanged } from "../../src/git/changes.ts";
import { createRepository, refusal, type TestRepository } from "./support.ts";

/** Ten lines, so that a changed one leaves the text similar. */
const long = (line = "last"): string => `${"some line of text\n".repeat(10)}${line}\n`;

async function changes(test: TestRepository, ref = "start", below = ""): Promise<object> {
  const { changed, changedFolders, renamed, deleted } = await changesSince(
    await test.open(below),
    ref,
  );
  return {
    ...(changed.size > 0 && { changed: [...changed].sort() }),
    ...(changedFolders.size > 0 && { folders: [...changedFolders].sort() }),
    ...(renamed.size > 0 && { renamed: Object.fromEntries(renamed) }),
    ...(deleted.size > 0 && { deleted: [...deleted].sort() }),
  };
}

const first = join(mkdtempSync(join(tmpdir(), "knowctl-changes-")), "first");
afterAll(() => rmSync(dirname(first), { recursive: true, force: true }));

/** A repository with the tag `start`: each is a copy of the first one. */
function started(): TestRepository {
  if (existsSync(first)) return createRepository(first);
  const test = createRepository();
  test.commit({ "a.md": long(), "b.md": "b\n", "docs/c.md": "c\n", ".gitignore": "*.log\n" });
  test.git("tag", "start");
  cpSync(test.root, first, { recursive: true });
  return test;
}

type Case = [name: string, change: (test: TestRepository) => void, expected: object];

const cases: Case[] = [
  ["nothing", () => {}, {}],
  ["a commit", (test) => test.commit({ "b.md": "B" }), { changed: ["b.md"] }],
  [
    "a commit and its revert",
    (test) => (test.commit({ "b.md": "B" }), test.commit({ "b.md": "b\n" })),
    {},
  ],
  [
    "a staged file",
    (test) => (test.write({ "b.md": "B" }), test.git("add", "b.md")),
    { changed: ["b.md"] },
  ],
  ["a changed file", (test) => test.write({ "b.md": "B" }), { changed: ["b.md"] }],
  [
    "a changed file of the same size",
    (test) => test.write({ "b.md": "B\n" }),
    { changed: ["b.md"] },
  ],
  ["a touched file", (test) => utimesSync(join(test.root, "b.md"), 1e9, 1e9), {}],
  ["an untracked file", (test) => test.write({ "new/n.md": "n" }), { changed: ["new/n.md"] }],
  ["an ignored file", (test) => test.write({ "n.log": "n" }), {}],
  [
    "a file that git is told to add",
    (test) => (test.write({ "n.md": "n" }), test.git("add", "-N", "n.md")),
    { changed: ["n.md"] },
  ],
  ["a removed file", (test) => rmSync(join(test.root, "b.md")), { deleted: ["b.md"] }],
  ["a removed file in the index", (test) => test.git("rm", "-q", "b.md"), { deleted: ["b.md"] }],
  [
    "a removed file in a commit",
    (test) => (test.git("rm", "-q", "b.md"), test.commit({})),
    { deleted: ["b.md"] },
  ],
  [
    "a file that only the index has not",
    (test) => test.git("rm", "-q", "--cached", "b.md"),
    { changed: ["b.md"] },
  ],
  [
    "a new file that went again",
    (test) => (test.commit({ "n.md": "n" }), rmSync(join(test.root, "n.md"))),
    {},
  ],
  [
    "a rename",
    (test) => (test.git("mv", "a.md", "z.md"), test.commit({})),
    { changed: ["z.md"], renamed: { "z.md": "a.md" } },
  ],
  [
    "a rename with a change",
    (test) => (test.git("mv", "a.md", "z.md"), test.commit({ "z.md": long("other") })),
    { changed: ["z.md"], renamed: { "z.md": "a.md" } },
  ],
  [
    "a staged rename",
    (test) => test.git("mv", "b.md", "z.md"),
    { changed: ["z.md"], renamed: { "z.md": "b.md" } },
  ],
  [
    "a rename that git does not know of",
    (test) => renameSync(join(test.root, "b.md"), join(test.root, "z.md")),
    { changed: ["z.md"], deleted: ["b.md"] },
  ],
  [
    "a rename to a file that went again",
    (test) => (test.git("mv", "b.md", "z.md"), rmSync(join(test.root, "z.md"))),
    { deleted: ["b.md"] },
  ],
  [
    "a rename whose old path is there again",
    (test) => (test.git("mv", "b.md", "z.md"), test.write({ "b.md": "new" })),
    { changed: ["b.md", "z.md"] },
  ],
  [
    "a conflict",
    (test) => {
      test.git("checkout", "-q", "-b", "side");
      test.commit({ "b.md": "side" });
      test.git("checkout", "-q", "main");
      test.commit({ "b.md": "main" });
      expect(() => test.git("merge", "side")).toThrow();
    },
    { changed: ["b.md"] },
  ],
  [
    "a submodule at another commit",
    (test) => {
      const id = test.git("rev-parse", "HEAD").trim();
      test.git("update-index", "--add", "--cacheinfo", `160000,${id},module`);
    },
    { folders: ["module"] },
  ],
  [
    "a repository within",
    (test) => (
      mkdirSync(join(test.root, "in")),
      test.git("init", "-q", "in"),
      test.write({ "in/i.md": "i" })
    ),
    { folders: ["in"] },
  ],
];

describe("changesSince", () => {
  it.each(cases)("sees %s", async (_name, change, expected) => {
    const test = started();
    change(test);
    expect(await changes(test)).toEqual(expected);
  });

  it.each([
    'quote".md',
    "line\nbreak.md",
    "tab\t.md",
    "-dash.md",
    ":(top)x.md",
    " blank .md",
    "R100",
  ])("takes the name %j as it is", async (name) => {
    const test = started();
    test.commit({ [name]: long("1") });
    expect(await changes(test)).toEqual({ changed: [name] });
    test.git("tag", "-f", "start");
    test.git("mv", "--", `./${name}`, `x/../${name}2`.slice(5));
    expect(await changes(test)).toEqual({ changed: [`${name}2`], renamed: { [`${name}2`]: name } });
    test.write({ [name]: "untracked" });
    expect(await changes(test)).toEqual({ changed: [name, `${name}2`].sort() });
  });

  it("gives paths in NFC", async () => {
    const test = started();
    test.write({ "e\u0301.md": "e" });
    expect(await changes(test)).toEqual({ changed: ["\u00e9.md"] });
  });

  it("keeps to the project root, and gives paths relative to it", async () => {
    const test = started();
    test.git("mv", "b.md", "docs/b.md");
    test.write({ "a.md": "a", "docs/c.md": "C", "docs/n.md": "n", "other/n.md": "n" });
    expect(await changes(test, "start", "docs")).toEqual({ changed: ["b.md", "c.md", "n.md"] });
  });

  it("compares with the commit itself, not with where the branches parted", async () => {
    const test = started();
    test.git("checkout", "-q", "-b", "side");
    test.commit({ "b.md": "side" });
    test.git("checkout", "-q", "main");
    expect(await changes(test, "side")).toEqual({ changed: ["b.md"] });
  });

  it("is not steered by the repository's configuration", async () => {
    const test = started();
    const settings = ["diff.relative=true", "diff.renames=false", "status.showUntrackedFiles=no"];
    for (const setting of [...settings, "status.relativePaths=true", "diff.noprefix=true"]) {
      test.git("config", ...(setting.split("=") as [string, string]));
    }
    test.git("mv", "docs/c.md", "docs/d.md");
    test.write({ "docs/n.md": "n" });
    const renamed = { "d.md": "c.md" };
    expect(await changes(test, "start", "docs")).toEqual({ changed: ["d.md", "n.md"], renamed });
  });

  it.each([
    ["nowhere", "no such commit in this repository"],
    ["--output=canary", "a commit's name does not begin with '-'"],
    ["", "names no commit"],
    ["start:docs", "no such commit in this repository"],
    ["^start", "no such commit in this repository"],
    ["start..main", "no such commit in this repository"],
    ["0123456789012345678901234567890123456789", "no such commit in this repository"],
  ])("refuses %j", async (ref, reason) => {
    const test = started();
    const error = await refusal(() => changes(test, ref));
    expect(error.message).toBe(`--since ${ref}: ${reason}`);
    expect(error.hints).not.toEqual([]);
  });

  it("takes what a shallow clone has, and names the remedy for what it lacks", async () => {
    const test = started();
    test.commit({ "b.md": "2" });
    test.git("tag", "second");
    test.commit({ "docs/c.md": "3" });
    const clone = createRepository(["--depth=2", `file://${test.root}`]);
    clone.git("fetch", "-q", "--depth=1", "origin", "tag", "second");
    expect(await changes(clone, "second")).toEqual({ changed: ["docs/c.md"] });
    const error = await refusal(() => changes(clone, "start"));
    expect(error.message).toMatch(/history here is cut off \(shallow clone\)$/);
    expect(error.hints.join("\n")).toMatch(/git fetch --unshallow[^]*fetch-depth: 0/);
  });

  it("finds equal files in a clone without contents, and fetches nothing", async () => {
    const test = started();
    test.git("config", "uploadpack.allowFilter", "true");
    test.git("mv", "b.md", "z.md");
    test.git("rm", "-q", "docs/c.md");
    test.commit({ "y.md": "y" });
    const clone = createRepository(["--filter=blob:none", `file://${test.root}`]);
    const start = clone.git("rev-parse", "origin/main~1").trim();
    const expected = {
      changed: ["y.md", "z.md"],
      renamed: { "z.md": "b.md" },
      deleted: ["docs/c.md"],
    };
    expect(await changes(clone, start)).toEqual(expected);
    expect(clone.git("rev-list", "--objects", "--all", "--missing=print")).toContain("?");
  });
});

describe("isChanged", () => {
  it("knows what lies in a folder that was changed whole", async () => {
    const test = started();
    mkdirSync(join(test.root, "in/deep"), { recursive: true });
    test.git("init", "-q", "in/deep");
    test.write({ "in/deep/x/i.md": "i", "b.md": "B" });
    const found = await changesSince(await test.open(), "start");
    const paths = ["in/deep/x/i.md", "b.md", "a.md", "in/other.md"];
    expect(paths.filter((path) => isChanged(found, path))).toEqual(["in/deep/x/i.md", "b.md"]);
  });
});
