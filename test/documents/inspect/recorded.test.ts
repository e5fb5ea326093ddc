import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { contentHash } from "../../../src/documents/files/bytes/file-bytes.ts";
import type { LookItem } from "../../../src/documents/inspect/inspection.ts";
import { isAsRecorded } from "../../../src/documents/inspect/recorded.ts";
import { stampOf } from "../../../src/documents/files/source-file.ts";
import { createFolder } from "../folder.ts";

const recordedText = "# as recorded\n";

// What may have become of a recorded file: by stamp, by content.
const changes: [
  name: string,
  change: (path: string) => void,
  byStamp: boolean,
  byContent: boolean,
][] = [
  ["nothing", () => {}, true, true],
  ["only its times", (path) => utimesSync(path, 1, 1), false, true],
  ["other bytes, as many", (path) => writeFileSync(path, "# AS recorded\n"), false, false],
  ["more bytes", (path) => writeFileSync(path, `${recordedText}x`), false, false],
  ["fewer bytes", (path) => writeFileSync(path, recordedText.slice(1)), false, false],
  ["no bytes", (path) => writeFileSync(path, ""), false, false],
  ["gone", (path) => rmSync(path), false, false],
  [
    "a link to the same bytes",
    (path) => {
      writeFileSync(`${path}.real`, recordedText);
      rmSync(path);
      symlinkSync(`${path}.real`, path);
    },
    false,
    false,
  ],
  [
    "a folder",
    (path) => {
      rmSync(path);
      mkdirSync(path);
    },
    false,
    false,
  ],
  [
    "a FIFO",
    (path) => {
      rmSync(path);
      execFileSync("mkfifo", [path]);
    },
    false,
    false,
  ],
];

it.each(changes)("knows a recorded file again after: %s", (_name, change, byStamp, byContent) => {
  const root = createFolder({ "docs/a.md": recordedText });
  const path = join(root, "docs", "a.md");
  const stamp = stampOf(lstatSync(path, { bigint: true }));
  change(path);
  const item: LookItem = { path: "docs/a.md", absolutePath: undefined, stamp, content: undefined };
  const setup = { settings: { root } };
  expect(isAsRecorded(item, setup)).toBe(byStamp);
  expect(isAsRecorded({ ...item, path: "elsewhere.md", absolutePath: path }, setup)).toBe(byStamp);
  // A content is asked for, or nothing is known: the stamp must not answer.
  const content = contentHash(Buffer.from(recordedText));
  expect(isAsRecorded({ ...item, content }, setup)).toBe(byContent);
  expect(isAsRecorded({ ...item, content: "hash" }, setup)).toBe(false);
  expect(isAsRecorded({ ...item, content, stamp: undefined }, setup)).toBe(false);
  const small = { settings: { root, maxFileBytes: recordedText.length - 1 } };
  expect(isAsRecorded({ ...item, content }, small)).toBe(false);
});
