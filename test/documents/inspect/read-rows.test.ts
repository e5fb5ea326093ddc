import { appendFileSync, readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { contentHash } from "../../../src/documents/files/bytes/file-bytes.ts";
import { readRows, type RowReading } from "../../../src/documents/inspect/read-rows.ts";
import { CliError } from "../../../src/errors.ts";
import { createFolder, fileIn } from "../folder.ts";

const maxFileBytes = 64 * 1024;

interface ReadOptions {
  onRow?: (path: string) => void;
  /** Stop after this many rows. */
  rows?: number;
}

/** Reads a file that is larger than the limit for one piece. */
async function readLarge(
  name: string,
  content: string | Uint8Array,
  { onRow, rows = Infinity }: ReadOptions = {},
): Promise<{ readings: RowReading[]; failure: string | undefined; path: string }> {
  const root = createFolder({ [name]: content });
  const file = fileIn(root, name);
  const readings: RowReading[] = [];
  const path = file.absolutePath;
  try {
    for await (const row of readRows(file, compileSettings({ root, maxFileBytes }))) {
      readings.push(row);
      onRow?.(path);
      if (readings.length === rows) break;
    }
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return { readings, failure: error.message, path };
  }
  return { readings, failure: undefined, path };
}

const count = 5000;
const numbers = Array.from({ length: count }, (_, index) => index + 1);
const table = `id,text\r\n${numbers.map((id) => `${id},"Zeile ä ${id}"\r\n`).join("")}`;
const lines = numbers.map((id) => JSON.stringify({ id: String(id), text: `Zeile ä ${id}` }));

function idsIn(readings: readonly RowReading[]): (string | undefined)[] {
  return readings.map((row) => (row.kind === "document" ? row.document.id : row.kind));
}

describe("a file of rows that is larger than the limit", () => {
  it.each([
    ["a.csv", table],
    ["a.csv.gz", gzipSync(table)],
    ["wide.csv", Buffer.from(`\ufeff${table}`, "utf16le")],
    ["a.tsv", table.replaceAll(",", "\t")],
    ["a.ndjson", lines.join("\n")],
    ["a.ndjson.gz", gzipSync(lines.join("\r\n"))],
    ["a.json", `[${lines.join(",\n")}]`],
  ])("%s has all its rows, with line and hash", async (name, content) => {
    const { readings, failure, path } = await readLarge(name, content);
    expect(failure).toBeUndefined();
    expect(idsIn(readings)).toEqual(numbers.map(String));
    expect(readings.at(-1)).toMatchObject({
      part: count,
      line: name.startsWith("a.csv") || name.includes("sv") ? count + 1 : count,
      content: contentHash(readFileSync(path)),
      document: { sections: [{ text: `Zeile ä ${count}` }] },
    });
  });

  it.each([
    ["a.csv", `${table}7,"never`, /^a\.csv:5002:1: a quote opens in this row and is never closed$/],
    [
      "a.csv",
      Buffer.concat([Buffer.from(table), Buffer.from([0x37, 0x2c, 0xfc])]),
      /^a\.csv: not valid UTF-8 at byte \d+$/,
    ],
    ["a.csv", `${table}7,\0\n`, /^a\.csv: a NUL byte \(a binary file\?\) at byte \d+$/],
    ["a.json", `[${lines.join(",\n")},\n{]`, /^a\.json:5001:2: JSON is broken at "\]"$/],
    [
      "a.csv.gz",
      gzipSync(table).subarray(0, -20),
      /^a\.csv\.gz: cannot be read completely: the gzip data ends too early$/,
    ],
  ])("%s has the rows before a fault, and its place", async (name, content, message) => {
    const { readings, failure } = await readLarge(name, content);
    expect(failure).toMatch(message);
    if (!name.endsWith(".gz")) expect(readings.length).toBeGreaterThan(count / 2);
  });

  it("fails if it changes while its rows are read", async () => {
    let isChanged = false;
    const { readings, failure } = await readLarge("a.csv", table, {
      onRow(path) {
        if (!isChanged) appendFileSync(path, "9999,late\n");
        isChanged = true;
      },
    });
    expect(failure).toBe("a.csv: changed while its rows were read");
    expect(readings.length).toBeGreaterThanOrEqual(count);
  });

  it("can be left after some rows", async () => {
    const { readings } = await readLarge("a.ndjson", lines.join("\n"), { rows: 2 });
    expect(idsIn(readings)).toEqual(["1", "2"]);
  });
});
