import { expect, it } from "vitest";
import { createChunkStore } from "../../../../src/sandbox/store/index/chunks.ts";
import { openSandboxDatabase } from "../../../../src/sandbox/store/database.ts";
import type { Database } from "../../../../src/database.ts";
import { temporaryFolder } from "../../../support.ts";

it("joins the passages of a document once for all of its chunks, until it is indexed again", async () => {
  const database = await openSandboxDatabase(temporaryFolder());
  let readings = 0;
  const counted: Database = {
    ...database,
    prepare(sql) {
      const statement = database.prepare(sql);
      if (!sql.startsWith("SELECT number, text FROM passages")) return statement;
      return {
        ...statement,
        all(...values) {
          readings += 1;
          return statement.all(...values);
        },
      };
    },
  };
  database.exec(
    "INSERT INTO documents (number, id, pairs, name, source, sections, metadata, owners, updated_at, fingerprint, received_at, indexed) VALUES (1, 'a', '[1]', 'a', 'file', '[]', '{}', '[]', 0, 'f', 0, 1)",
  );
  const add = database.prepare("INSERT INTO passages (document, heading, text) VALUES (1, '', ?)");
  for (let index = 0; index < 100; index++) add.run(`passage ${index} `.repeat(20));
  const { of, holds } = createChunkStore(counted);
  const view = { pairs: new Set([1]), now: 1 };
  const chunks = of("a", view);
  expect(chunks.length).toBeGreaterThan(5);
  for (let index = 0; index < 50; index++) expect(of("a", view)).toEqual(chunks);
  expect(readings).toBe(1);
  add.run("one more");
  expect(of("a", view).at(-1)?.content).toContain("one more");
  expect(readings).toBe(2);
  expect(of("a", { ...view, pairs: new Set([2]) })).toEqual([]);
  database.exec("UPDATE documents SET hold = 2");
  expect([holds("a"), holds("a"), holds("a")]).toEqual([true, true, false]);
  database.exec("UPDATE documents SET hidden = 1");
  expect(of("a", view)).toEqual([]);
  expect(of("a", { ...view, hidden: true })).toHaveLength(chunks.length);
  database.close();
});
