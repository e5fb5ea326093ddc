import { execFileSync } from "node:child_process";
import { lstatSync, mkdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { holdsRecorded } from "../../src/documents/content.ts";
import type { LookItem } from "../../src/documents/inspection.ts";
import { isAsRecorded } from "../../src/documents/recorded.ts";
import { stampOf } from "../../src/documents/stamp.ts";
import { createFolder } from "./folder.ts";

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
  expect(isAsRecorded(item, root)).toBe(byStamp);
  expect(isAsRecorded({ ...item, path: "elsewhere.md", absolutePath: path }, root)).toBe(byStamp);
  // A content is asked for, or nothing is known: the stamp must not answer.
  expect(isAsRecorded({ ...item, content: "hash" }, root)).toBe(false);
  expect(isAsRecorded({ ...item, stamp: undefined }, root)).toBe(false);
  const isText = (bytes: Buffer): boolean => bytes.toString() === recordedText;
  expect(holdsRecorded(path, recordedText.length, isText)).toBe(byContent);
});
