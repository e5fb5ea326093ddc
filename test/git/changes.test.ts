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

/** Files of a commit, each of its own length, so that none looks like another. */
const files = (names: string): Record<string, string> =>
  Object.fromEntries(
    names.split(" ").map((name, index) => [`${name}.md`, `${name}\n`.repeat(index + 1)]),
  );

describe("changesSince", () => {
  it("sees a conflict", async () => {
    const test = started();
    test.git("checkout", "-q", "-b", "side");
    test.commit({ "b.md": "side" });
    test.git("checkout", "-q", "main");
    test.commit({ "b.md": "main" });
    expect(() => test.git("merge", "side")).toThrow();
    expect(await changes(test)).toEqual({ changed: ["b.md"] });
  });

  it("sees what was committed, staged, changed, added, removed and renamed", async () => {
    const test = createRepository();
    const start = files(
      "committed staged changed reverted same-size touched removed dropped rid untracked moved rewritten restaged lost gone back",
    );
    test.commit({ ...start, "rewritten.md": long(), ".gitignore": "*.log\n" });
    test.git("tag", "start");
    const at = (name: string): string => join(test.root, name);

    expect(await changes(test)).toEqual({});

    test.git("rm", "-q", "rid.md");
    test.git("mv", "moved.md", "moved-2.md");
    test.git("mv", "rewritten.md", "rewritten-2.md");
    test.commit({ "committed.md": "C", "short-lived.md": "n", "reverted.md": "R" });
    test.commit({ "rewritten-2.md": long("other"), "reverted.md": start["reverted.md"]! });

    test.git("rm", "-q", "dropped.md");
    test.git("rm", "-q", "--cached", "untracked.md");
    test.git("mv", "restaged.md", "restaged-2.md");
    test.git("mv", "gone.md", "gone-2.md");
    test.git("mv", "back.md", "back-2.md");
    test.write({ "staged.md": "S", "intended.md": "n" });
    test.git("add", "staged.md");
    test.git("add", "-N", "intended.md");
    const id = test.git("rev-parse", "HEAD").trim();
    test.git("update-index", "--add", "--cacheinfo", `160000,${id},module`);
    test.git("init", "-q", "in");

    for (const name of ["short-lived.md", "removed.md", "gone-2.md"]) rmSync(at(name));
    utimesSync(at("touched.md"), 1e9, 1e9);
    renameSync(at("lost.md"), at("found.md"));
    const same = start["same-size.md"]!.toUpperCase();
    test.write({ "changed.md": "longer than before\n".repeat(9), "same-size.md": same });
    test.write({ "new/n.md": "n", "n.log": "n", "in/i.md": "i", "back.md": "new" });

    expect(await changes(test)).toEqual({
      changed: [
        "back-2.md",
        // The old path of a rename is there again.
        "back.md",
        "changed.md",
        "committed.md",
        // A rename that git does not know of.
        "found.md",
        // Git is told to add it.
        "intended.md",
        "moved-2.md",
        "new/n.md",
        "restaged-2.md",
        "rewritten-2.md",
        "same-size.md",
        "staged.md",
        // Only the index has it not.
        "untracked.md",
      ],
      // A submodule at another commit, a repository within.
      folders: ["in", "module"],
      renamed: {
        "moved-2.md": "moved.md",
        "rewritten-2.md": "rewritten.md",
        "restaged-2.md": "restaged.md",
      },
      // `gone.md` was renamed to a file that went again.
      deleted: ["dropped.md", "gone.md", "lost.md", "removed.md", "rid.md"],
    });
  });

  it("takes odd names as they are", async () => {
    const names = [
      'quote".md',
      "line\nbreak.md",
      "tab\t.md",
      "-dash.md",
      ":(top)x.md",
      " blank .md",
      "R100",
    ];
    const test = started();
    // Renamed, each is told by its text.
    test.commit(Object.fromEntries(names.map((name) => [name, name.repeat(50)])));
    expect(await changes(test)).toEqual({ changed: names.toSorted() });
    test.git("tag", "-f", "start");
    for (const name of names) renameSync(join(test.root, name), join(test.root, `${name}2`));
    test.git("add", "-A");
    const renamed = Object.fromEntries(names.map((name) => [`${name}2`, name]));
    expect(await changes(test)).toEqual({ changed: Object.keys(renamed).sort(), renamed });
    test.write(Object.fromEntries(names.map((name) => [name, "untracked"])));
    const both = [...names, ...Object.keys(renamed)];
    expect(await changes(test)).toEqual({ changed: both.sort() });
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
