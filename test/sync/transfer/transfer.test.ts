import { expect, it } from "vitest";
import { partsText, pathsInParts } from "../../../src/documents/parts/parts.ts";
import { exportLines } from "../../../src/sync/transfer/export.ts";
import { parseTransferLine } from "../../../src/sync/transfer/transfer.ts";
import { openTestState } from "../open-state.ts";

it("an exported state has the paths of parts, not the stamps of this machine", async () => {
  const state = await openTestState();
  const file = { path: "a.md", part: 0, seen: "s m", content: "c", skipped: "empty" };
  const parts = partsText(
    new Map([
      ["x/b.md", "1:2:3:4"],
      ["gone|.md", ""],
    ]),
  );
  state.save({ files: [{ ...file, parts, document: undefined, target: undefined }] });
  const line = [...exportLines(state)].find((each) => each.includes('"file"')) ?? "";
  expect(JSON.parse(line)).toMatchObject({ path: "a.md", parts: ["x/b.md", "gone|.md"] });
  expect(line).not.toContain("1:2:3:4");
  const record = parseTransferLine(line);
  expect(record).toMatchObject({ type: "file", record: { path: "a.md", seen: "" } });
  const read = record.type === "file" ? record.record.parts : undefined;
  expect(pathsInParts(read ?? "")).toEqual(["x/b.md", "gone|.md"]);
});

it.each(["x", [1], ["a\0b"], { a: "b" }])(
  "parts of an exported state are paths, not %j",
  (parts) => {
    const line = JSON.stringify({ type: "file", path: "a.md", content: "c", skipped: "x", parts });
    expect(() => parseTransferLine(line)).toThrow("parts: expected a list of strings");
  },
);
