import { existsSync, lstatSync, readdirSync, readlinkSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createDatabase, type Database, openDatabase } from "../src/database.ts";
import { CliError } from "../src/errors.ts";
import { stateFailure } from "../src/sync/state/state-failure.ts";
import { temporaryFolder } from "./support.ts";

async function open(path = join(temporaryFolder(), "x.sqlite")): Promise<Database> {
  const database = await openDatabase(path);
  onTestFinished(() => database.close());
  return database;
}

it("gives rows of the asked columns only", async () => {
  const database = await open();
  database.exec("CREATE TABLE t(n INTEGER PRIMARY KEY, s TEXT, b BLOB, r REAL)");
  const insert = database.prepare("INSERT INTO t(s, b, r) VALUES (?, ?, ?) RETURNING n");
  expect({ ...insert.get("é😀", new Uint8Array([0, 255]), 1.5) }).toEqual({ n: 1 });
  insert.get(null, null, null);
  const select = database.prepare("SELECT s, b, r FROM t WHERE n = ?");
  const row = select.get(1);
  expect(Object.keys(row!)).toEqual(["s", "b", "r"]);
  expect([row!["s"], [...(row!["b"] as Uint8Array)], row!["r"]]).toEqual(["é😀", [0, 255], 1.5]);
  expect(select.get(9)).toBeUndefined();
  const numbers = database.prepare("SELECT n FROM t ORDER BY n");
  expect(numbers.all().map((each) => each["n"])).toEqual([1, 2]);
  expect([...numbers.iterate()].map((each) => each["n"])).toEqual([1, 2]);
  const large = database.prepare("SELECT ? AS n").get(1_767_225_600_000);
  expect(large!["n"]).toBe(1_767_225_600_000);
});

// Files that this process has open, where Linux tells it. The one that lists them is gone by then.
const openFiles = (prefix: string): number =>
  readdirSync("/proc/self/fd").filter((name) => {
    const path = `/proc/self/fd/${name}`;
    const isOpen = lstatSync(path, { throwIfNoEntry: false }) !== undefined;
    return isOpen && basename(readlinkSync(path)).startsWith(prefix);
  }).length;

it.runIf(existsSync("/proc/self/fd"))("keeps large temporary tables in a file", async () => {
  const database = await open();
  const before = openFiles("etilqs_");
  database.exec("CREATE TEMP TABLE large(text TEXT)");
  const insert = database.prepare("INSERT INTO large VALUES (?)");
  database.transaction(() => {
    for (let index = 0; index < 8000; index++) insert.run(`${index} ${"x".repeat(1000)}`);
  });
  expect(openFiles("etilqs_")).toBe(before + 1);
});

it("says what to do where temporary tables find no room", async () => {
  const database = await open();
  database.exec("CREATE TEMP TABLE large(text TEXT)");
  database.exec("PRAGMA temp.max_page_count = 10");
  const insert = database.prepare("INSERT INTO large VALUES (?)");
  const fill = (): void => {
    for (let index = 0; index < 100; index++) insert.run("x".repeat(1000));
  };
  expect(fill).toThrow(CliError);
  expect(fill).toThrow("no room for temporary files: database or disk is full");
  // In a folder that this user may write to: a denial would be named as well.
  const path = join(temporaryFolder(), "state.db");
  let error: unknown;
  try {
    fill();
  } catch (thrown) {
    error = stateFailure(path, thrown);
  }
  // The state's own disk is named by the state.
  expect(error).toMatchObject({
    exit: "local",
    message: `cannot use the state ${path}: database or disk is full`,
  });
});

it("names the numbered parameters to a driver that does not count them", () => {
  const seen: unknown[] = [];
  const note = (...values: unknown[]): undefined => void seen.push(values);
  const statement = { run: note, get: note, all: note, iterate: note };
  const driver = { exec() {}, prepare: () => statement, close() {}, takesArray: false };
  const numbered = "SELECT ?2 || ?1 || ?2";
  for (const countsNumbered of [false, true]) {
    const database = createDatabase({ ...driver, countsNumbered });
    for (const sql of [numbered, "SELECT ? || ?"]) database.prepare(sql).get("a", "b");
  }
  const database = createDatabase({ ...driver, countsNumbered: false });
  database.prepare(numbered).run("a", "b");
  const named = [{ "?1": "a", "?2": "b" }];
  expect(seen).toEqual([named, ["a", "b"], ["a", "b"], ["a", "b"], named]);
});

it("says that a number is too large, however the rows are read", () => {
  const fail = (): never => {
    throw new RangeError(
      "Value is too large to be represented as a JavaScript number: 9007199254740993",
    );
  };
  const rows = { [Symbol.iterator]: () => ({ next: fail }) };
  const statement = { run: fail, get: fail, all: fail, iterate: () => rows };
  const driver = { exec() {}, prepare: () => statement, close() {}, takesArray: false };
  const read = createDatabase({ ...driver, countsNumbered: true }).prepare("SELECT n FROM t");
  for (const way of [() => read.get(), () => read.all(), () => [...read.iterate()]]) {
    expect(way).toThrow(expect.objectContaining({ exit: "local" }));
    expect(way).toThrow("the records hold a number above 2^53");
  }
});

it("a disk that fails is no bug, wherever it is read or written", () => {
  const fail = (): never => {
    throw new Error("disk I/O error");
  };
  const statement = { run: fail, get: fail, all: fail, iterate: fail };
  const driver = { exec: fail, prepare: () => statement, close() {}, takesArray: false };
  const failing = createDatabase({ ...driver, countsNumbered: true }, "/x/state.db");
  const read = failing.prepare("SELECT 1");
  const ways = [() => read.get(), () => read.run(), () => [...read.iterate()]];
  for (const way of [...ways, () => failing.transaction(() => {})]) {
    expect(way).toThrow(expect.objectContaining({ exit: "local" }));
    expect(way).toThrow("cannot use the database /x/state.db: disk I/O error");
  }
  const path = join(temporaryFolder(), "state.db");
  const error = (): never => {
    try {
      return read.get() as never;
    } catch (thrown) {
      throw stateFailure(path, thrown);
    }
  };
  expect(error).toThrow(`cannot use the state ${path}: disk I/O error`);
});

it("writes beside a full-text index, whose row ids no number holds", async () => {
  const database = await open();
  database.exec("CREATE TABLE t(n); CREATE VIRTUAL TABLE words USING fts5(word)");
  const index = database.prepare("INSERT INTO words(rowid, word) VALUES (?, ?)");
  const write = database.prepare("INSERT INTO t VALUES (?)");
  const huge = 2 ** 53 * 4;
  database.exec(`INSERT INTO t(rowid, n) VALUES (${huge}, 0)`);
  const forget = database.prepare("DELETE FROM t WHERE n = ?");
  for (const n of [0, 1]) forget.run(n);
  index.run(1, "one");
  write.run(2);
  expect(database.prepare("SELECT n FROM t").all()).toEqual([{ n: 2 }]);
});

it("waits for the disk in each transaction but those of which it is told not to", async () => {
  const database = await open();
  const synchronous = (): unknown => database.prepare("PRAGMA synchronous").get()?.["synchronous"];
  const [normal, full] = [1, 2];
  expect(synchronous()).toBe(full);
  expect(database.transaction(synchronous, "NORMAL")).toBe(normal);
  expect(database.transaction(synchronous)).toBe(full);
  expect(() =>
    database.transaction(() => {
      throw new Error("no");
    }, "NORMAL"),
  ).toThrow("no");
  expect(synchronous()).toBe(full);
  database.exec("CREATE TABLE t(n UNIQUE ON CONFLICT ROLLBACK); INSERT INTO t VALUES (1)");
  const insertTwice = (): void => database.prepare("INSERT INTO t VALUES (?)").run(1);
  expect(() => database.transaction(insertTwice, "NORMAL")).toThrow(/UNIQUE/);
  expect(synchronous()).toBe(full);
  database.exec("BEGIN");
  expect(() => database.transaction(synchronous, "NORMAL")).toThrow(/inside a transaction|within/);
  database.exec("COMMIT");
  expect(database.transaction(synchronous)).toBe(full);
});

it("keeps nothing of a transaction that cannot be committed", async () => {
  const database = await open();
  database.exec(`PRAGMA foreign_keys = ON; CREATE TABLE a(n PRIMARY KEY);
    CREATE TABLE b(n REFERENCES a DEFERRABLE INITIALLY DEFERRED)`);
  const insert = (): void => database.exec("INSERT INTO b VALUES (1)");
  expect(() => database.transaction(insert, "NORMAL")).toThrow(/FOREIGN KEY/);
  expect(database.transaction(() => database.prepare("SELECT * FROM b").all())).toEqual([]);
});

it("rolls a failed transaction back and goes on", async () => {
  const database = await open();
  database.exec("CREATE TABLE t(n INTEGER PRIMARY KEY)");
  const insert = database.prepare("INSERT INTO t VALUES (?)");
  const failing = () =>
    database.transaction(() => {
      insert.run(1);
      throw new Error("stop");
    });
  expect(failing).toThrow("stop");
  expect(database.transaction(() => (insert.run(2), "done"))).toBe("done");
  expect(() => insert.run(2)).toThrow(/UNIQUE|constraint/i);
  expect(
    database
      .prepare("SELECT n FROM t")
      .all()
      .map((row) => row["n"]),
  ).toEqual([2]);
});

it("ranks full text without keeping it, and deletes by row", async () => {
  const database = await open();
  database.exec(
    "CREATE VIRTUAL TABLE f USING fts5(title, body, content='', contentless_delete=1, tokenize='porter unicode61 remove_diacritics 2')",
  );
  const insert = database.prepare("INSERT INTO f(rowid, title, body) VALUES (?, ?, ?)");
  insert.run(1, "other", "a wombat and much more text about entirely different things");
  insert.run(2, "Wombats", "burrows");
  insert.run(3, "none", "of this café");
  const search = database.prepare(
    "SELECT rowid, bm25(f, 4.0, 1.0) AS rank FROM f WHERE f MATCH ? ORDER BY rank",
  );
  const found = (query: string) => search.all(query).map((row) => row["rowid"]);
  expect(found('"wombat" OR "absent"')).toEqual([2, 1]);
  expect(found('"cafe"')).toEqual([3]);
  database.prepare("DELETE FROM f WHERE rowid = ?").run(2);
  expect(found('"wombat"')).toEqual([1]);
});

it("reads JSON lists", async () => {
  const database = await open();
  const query = "SELECT value FROM json_each(?) WHERE value > 2";
  expect(
    database
      .prepare(query)
      .all("[1,2,3,4]")
      .map((row) => row["value"]),
  ).toEqual([3, 4]);
});

it("syncs fully in WAL mode, and a second connection sees what was committed", async () => {
  const path = join(temporaryFolder(), "x.sqlite");
  const first = await open(path);
  expect(first.prepare("PRAGMA journal_mode").get()?.["journal_mode"]).toBe("wal");
  expect(first.prepare("PRAGMA synchronous").get()?.["synchronous"]).toBe(2);
  first.exec("CREATE TABLE t(n)");
  const second = await open(path);
  first.transaction(() => first.prepare("INSERT INTO t VALUES (?)").run(1));
  expect(second.prepare("SELECT n FROM t").all()).toHaveLength(1);
});

it("says which file is no database, and which cannot be made", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "x.sqlite");
  writeFileSync(path, "no database, but long enough to be taken for one".repeat(100));
  await expect(openDatabase(path)).rejects.toMatchObject({
    exit: "local",
    message: expect.stringContaining(path),
  });
  const nowhere = join(folder, "none", "x.sqlite");
  await expect(openDatabase(nowhere)).rejects.toMatchObject({ exit: "local" });
});
