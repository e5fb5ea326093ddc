import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSandboxDatabase } from "../../../src/sandbox/store/database.ts";
import { temporaryFolder } from "../../support.ts";

/**
 * Commits in a write-ahead log: its frames that say how large the file is after them
 * (sqlite.org/fileformat.html#walformat).
 */
function commitsIn(log: Buffer): number {
  const [head, frameHead] = [32, 24];
  const frame = frameHead + log.readUInt32BE(8);
  const count = Math.floor((log.length - head) / frame);
  const starts = Array.from({ length: count }, (_, index) => head + index * frame);
  return starts.filter((start) => log.readUInt32BE(start + 4) > 0).length;
}

it("a new database is made by one commit, since each waits for the disk", async () => {
  const folder = temporaryFolder();
  const database = await openSandboxDatabase(folder);
  expect(commitsIn(readFileSync(join(folder, "sandbox.sqlite-wal")))).toBe(1);
  const made = database.prepare("SELECT name FROM sqlite_schema WHERE name = 'pairs'").get();
  expect(made).toEqual({ name: "pairs" });
  database.close();
});
