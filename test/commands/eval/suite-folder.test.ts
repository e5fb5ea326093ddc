import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { dialects } from "../../../src/api/dialects.ts";
import { openOutput } from "../../../src/commands/connect.ts";
import { openFolder, readSuiteFolder } from "../../../src/commands/eval/project.ts";
import { createTestContext } from "../../support.ts";

const root = mkdtempSync(join(tmpdir(), "knowctl-test-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const files: Readonly<Record<string, string>> = {
  ".cliconfig.json": JSON.stringify({ ingest: { idPrefix: "hb/", exclude: ["docs/old/**"] } }),
  ".gitignore": "docs/ignored.md\n",
  "docs/a b.md": "# A\n\ntext\n",
  "docs/own.md": "---\nid: own-id\n---\n# Own\n\ntext\n",
  "docs/draft.md": "---\ndraft: true\n---\n# D\n\ntext\n",
  "docs/empty.md": "",
  "docs/old/plan.md": "# Plan\n\ntext\n",
  "docs/ignored.md": "# I\n\ntext\n",
  "docs/faq.csv": "id,title,text\nq1,One,first\nq2,Two,second\n",
};

async function folderOf(paths: readonly string[]) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const context = createTestContext({ cwd: root });
  const folder = await openFolder(context, openOutput(context, {}), [], { root });
  try {
    return await readSuiteFolder(folder, paths, (id) => [dialects.onyx.storedId!(id)]);
  } finally {
    await folder.close();
  }
}

describe("the folder of a suite", () => {
  it("knows the stored ids of files, and of each row", async () => {
    const folder = await folderOf(["docs/a b.md", "docs/own.md", "docs/faq.csv"]);
    expect(folder.idsOfPath("docs/a b.md")).toEqual(["hb%2Fdocs%2Fa_b.md"]);
    expect(folder.idsOfPath("docs/own.md")).toEqual(["own-id"]);
    expect(folder.idsOfPath("docs/faq.csv")).toEqual(["q1", "q2"]);
    expect(folder.leftOut("docs/faq.csv")).toBeUndefined();
  });

  it.each([
    ["docs/draft.md", /draft/],
    ["docs/empty.md", /empty/],
    ["docs/old/plan.md", /`exclude` of the configuration/],
    ["docs/ignored.md", /hidden, ignored/],
    ["docs", /it is a folder/],
  ])("says why %s is left out", async (path, reason) => {
    const folder = await folderOf([path]);
    expect(folder.leftOut(path)).toMatch(reason);
    expect(folder.idsOfPath(path)).toEqual([]);
  });

  it("has no reason for what does not exist, and looks at nothing outside", async () => {
    const folder = await folderOf(["docs/none.md", "../secret", "/etc/passwd"]);
    for (const path of ["docs/none.md", "../secret", "/etc/passwd"]) {
      expect(folder.leftOut(path)).toBeUndefined();
    }
    expect(folder.paths).toContain("docs/a b.md");
    expect(folder.paths).not.toContain("docs/ignored.md");
  });
});
