import { lstatSync, statSync, utimesSync, writeFileSync, type BigIntStats } from "node:fs";
import { expect, it, onTestFinished, vi } from "vitest";
import { stampOf } from "../../../../src/documents/files/source-file.ts";
import { readContent, waitForTick } from "../../../../src/documents/files/bytes/content.ts";
import { replaceInFileSystem } from "../../../file-system.ts";
import { createFolder, failure, fileIn } from "../../folder.ts";

// Another program writes whenever it likes: here it does between the bytes and the stamp after them.
const write = { next: (): void => {} };

function writeAfterRead(): void {
  replaceInFileSystem("readSync", (actual) => (...args: unknown[]) => {
    const count = actual(...args);
    const { next } = write;
    write.next = () => {};
    next();
    return count;
  });
}

const setUp = (): { path: string; read: () => ReturnType<typeof readContent> } => {
  writeAfterRead();
  const file = fileIn(createFolder({ "a.md": "old text" }), "a.md");
  return { path: file.absolutePath, read: () => readContent({ ...file, stamp: "" }, 1000) };
};

it.each([
  ["has other bytes", (path: string) => writeFileSync(path, "new text")],
  [
    "has other bytes and the time it had",
    (path: string) => {
      const { atime, mtime } = statSync(path);
      writeFileSync(path, "new text");
      utimesSync(path, atime, mtime);
    },
  ],
])("reads a file again that %s once it was read", (_, change) => {
  const { path, read } = setUp();
  write.next = () => change(path);
  const { bytes, stamp } = read();
  // Else the state would take the old text for the version that the stamp names.
  expect(bytes.toString()).toBe("new text");
  expect(stamp).toBe(stampOf(lstatSync(path, { bigint: true })));
});

// A file cannot be given an old time of its last change, so the look at it says one until `isOld` ends.
function countLooks(isOld: () => boolean): { count: number } {
  const looks = { count: 0 };
  const anHour = 3_600_000_000_000n;
  replaceInFileSystem("fstatSync", (actual) => (...args: unknown[]) => {
    looks.count++;
    const stats = actual(...args) as BigIntStats;
    const { mtimeNs, ctimeNs } = stats;
    const older = { mtimeNs: mtimeNs - anHour, ctimeNs: ctimeNs - anHour };
    return Object.assign(stats, isOld() ? older : {});
  });
  return looks;
}

it("looks once at the stamp of a file that changed long ago", () => {
  const { read } = setUp();
  const looks = countLooks(() => true);
  expect(read().bytes.toString()).toBe("old text");
  expect(looks.count).toBe(1);
});

it("reads a file again that changed long ago, and once it was read", () => {
  const { path, read } = setUp();
  let isOld = true;
  countLooks(() => isOld);
  write.next = () => {
    // As many bytes as before.
    writeFileSync(path, "new text");
    isOld = false;
  };
  const { bytes, stamp } = read();
  expect(bytes.toString()).toBe("new text");
  expect(stamp).toBe(stampOf(lstatSync(path, { bigint: true })));
});

it.each([
  ["of 64 KiB", 64 * 1024],
  ["of one byte more", 64 * 1024 + 1],
  ["without a byte", 0],
])("reads the whole of a file %s", (_, size) => {
  const file = fileIn(createFolder({ "a.md": "x".repeat(size) }), "a.md");
  countLooks(() => true);
  expect(readContent(file, 1_000_000).bytes).toHaveLength(size);
});

it("gives up on a file that changes during each read", () => {
  const { path, read } = setUp();
  let writes = 0;
  const change = (): void => {
    writeFileSync(path, `text ${++writes}`);
    write.next = change;
  };
  write.next = change;
  expect(failure(read)).toBe("a.md: changed during each of 4 reads");
  // One read before them counts on a file that changed long ago.
  expect(writes).toBe(5);
});

it.each([
  ["just now", 0, 17],
  ["nearly a tick ago", 15, 2],
  // The clock was put back after the look at its age.
  ["in the future", -3_600_000, 17],
])("waits no longer than the tick of a file that changed %s", (_, ageMs, most) => {
  const wait = vi.spyOn(Atomics, "wait").mockReturnValue("timed-out");
  onTestFinished(() => wait.mockRestore());
  waitForTick({ ctimeMs: BigInt(Date.now() - ageMs) });
  expect(wait.mock.calls).toHaveLength(1);
  expect(wait.mock.calls[0]![3]).toBeLessThanOrEqual(most);
});
