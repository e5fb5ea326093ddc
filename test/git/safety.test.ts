import { chmodSync, existsSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { changesSince } from "../../src/git/changes.ts";
import { lastCommits } from "../../src/git/last-commits.ts";
import { createRepository, type TestRepository } from "./support.ts";

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
  for (const [key, value] of Object.entries(traps(program))) test.git("config", key, value);
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
