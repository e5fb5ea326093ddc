import { expect, it } from "vitest";
import { openDatabase, type Database } from "../../../src/database.ts";
import { bindState } from "../../../src/sync/shared/bond.ts";
import { prepareTables } from "../../../src/sync/state/file/state-schema.ts";

async function openTables(): Promise<Database> {
  const database = await openDatabase(":memory:");
  prepareTables(database, "state.db");
  return database;
}

async function openShared(): Promise<Database> {
  const database = await openTables();
  bindState(database, { id: "i", name: "n", revision: 0, target: undefined }, false);
  return database;
}

const notes = (database: Database): string[] => {
  const rows = database.prepare("SELECT kind, key FROM unpushed ORDER BY number").all();
  database.exec("DELETE FROM unpushed");
  return rows.map(({ kind, key }) => `${String(kind)} ${String(key)}`);
};

const accept = `INSERT INTO accepted (target, id, path, part, whole, fields, sent_at)
  VALUES ('t', 'ü"1', 'p', 0, 'w', '', 5) ON CONFLICT (target, id) DO UPDATE SET whole = 'v'`;
const fail = "INSERT OR REPLACE INTO failures VALUES ('t', 'p', 0, '', 'why', 1, NULL, 5, NULL)";
const begin = (ended: number): string =>
  `INSERT OR REPLACE INTO uploads (target, inputs, part, started_at, ended) VALUES ('t', '[]', '', 1, ${ended})`;
const file = (content: string, seen: string): string =>
  `INSERT OR REPLACE INTO files (path, part, seen, content) VALUES ('a', 0, '${seen}', '${content}')`;

it("notes nothing of a state that is not shared", async () => {
  const database = await openTables();
  for (const sql of [accept, fail, begin(1), file("c", "s")]) database.exec(sql);
  expect(notes(database)).toEqual([]);
});

it("notes each changed row of a shared state once, with its new and its old key", async () => {
  const database = await openShared();
  for (const sql of [accept, accept, fail, fail, begin(0)]) database.exec(sql);
  expect(notes(database)).toEqual(['accepted ["t","ü\\"1"]', 'failure ["t","p",0,""]']);
  database.exec("UPDATE accepted SET target = 'u'; DELETE FROM failures;");
  database.exec(begin(1));
  expect(notes(database)).toEqual([
    'accepted ["t","ü\\"1"]',
    'accepted ["u","ü\\"1"]',
    'failure ["t","p",0,""]',
    'upload ["t","[]"]',
  ]);
});

it("notes a file only with a new content, not when it is looked at again", async () => {
  const database = await openShared();
  database.exec(file("c", "s"));
  expect(notes(database)).toEqual(['file ["a",0]']);
  for (const sql of [file("c", "s2"), "UPDATE files SET target = 't'", file("", "")])
    database.exec(sql);
  expect(notes(database)).toEqual([]);
  for (const sql of [file("d", "s"), "DELETE FROM files"]) {
    database.exec(sql);
    expect(notes(database)).toEqual(['file ["a",0]']);
  }
});

it("leaves a state that the next run accepts", async () => {
  for (const database of [await openTables(), await openShared()]) {
    expect(prepareTables(database, "state.db")).toBe(true);
  }
});
