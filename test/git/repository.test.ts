import {
  appendFileSync,
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { gitEnvironment, reasonIn, runGit, streamGit } from "../../src/git/run.ts";
import { findMissingFile, headOf, openRepository } from "../../src/git/repository.ts";
import { cleanEnvironment, temporaryFolder } from "../support.ts";
import { type TestRepository, createRepository, refusal } from "./support.ts";
import { changesSince } from "../../src/git/changes.ts";
import { lastCommits } from "../../src/git/last-commits.ts";

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
    expect(await headOf(root, test.env)).toBe(head);
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
    const { root } = createRepository();
    const error = await refusal(() => openRepository(root, { PATH: root }));
    expect(error.message).toBe("git cannot be started: it is not in PATH");
    expect(error.hints[0]).toContain("install git");
  });

  it("asks git only where a folder or one above may be a repository", async () => {
    const folder = temporaryFolder();
    const open = () => openRepository(join(folder, "a"), { PATH: folder });
    mkdirSync(join(folder, "a", ".git"), { recursive: true });
    expect(await open()).toBeUndefined();
    for (const name of [".git", "a/.git/HEAD"]) {
      // Git once made HEAD a link, which leads nowhere before the first commit.
      symlinkSync("refs/heads/main", join(folder, name));
      expect((await refusal(open)).message, name).toMatch(/^git cannot be started/);
      rmSync(join(folder, name));
    }
    expect(await open()).toBeUndefined();
  });

  it("starts no git that lies in the repository", async () => {
    const { root } = createRepository();
    mkdirSync(join(root, "tools"));
    symlinkSync("/bin/true", join(root, "tools", "git"));
    const error = await refusal(() => openRepository(root, { PATH: "tools:." }));
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

describe("findMissingFile", () => {
  it("finds nothing in a complete checkout, whatever is not tracked", async () => {
    const repository = createRepository();
    const opened = repository.open();
    expect(await findMissingFile(await opened)).toBe(undefined);
    repository.commit({ "a.md": "# A", "ä b/c.md": "# C" });
    repository.write({ "new.md": "# New" });
    expect(await findMissingFile(await repository.open())).toBe(undefined);
  });

  it("finds a file that was deleted without a commit, below the root only", async () => {
    const repository = createRepository();
    repository.commit({ "docs/ä b.md": "# A", "docs/c.md": "# C", "other.md": "# O" });
    const deletions = true;
    rmSync(join(repository.root, "other.md"));
    expect(await findMissingFile(await repository.open("docs"), { deletions })).toBe(undefined);
    rmSync(join(repository.root, "docs/ä b.md"));
    const opened = await repository.open("docs");
    expect(await findMissingFile(opened, { deletions })).toEqual({
      name: "ä b.md",
      why: "deleted",
    });
    expect(await findMissingFile(opened)).toBe(undefined);
  });

  it("finds a submodule that was not fetched", async () => {
    const repository = createRepository();
    const id = repository.commit({ "a.md": "# A" });
    mkdirSync(join(repository.root, "theme"));
    repository.git("update-index", "--add", "--cacheinfo", `160000,${id},theme`);
    expect(await findMissingFile(await repository.open())).toEqual({
      name: "theme",
      why: "submodule",
    });
    repository.write({ "theme/x.md": "# X" });
    expect(await findMissingFile(await repository.open())).toBe(undefined);
  });
});

describe("safety", () => {
  /** Settings under which git itself would run `program`. */
  const traps = (program: string): Record<string, string> => ({
    "core.fsmonitor": program,
    "core.hooksPath": join(program, "..", "hooks"),
    "core.pager": program,
    "core.editor": program,
    "core.sshCommand": program,
    "core.gitProxy": program,
    "core.askPass": program,
    "credential.helper": program,
    "diff.external": program,
    "diff.trap.command": program,
    "diff.trap.textconv": program,
    "filter.trap.clean": program,
    "filter.trap.smudge": program,
    "filter.trap.process": program,
    "filter.trap.required": "true",
    "filter.one.two.clean": program,
    "gpg.program": program,
    "gpg.openpgp.program": program,
    "log.showSignature": "true",
    "pager.log": program,
    "pager.status": program,
    "protocol.allow": "always",
    "protocol.ext.allow": "always",
    "protocol.file.allow": "always",
  });

  const hooks = ["post-index-change", "fsmonitor-watchman", "reference-transaction", "pre-auto-gc"];

  /** A repository that is a trap in every way, and the file that appears when one shuts. */
  function createTrap(): TestRepository & { start: string; canary: string } {
    const test = createRepository();
    const start = test.commit({
      "a.md": "a\n",
      "b.md": "b\n",
      "sub.md": "c\n",
      ".gitattributes": "* filter=trap diff=trap\nsub.md filter=one.two\n",
    });
    test.commit({ "c.md": "c\n" });
    const canary = join(test.root, "..", "canary");
    const program = join(test.root, ".git", "trap");
    const script = `#!/bin/sh\necho "$0 $*" >> '${canary}'\ncat\n`;
    test.write({ ".git/trap": script });
    chmodSync(program, 0o755);
    for (const hook of hooks) {
      test.write({ [`.git/hooks/${hook}`]: script });
      chmodSync(join(test.root, ".git/hooks", hook), 0o755);
    }
    const settings = Object.entries(traps(program)).map(([key, value]) => {
      const [, section, name, last] = /^(\w+)(?:\.(.+))?\.(\w+)$/.exec(key)!;
      return `[${section}${name ? ` "${name}"` : ""}]\n\t${last} = ${value}\n`;
    });
    appendFileSync(join(test.root, ".git/config"), settings.join(""));
    // Files that git has to read to know whether they changed.
    for (const name of ["a.md", "sub.md"]) utimesSync(join(test.root, name), 1e9, 1e9);
    test.write({ "b.md": "other\n", "n.md": "n\n" });
    return { ...test, start, canary };
  }

  describe("an untrusted repository", () => {
    it("would run its programs under plain git", () => {
      const trap = createTrap();
      const ran = (): string => (existsSync(trap.canary) ? readFileSync(trap.canary, "utf8") : "");
      expect(() => trap.git("status")).toThrow(/clean filter 'trap' failed/);
      expect(ran()).toContain("/trap");
      trap.git("config", "--unset", "filter.trap.process");
      rmSync(trap.canary);
      trap.git("status");
      expect(ran()).toContain("/trap");
      expect(ran()).toContain("/post-index-change");
    });

    it("runs nothing, and its index is left as it is", async () => {
      const trap = createTrap();
      rmSync(trap.canary, { force: true });
      const index = (): bigint =>
        statSync(join(trap.root, ".git", "index"), { bigint: true }).ctimeNs;
      const before = index();
      await headOf(trap.root, trap.env);
      const repository = await trap.open();
      const { changed } = await changesSince(repository, trap.start);
      expect([...changed].sort()).toEqual(["b.md", "c.md", "n.md"]);
      expect((await lastCommits(repository)).commits.size).toBe(5);
      expect(existsSync(trap.canary)).toBe(false);
      expect(index()).toBe(before);
    });

    it("fetches nothing of what a partial clone lacks", async () => {
      const source = createRepository();
      source.git("config", "uploadpack.allowFilter", "true");
      source.commit({ "a.md": `${"line\n".repeat(9)}1` });
      source.git("mv", "a.md", "b.md");
      source.commit({ "b.md": `${"line\n".repeat(9)}2` });
      const clone = createRepository(["--filter=blob:none", `file://${source.root}`]);
      const canary = join(clone.root, "..", "canary");
      clone.git("config", "remote.origin.url", `ext::sh -c touch% ${canary}`);
      clone.git("config", "protocol.ext.allow", "always");
      expect(() => clone.git("cat-file", "-p", "HEAD~1:a.md")).toThrow();
      expect(existsSync(canary)).toBe(true);
      rmSync(canary);
      const { changed, deleted } = await changesSince(await clone.open(), "HEAD~1");
      expect([...changed, ...deleted]).toEqual(["b.md", "a.md"]);
      expect(existsSync(canary)).toBe(false);
    });
  });
});
