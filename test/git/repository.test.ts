import { chmodSync, mkdirSync, realpathSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gitEnvironment, reasonIn, runGit, streamGit } from "../../src/git/run.ts";
import { openRepository } from "../../src/git/repository.ts";
import { cleanEnvironment, temporaryFolder } from "../support.ts";
import { createRepository, refusal } from "./support.ts";

describe("openRepository", () => {
  it("knows root, top, prefix and head", async () => {
    const test = createRepository();
    const head = test.commit({ "docs/a.md": "a" });
    const { root } = test;
    expect(await test.open()).toMatchObject({
      root,
      top: root,
      prefix: "",
      head,
      isShallow: false,
    });
    expect(await test.open("docs")).toMatchObject({
      root: join(root, "docs"),
      top: root,
      prefix: "docs/",
    });
  });

  it.each(["line\nbreak", "-dash", "with space/and 'quote\"", "e\u0301"])(
    "takes a root named %j",
    async (name) => {
      const test = createRepository();
      test.commit({ [`${name}/a.md`]: "a" });
      const { top, prefix } = await test.open(name);
      expect({ top, prefix }).toEqual({ top: test.root, prefix: `${name.normalize("NFC")}/` });
    },
  );

  it("has no head before the first commit", async () => {
    expect((await createRepository().open()).head).toBeUndefined();
  });

  it("is undefined outside git, in a bare repository and in a .git folder", async () => {
    const folder = realpathSync(temporaryFolder());
    const env = cleanEnvironment(folder);
    expect(await openRepository(folder, env)).toBeUndefined();
    const test = createRepository();
    expect(await openRepository(join(test.root, ".git"), test.env)).toBeUndefined();
    test.git("init", "-q", "--bare", join(folder, "bare"));
    expect(await openRepository(join(folder, "bare"), env)).toBeUndefined();
  });

  it("opens a work tree that belongs to another folder's repository", async () => {
    const test = createRepository();
    const head = test.commit({ "a.md": "a" });
    const other = join(test.root, "..", "other");
    test.git("worktree", "add", "-q", other);
    expect(await openRepository(other, test.env)).toMatchObject({ top: other, prefix: "", head });
  });

  it("ignores GIT_ variables of the caller, which may name another repository", async () => {
    const [one, other] = [createRepository(), createRepository()];
    const head = one.commit({ "a.md": "a" });
    const env = { ...one.env, GIT_DIR: join(other.root, ".git"), git_work_tree: other.root };
    expect(await openRepository(one.root, env)).toMatchObject({ top: one.root, head });
  });

  it("says that git is missing", async () => {
    const folder = temporaryFolder();
    const error = await refusal(() => openRepository(folder, { PATH: folder }));
    expect(error.message).toBe("git cannot be started: it is not in PATH");
    expect(error.hints[0]).toContain("install git");
  });

  it("starts no git that lies in the repository", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "tools"));
    symlinkSync("/bin/true", join(folder, "tools", "git"));
    const error = await refusal(() => openRepository(folder, { PATH: "tools:." }));
    expect(error.message).toBe("git cannot be started: it is not in PATH");
  });

  it("refuses a repository whose work tree is elsewhere", async () => {
    const test = createRepository();
    test.git("config", "core.worktree", temporaryFolder());
    expect((await refusal(() => test.open())).message).toMatch(
      /has its work tree in another folder$/,
    );
  });

  it("says how to trust a repository of another user", async () => {
    const test = createRepository();
    const stub = join(test.root, "stub");
    test.write({
      "stub/git": `#!/bin/sh\necho "fatal: detected dubious ownership in repository at '/srv/x'" >&2\nexit 128\n`,
    });
    chmodSync(join(stub, "git"), 0o755);
    const error = await refusal(() => openRepository(test.root, { PATH: `${stub}:/bin:/usr/bin` }));
    expect(error.message).toBe(`git refuses ${test.root}: the repository belongs to another user`);
    expect(error.hints).toEqual([
      "if you trust it: git config --global --add safe.directory '/srv/x'",
    ]);
  });

  it("says what is wrong with a broken repository", async () => {
    const test = createRepository();
    test.write({ ".git/config": "[core\n" });
    expect((await refusal(() => test.open())).message).toMatch(/^git cannot read .*bad config/);
  });

  it("refuses filters whose names cannot be turned off", async () => {
    const test = createRepository();
    test.write({ ".git/config": '[filter "a=b"]\n\tclean = touch canary\n' });
    expect((await refusal(() => test.open())).message).toContain("a filter named a=b");
  });
});

describe("running git", () => {
  it("passes no GIT_ variable on but its own", () => {
    const env = gitEnvironment({ PATH: "/bin", GIT_SSH_COMMAND: "x", Git_Dir: "y", LC_ALL: "de" });
    expect(env).toMatchObject({ PATH: "/bin", LC_ALL: "C", GIT_ALLOW_PROTOCOL: "none" });
    expect(Object.keys(env)).not.toContain("GIT_SSH_COMMAND");
    expect(Object.keys(env)).not.toContain("Git_Dir");
  });

  it.each([
    ["fatal: bad \u001b[31mthing\u0007\n", "bad  [31mthing "],
    ["warning: x\nerror: y\n", "y"],
    ["", "no reason given"],
    [`fatal: ${"word ".repeat(100)}`, `${"word ".repeat(60)}…`],
    [`fatal: no ${"x".repeat(400)}`, "no …"],
    [`fatal: ${"x".repeat(400)}`, "the reason is too long to be shown"],
  ])("shortens %j", (stderr, reason) => expect(reasonIn(stderr)).toBe(reason));

  it("ends with the signal's reason", async () => {
    const { git } = await createRepository().open();
    const reason = new Error("stop");
    const signal = AbortSignal.abort(reason);
    await expect(runGit(git, ["version"], { signal })).rejects.toBe(reason);
    await expect(streamGit(git, ["version"], { signal }).next()).rejects.toBe(reason);
  });

  it("says why git failed", async () => {
    const { git } = await createRepository().open();
    const error = await refusal(() => streamGit(git, ["ls-tree", "nowhere"]).next());
    expect(error.message).toBe("git ls-tree failed: Not a valid object name nowhere");
  });
});
