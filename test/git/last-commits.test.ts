import { describe, expect, it } from "vitest";
import { lastCommits, type LastCommitOptions } from "../../src/git/last-commits.ts";
import { createRepository, type TestRepository } from "./support.ts";

const day = (number: number): string => `2020-01-0${number}T12:00:00+02:00`;

/** Path to day of the month. */
async function days(
  test: TestRepository,
  below = "",
  options: LastCommitOptions = {},
): Promise<Record<string, number>> {
  const { commits } = await lastCommits(await test.open(below), options);
  const entries = [...commits].map(
    ([path, { date }]) => [path, Number(date.slice(8, 10))] as const,
  );
  return Object.fromEntries(entries);
}

describe("lastCommits", () => {
  it("gives id and committer date in UTC", async () => {
    const test = createRepository();
    const id = test.commit({ "a.md": "1" }, day(1));
    const { commits, unknown } = await lastCommits(await test.open());
    expect([...commits]).toEqual([["a.md", { id, date: "2020-01-01T10:00:00Z" }]]);
    expect(unknown).toBe(0);
  });

  it("is empty before the first commit and for a root without files", async () => {
    const test = createRepository();
    expect(await days(test)).toEqual({});
    test.commit({ "a.md": "1" });
    test.write({ "new/n.md": "n" });
    expect(await days(test, "new")).toEqual({});
  });

  it("takes the last commit that changed a file; a rename is one", async () => {
    const test = createRepository();
    test.commit({ "a.md": "1", "b.md": "1", "c.md": "1", "gone.md": "1" }, day(1));
    test.commit({ "b.md": "2" }, day(2));
    test.git("mv", "c.md", "d.md");
    test.git("rm", "-q", "gone.md");
    test.commit({}, day(3));
    test.write({ "a.md": "not committed", "untracked.md": "u" });
    expect(await days(test)).toEqual({ "a.md": 1, "b.md": 2, "d.md": 3 });
  });

  it("takes names as they are, and paths in NFC below the root", async () => {
    const names = ['q".md', "line\nbreak.md", ":100644 x", "-d", "\n:nl", "e\u0301.md"];
    const test = createRepository();
    test.commit(
      { "a.md": "a", ...Object.fromEntries(names.map((name) => [`d/${name}`, name])) },
      day(1),
    );
    const expected = Object.fromEntries(names.map((name) => [name.normalize("NFC"), 1]));
    expect(await days(test, "d")).toEqual(expected);
    expect(Object.keys(await days(test))).toHaveLength(names.length + 1);
  });

  it("takes only wanted files", async () => {
    const test = createRepository();
    test.commit({ "d/a.md": "1", "d/b.md": "1" }, day(1));
    expect(await days(test, "d", { wanted: (path) => path === "b.md" })).toEqual({ "b.md": 1 });
  });

  it("takes the commit of a branch, not its merge", async () => {
    const test = createRepository();
    test.commit({ "a.md": "1", "b.md": "1" }, day(1));
    test.git("checkout", "-q", "-b", "side");
    test.commit({ "a.md": "side" }, day(2));
    test.git("checkout", "-q", "main");
    test.commit({ "b.md": "main" }, day(3));
    test.git("merge", "-q", "--no-ff", "side");
    expect(await days(test)).toEqual({ "a.md": 2, "b.md": 3 });
  });

  it("takes a merge for what the merge itself changed", async () => {
    const test = createRepository();
    test.commit({ "a.md": "1" }, day(1));
    test.git("checkout", "-q", "-b", "side");
    test.commit({ "a.md": "side" }, day(2));
    test.git("checkout", "-q", "main");
    test.commit({ "a.md": "main" }, day(3));
    expect(() => test.git("merge", "-q", "side")).toThrow();
    test.commit({ "a.md": "both" }, day(4));
    expect(await days(test)).toEqual({ "a.md": 4 });
  });

  it("does not take what a merge threw away", async () => {
    const test = createRepository();
    test.commit({ "a.md": "1", "b.md": "1" }, day(1));
    test.git("checkout", "-q", "-b", "side");
    test.commit({ "a.md": "side", "b.md": "side" }, day(3));
    test.git("checkout", "-q", "main");
    test.commit({ "a.md": "main" }, day(2));
    test.git("merge", "-q", "-s", "ours", "--no-commit", "side");
    test.git("checkout", "-q", "side", "b.md");
    test.commit({}, day(4));
    expect(await days(test)).toEqual({ "a.md": 2, "b.md": 3 });
  });

  it("takes a revert for a change", async () => {
    const test = createRepository();
    test.commit({ "a.md": "1" }, day(1));
    test.commit({ "a.md": "2" }, day(2));
    test.commit({ "a.md": "1" }, day(3));
    expect(await days(test)).toEqual({ "a.md": 3 });
  });

  it("leaves out what a shallow history cannot know", async () => {
    const test = createRepository();
    test.commit({ "a.md": "1", "b.md": "1", "c.md": "1" }, day(1));
    test.commit({ "b.md": "2" }, day(2));
    test.commit({ "c.md": "2" }, day(3));
    const clone = createRepository(["--depth=2", `file://${test.root}`]);
    expect(await days(clone)).toEqual({ "c.md": 3 });
    const repository = await clone.open();
    expect(repository.isShallow).toBe(true);
    expect((await lastCommits(repository)).unknown).toBe(2);
    clone.git("fetch", "-q", "--unshallow");
    expect(await days(clone)).toEqual({ "a.md": 1, "b.md": 2, "c.md": 3 });
  });

  it("works in a clone without contents", async () => {
    const test = createRepository();
    test.git("config", "uploadpack.allowFilter", "true");
    test.commit({ "a.md": "1" }, day(1));
    test.commit({ "a.md": "2" }, day(2));
    const clone = createRepository(["--filter=blob:none", `file://${test.root}`]);
    expect(await days(clone)).toEqual({ "a.md": 2 });
  });

  it("is not steered by the repository's configuration", async () => {
    const test = createRepository();
    test.commit({ "d/a.md": "1" }, day(1));
    for (const setting of ["diff.relative=true", "log.showRoot=false", "log.follow=true"]) {
      test.git("config", ...(setting.split("=") as [string, string]));
    }
    expect(await days(test, "d")).toEqual({ "a.md": 1 });
  });

  it("ends with the signal's reason", async () => {
    const test = createRepository();
    test.commit({ "a.md": "1" }, day(1));
    const repository = await test.open();
    const reason = new Error("stop");
    const abort = new AbortController();
    const wanted = (): boolean => (abort.abort(reason), true);
    await expect(lastCommits(repository, { wanted, signal: abort.signal })).rejects.toBe(reason);
  });
});
