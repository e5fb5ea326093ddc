import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { findTracked } from "../../src/git/tracked.ts";
import { createRepository, type TestRepository } from "./support.ts";

const names = ["state.db", "state.db-wal"];
const state = ".knowctl/state.db";

function tracked(folder: string): string | undefined {
  return findTracked(folder, names)?.name;
}

/** A repository with a state that git tracks, among files before and after it. */
function withState(): TestRepository {
  const test = createRepository();
  test.commit({ "a.md": "a", ".kept/x": "x", [state]: "s", "docs/b.md": "b", "über/c.md": "c" });
  return test;
}

const addForced = (test: TestRepository, path: string): void => void test.git("add", "-f", path);

describe("what git tracks", () => {
  it.each<[string, (test: TestRepository) => void]>([
    ["a plain index", () => {}],
    ["version 3", (test) => (test.write({ "n.md": "n" }), test.git("add", "-N", "n.md"))],
    ["version 4", (test) => test.git("update-index", "--index-version", "4")],
    ["a split index", (test) => test.git("update-index", "--split-index")],
    ["skip-worktree", (test) => test.git("update-index", "--skip-worktree", state)],
    ["assume-unchanged", (test) => test.git("update-index", "--assume-unchanged", state)],
    ["a sparse checkout", (test) => test.git("sparse-checkout", "set", "docs")],
    ["a sparse index", (test) => test.git("sparse-checkout", "set", "--sparse-index", ".knowctl")],
    [
      "many long names",
      (test) => {
        const long = "d".repeat(250);
        const paths = Array.from({ length: 40 }, (_, index) => `${`${long}/`.repeat(8)}${index}`);
        const ids = paths.map((path) => `100644 ${"1".repeat(40)}\t${path}\n`).join("");
        execFileSync("git", ["update-index", "--index-info"], { cwd: test.root, input: ids });
        for (const version of ["4", "2", "4"]) test.git("update-index", "--index-version", version);
      },
    ],
  ])("is found in %s", (_name, change) => {
    const test = withState();
    change(test);
    expect(tracked(join(test.root, ".knowctl"))).toBe(state);
    expect(tracked(join(test.root, "docs"))).toBeUndefined();
    expect(tracked(join(test.root, "nowhere", "deep"))).toBeUndefined();
  });

  it("is nothing any more once it is untracked", () => {
    const test = withState();
    test.git("rm", "-q", "--cached", "-r", ".knowctl");
    expect(tracked(join(test.root, ".knowctl"))).toBeUndefined();
  });

  it("is found with ids of SHA-256", () => {
    const test = createRepository();
    const root = join(dirname(test.root), "new");
    execFileSync("git", ["init", "-q", "--object-format=sha256", root], { env: test.env });
    mkdirSync(join(root, ".knowctl"));
    for (const name of ["a.md", state, "z.md"]) writeFileSync(join(root, name), "x");
    execFileSync("git", ["add", "-f", "."], { cwd: root, env: test.env });
    expect(tracked(join(root, ".knowctl"))).toBe(state);
    expect(tracked(root)).toBeUndefined();
  });

  it("is found in a submodule, a work tree of its own, and through a link", () => {
    const inner = withState();
    const outer = createRepository();
    outer.commit({ "a.md": "a" });
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.root, "sub");
    expect(tracked(join(outer.root, "sub", ".knowctl"))).toBe(state);
    const other = join(dirname(inner.root), "tree");
    inner.git("worktree", "add", "-q", "--detach", other);
    expect(tracked(join(other, ".knowctl"))).toBe(state);
    symlinkSync(join(inner.root, ".knowctl"), join(outer.root, "link"), "junction");
    expect(tracked(join(outer.root, "link"))).toBe(state);
  });

  it("is found where the state folder itself is a submodule", () => {
    const inner = createRepository();
    inner.commit({ "state.db": "s" });
    const outer = createRepository();
    outer.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", inner.root, ".knowctl");
    expect(tracked(join(outer.root, ".knowctl"))).toBe("state.db");
  });

  it("is found behind an empty .git, and in another case and form of its letters", () => {
    const test = createRepository();
    const paths = ["U\u0308ber/.KnowCtl/STATE.DB", "below/.knowctl/state.db-wal"];
    for (const path of paths) test.write({ [path]: "s" });
    test.write({ "below/.git/keep": "" });
    test.git("config", "core.precomposeUnicode", "false");
    const hash = test.git("hash-object", "-w", "below/.knowctl/state.db-wal").trim();
    for (const path of paths)
      test.git("update-index", "--add", "--cacheinfo", `100644,${hash},${path}`);
    expect(tracked(join(test.root, "below", ".knowctl"))).toBe(paths[1]);
    expect(tracked(join(test.root, "\u00dcber", ".knowctl"))).toBe(paths[0]);
  });

  it("is only the files of the state: others beside it do not count", () => {
    const test = createRepository();
    test.commit({ "ci/deploy.sh": "x", ".knowctl/.gitignore": "*", ".knowctl/other.db": "x" });
    expect(tracked(join(test.root, "ci"))).toBeUndefined();
    expect(tracked(join(test.root, ".knowctl"))).toBeUndefined();
    addForced(test, "ci");
    test.write({ "ci/state.db": "s" });
    addForced(test, "ci/state.db");
    expect(tracked(join(test.root, "ci"))).toBe("ci/state.db");
  });

  it.each<[string, (index: string) => void]>([
    ["damaged", (index) => writeFileSync(index, "DIRC\0\0\0\x02\0\0\0\x05nothing")],
    ["empty", (index) => writeFileSync(index, "")],
    ["a folder", (index) => (rmSync(index), mkdirSync(index))],
    ["a FIFO", (index) => (rmSync(index), execFileSync("mkfifo", [index]))],
  ])("cannot be told from an index that is %s", (_name, damage) => {
    const test = withState();
    damage(join(test.root, ".git", "index"));
    expect(() => tracked(join(test.root, ".knowctl"))).toThrow(
      expect.objectContaining({
        exit: "local",
        message: expect.stringContaining("cannot tell whether git tracks the state"),
      }),
    );
  });

  it("is nothing without an index, and with a .git that leads nowhere", () => {
    const test = withState();
    renameSync(join(test.root, ".git"), join(test.root, "kept"));
    expect(tracked(join(test.root, ".knowctl"))).toBeUndefined();
    writeFileSync(join(test.root, ".git"), "gitdir: ../nowhere\n");
    expect(tracked(join(test.root, ".knowctl"))).toBeUndefined();
    writeFileSync(join(test.root, ".git"), "gitdir: kept\n");
    expect(tracked(join(test.root, ".knowctl"))).toBe(state);
  });
});
