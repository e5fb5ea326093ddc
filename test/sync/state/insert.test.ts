import * as fc from "../../property.ts";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDatabase, type Database, type SqlValue } from "../../../src/database.ts";
import { createInsert } from "../../../src/sync/state/insert.ts";

/** A table of three columns, with counts of what is prepared and handed over. */
async function openTable() {
  const database = await openDatabase(":memory:");
  onTestFinished(() => database.close());
  database.exec("CREATE TABLE t (a, b, c)");
  const counts = { prepared: 0, values: 0, calls: 0 };
  const counting: Database = {
    ...database,
    prepare(sql) {
      counts.prepared++;
      const statement = database.prepare(sql);
      return {
        ...statement,
        runMany(values) {
          counts.calls++;
          counts.values += values.length;
          statement.runMany(values);
        },
      };
    },
  };
  const read = (): SqlValue[][] =>
    database.prepare("SELECT a, b, c FROM t ORDER BY rowid").all().map(Object.values);
  return { database: counting, counts, read };
}

describe("inserting many rows", () => {
  it("puts each value where it belongs, whatever is alike", async () => {
    const { database, read } = await openTable();
    const insert = createInsert(database, "INSERT INTO t", 3);
    const value = fc.oneof(fc.constantFrom("x", "y", null), fc.string(), fc.integer());
    const column = fc.oneof(
      value.map((same) => (): SqlValue => same),
      fc.infiniteStream(value).map((stream) => (): SqlValue => stream.next().value ?? null),
    );
    const shape = fc.tuple(column, column, fc.option(column), fc.integer({ min: 0, max: 100 }));
    fc.assert(
      fc.property(shape, ([one, two, three, count]) => {
        database.exec("DELETE FROM t");
        const rows = Array.from({ length: count }, () => {
          const [a, b] = [one(), two()];
          return [a, b, three ? three() : a];
        });
        insert(rows);
        expect(read()).toEqual(rows);
      }),
    );
  });

  it("hands over once what all rows, or two columns, have in common", async () => {
    const { database, counts, read } = await openTable();
    const rows = Array.from({ length: 64 }, (_, index) => ["same", `p${index}`, `p${index}`]);
    createInsert(database, "INSERT INTO t", 3)(rows);
    expect(read()).toEqual(rows);
    expect(counts).toEqual({ prepared: 1, values: 2 * (1 + 32), calls: 2 });
  });

  it("fills any row, not only one of values alone", async () => {
    const { database, read } = await openTable();
    const row = "(?, (SELECT max(a) FROM t WHERE a < ?), ?)";
    const insert = createInsert(database, "INSERT INTO t", 3, { row });
    insert([[1, 0, "x"]]);
    insert(Array.from({ length: 33 }, (_, index) => [index + 2, 2, "y"]));
    expect(read().slice(1)).toEqual(Array.from({ length: 33 }, (_, index) => [index + 2, 1, "y"]));
  });

  it("takes few calls for any number of rows, and few statements whatever is alike", async () => {
    const { database, counts, read } = await openTable();
    const insert = createInsert(database, "INSERT INTO t", 3);
    insert(Array.from({ length: 31 }, (_, index) => [index, "b", "c"]));
    expect(counts.calls).toBe(5);
    const alike = ["abc", "ab.", "a.c", ".bc", "a..", ".b.", "..c", "...", "aac", "aba", "abb"];
    for (const each of alike) {
      insert(
        Array.from({ length: 32 }, (_, index) =>
          [...each].map((mark, at) => (mark === "." ? `${index} ${at}` : `${mark}${index}`)),
        ),
      );
      insert(
        Array.from({ length: 32 }, (_, index) =>
          [...each].map((mark, at) => (mark === "." ? `${index} ${at}` : mark)),
        ),
      );
    }
    expect(read()).toHaveLength(31 + 2 * alike.length * 32);
    expect(counts.prepared).toBeLessThanOrEqual(5 + 8 + 1);
  });
});
