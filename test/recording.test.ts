import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { entryLine, headLine, readRecording, type RecordedEntry } from "../src/recording.ts";
import { temporaryFolder } from "./support.ts";

function file(content: string): string {
  const path = join(temporaryFolder(), "answer.ndjson");
  writeFileSync(path, content);
  return path;
}

async function readFile(path: string): Promise<RecordedEntry[]> {
  const entries: RecordedEntry[] = [];
  for await (const entry of readRecording(path)) entries.push(entry);
  return entries;
}

const read = (content: string): Promise<RecordedEntry[]> => readFile(file(content));

const head = headLine(new Date(0), "hi");
const entries: RecordedEntry[] = [
  { atMs: 1.5, line: '{"obj":{"type":"message_delta","content":"a\u2028ü"}}' },
  { atMs: 3, reply: "{}" },
  { atMs: 4, end: "error", exit: "auth" },
  { atMs: 5, end: "ok", exit: null },
];

describe("readRecording", () => {
  it("gives what was written, in order", async () => {
    expect(await read(head + entries.map(entryLine).join(""))).toEqual(entries);
  });

  it("leaves out a last line that a kill has cut, and nothing else", async () => {
    const [first, second] = entries.map(entryLine);
    for (let cut = 0; cut < (second?.length ?? 0) - 1; cut++) {
      expect(await read(head + first + second?.slice(0, cut))).toEqual(entries.slice(0, 1));
    }
  });

  it("skips entries and members that it does not know", async () => {
    const more = '{"atMs":1,"comment":"later"}\n{"atMs":2,"line":"x","size":3}\n';
    expect(await read(head + more)).toEqual([{ atMs: 2, line: "x" }]);
  });

  it.each([
    ["an empty file", "", "it is empty"],
    ["another file", '{"a":1}\n', "its first line is not the head"],
    ["a broken line", `${head}{"atMs":1,"line":"x"}\nnot json\n`, "line 3 is not an entry"],
    ["a time that is none", `${head}{"atMs":-1,"line":"x"}\n`, "line 2 is not an entry"],
    ["a newer version", '{"knowctl":"recording","version":2}\n', "newer knowctl"],
  ])("refuses %s", async (_name, content, words) => {
    await expect(read(content)).rejects.toMatchObject({
      exit: "usage",
      message: expect.stringContaining(words) as string,
    });
  });

  it("names a file that is missing", async () => {
    const path = join(temporaryFolder(), "none");
    await expect(readFile(path)).rejects.toMatchObject({
      exit: "usage",
      message: `cannot read the recording ${path}: no such file`,
    });
  });
});
