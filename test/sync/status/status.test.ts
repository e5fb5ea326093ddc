import { describe, expect, it } from "vitest";
import {
  remoteResultOf,
  type FolderSide,
  type StateSide,
} from "../../../src/sync/status/differences.ts";

/** Folder, state, and the result for a document that the service lists, and for another. */
const cells: [FolderSide, StateSide, listed: string, unlisted: string][] = [
  ["document", "recorded", "", "gone-there"],
  ["document", "removed", "not-sent", "not-sent"],
  ["document", "elsewhere", "elsewhere", "elsewhere"],
  ["document", "none", "", "not-sent"],
  ["other options", "recorded", "", "gone-there"],
  ["other options", "removed", "", ""],
  ["other options", "elsewhere", "elsewhere", "elsewhere"],
  ["other options", "none", "", ""],
  ["no document", "recorded", "", "gone-there"],
  ["no document", "removed", "", ""],
  ["no document", "elsewhere", "elsewhere", ""],
  ["no document", "none", "extra", ""],
  ["unknown", "recorded", "", "gone-there"],
  ["unknown", "removed", "", ""],
  ["unknown", "elsewhere", "elsewhere", ""],
  ["unknown", "none", "", ""],
];

describe("remoteResultOf", () => {
  it.each(cells)("folder: %s, state: %s", (folder, state, listed, unlisted) => {
    expect([
      remoteResultOf(folder, state, true) ?? "",
      remoteResultOf(folder, state, false) ?? "",
    ]).toEqual([listed, unlisted]);
  });

  it("calls a document extra in one case only", () => {
    expect(cells.filter((cell) => cell.includes("extra"))).toEqual([
      ["no document", "none", "extra", ""],
    ]);
  });
});
