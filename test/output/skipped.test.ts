import { expect, test } from "vitest";
import { tellSkipped } from "../../src/output/ingest.ts";
import type { Output } from "../../src/output/terminal/output.ts";
import type { Styled } from "../../src/output/terminal/text.ts";

async function linesOf(skipped: { reason: string; count: number }[]): Promise<string[]> {
  const lines: string[] = [];
  const note = async ({ parts }: Styled): Promise<void> => void lines.push(parts.join(""));
  const output = { note } as unknown as Output;
  await tellSkipped(output, skipped);
  return lines;
}

test("files of other formats share one line, the most frequent first", async () => {
  const extensions = [".png", ".svg", ".yml", ".js", ".css", ".ico", ".toml"];
  const skipped = extensions.map((each, index) => {
    return { reason: `format not supported: ${each}`, count: 2000 - index };
  });
  await expect(linesOf([{ reason: "empty: no text", count: 3 }, ...skipped])).resolves.toEqual([
    "skipped 13,979: formats not supported: .png 2,000, .svg 1,999, .yml 1,998, .js 1,997, .css 1,996, 2 more",
    "skipped 3: empty: no text",
  ]);
});

test("one other format keeps its words", async () => {
  const reason = "format not supported: .png";
  await expect(linesOf([{ reason, count: 1 }])).resolves.toEqual([`skipped 1: ${reason}`]);
});
