import { expect, it } from "vitest";
import {
  isRemoved,
  orphanClass,
  orphanClasses,
  type DocumentState,
  type FileState,
} from "../../../src/sync/orphans/orphan-classes.ts";

const documents: DocumentState[] = [
  "same options",
  "other options",
  "other pair",
  "row gone",
  "opted out",
];

const table: Record<FileState, (string | undefined)[]> = {
  exists: [undefined, "other-options", undefined, "row-gone", "opted-out"],
  gone: ["gone", "gone", undefined, "gone", "gone"],
  excluded: ["excluded", "other-options", undefined, "excluded", "excluded"],
  unreadable: [undefined, undefined, undefined, undefined, undefined],
};

it.each(Object.entries(table))("a file that %s", (file, expected) => {
  const classes = (owner: "own" | "adopted" | "foreign"): unknown[] =>
    documents.map((document) => orphanClass(file as FileState, document, owner));
  expect(classes("own")).toEqual(expected);
  expect(classes("adopted")).toEqual(expected.map((name) => name && "adopted"));
  expect(classes("foreign")).toEqual(expected.map((name) => name && "foreign"));
});

it.each(orphanClasses)("a document of class %s", (name) => {
  const isUsual = name === "gone" || name === "row-gone";
  expect(isRemoved(name, [])).toBe(isUsual);
  expect(isRemoved(name, [name])).toBe(true);
  expect(isRemoved(name, ["gone"])).toBe(isUsual);
});
