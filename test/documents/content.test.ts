import { lstatSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import type * as Fs from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";
import type { SourceFile } from "../../src/documents/find.ts";
import { readContent } from "../../src/documents/content.ts";

/** What the file system does beside answering. */
const on = { looks: 0, ageMs: 0, first: -1n, afterRead: (): void => {} };

vi.mock("node:fs", async (importActual) => {
  const actual = await importActual<typeof Fs>();
  return {
    ...actual,
    // The first version of the file is as old as the test says, later ones are new.
    fstatSync(descriptor: number) {
      on.looks++;
      const stats = actual.fstatSync(descriptor, { bigint: true });
      if (stats.mtimeNs !== on.first) return stats;
      const [ms, ns] = [BigInt(on.ageMs), BigInt(on.ageMs) * 1_000_000n];
      const older = { ctimeMs: stats.ctimeMs - ms, ctimeNs: stats.ctimeNs - ns };
      return Object.assign(stats, older, {
        mtimeMs: stats.mtimeMs - ms,
        mtimeNs: stats.mtimeNs - ns,
      });
    },
    readSync(...given: Parameters<typeof Fs.readSync>) {
      const count = actual.readSync(...given);
      on.afterRead();
      return count;
    },
  };
});

let path = "";
beforeEach(() => {
  const folder = mkdtempSync(join(tmpdir(), "knowctl-content-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  path = join(folder, "a.md");
  Object.assign(on, { looks: 0, afterRead: () => {} });
});

function read(text: string, ageMs: number, maxBytes = 1_000_000): string {
  writeFileSync(path, text);
  Object.assign(on, { ageMs, first: lstatSync(path, { bigint: true }).mtimeNs });
  const file: SourceFile = {
    path: "a.md",
    absolutePath: path,
    sizeBytes: 0,
    stamp: "",
    mtimeMs: 0,
  };
  return readContent(file, maxBytes).bytes.toString();
}

it("looks once at a small file that nothing has touched for long", () => {
  expect(read("old", 20_000)).toBe("old");
  expect(on.looks).toBe(1);
});

it.each([
  ["changed a moment ago, by whichever clock", "new", 5000],
  ["is from the future", "new", -3_600_000],
  ["is too large for one read", "x".repeat(70_000), 20_000],
])("looks before and after at one that %s", (_, text, ageMs) => {
  expect(read(text, ageMs)).toBe(text);
  expect(on.looks).toBeGreaterThan(1);
});

it("reads once more what changes after it was read, its size as before", () => {
  on.afterRead = () => {
    on.afterRead = () => {};
    writeFileSync(path, "new");
    // Clocks with coarse ticks would not tell the two versions apart.
    utimesSync(path, 1, 1);
  };
  expect(read("old", 3_600_000)).toBe("new");
});

it("refuses an old file that is too large as any other", () => {
  expect(() => read("too large", 20_000, 5)).toThrow("more than");
});
