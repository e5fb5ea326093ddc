import { describe, expect, it } from "vitest";
import { main } from "../../../main.ts";
import { startTestService } from "../../../service.ts";
import { createTestContext } from "../../../support.ts";

const files = {
  "docs/a.md": "One.\n",
  "docs/a.txt": "Two.\n",
  "docs/a/index.md": "Three.\n",
  "docs/b.md": "Four.\n",
  "docs/own.md": "---\nlink: https://x.example/docs/a\n---\nFive.\n",
  "rows.csv": "title,text\nPen,Blue\nInk,Black\n",
};

async function run(args: string): Promise<{ code: number; stderr: string }> {
  const { folder: cwd, env } = await startTestService({ files });
  const context = createTestContext({ cwd, env });
  const code = await main([...args.split(" "), "--link", "https://x.example/{slug}"], context);
  return { code, stderr: context.stderrText() };
}

describe("a template that makes one link for several files", () => {
  const line =
    "2 documents have the link of another document (first: docs/a.md and docs/a.txt: https://x.example/docs/a)";
  it.each([
    "convert docs rows.csv",
    "ingest docs rows.csv --cc-pair-id 2",
    "ingest docs --dry-run --cc-pair-id 2",
  ])("is counted in one line: %s", async (args) => {
    const { code, stderr } = await run(args);
    expect(code).toBe(0);
    expect(stderr).toContain(line);
    expect(stderr.split("link of another")).toHaveLength(2);
  });
});
