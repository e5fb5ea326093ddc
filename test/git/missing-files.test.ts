import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findMissingFile } from "../../src/git/repository.ts";
import { createRepository } from "./support.ts";

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
