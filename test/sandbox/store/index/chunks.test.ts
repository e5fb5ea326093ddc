import { expect, it } from "vitest";
import { createChunkStore } from "../../../../src/sandbox/store/index/chunks.ts";
import { openSandboxDatabase } from "../../../../src/sandbox/store/database.ts";
import type { Database } from "../../../../src/database.ts";
import { temporaryFolder } from "../../../support.ts";
import { documentOf, start as startSandbox } from "../../start.ts";

it("joins the passages of a document once for all of its chunks, until it is indexed again", async () => {
  const database = await openSandboxDatabase(temporaryFolder());
  let readings = 0;
  const counted: Database = {
    ...database,
    prepare(sql) {
      const statement = database.prepare(sql);
      if (!sql.startsWith("SELECT number, text, marks FROM passages")) return statement;
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

it("gives back a text as it was, also where a word or a block of code is cut", async () => {
  const words = `${"x".repeat(5_000)} ${"word ".repeat(900)}`.trim();
  const code = `\`\`\`sh\n${"make all\n\n".repeat(400)}\`\`\``;
  const text = `${words}\n\n${code}\n\n${"😀".repeat(2_000)}`;
  const sandbox = await startSandbox({ dialect: "onyx" });
  await sandbox.ingest(documentOf({ id: "a", sections: [{ text }] }));
  await sandbox.idle();
  const path = "/api/document/chunk-info?document_id=a&chunk_id=";
  const contents: string[] = [];
  for (;;) {
    const { status, json } = await sandbox.get(`${path}${contents.length}`);
    if (status !== 200) break;
    contents.push((json() as { content: string }).content);
  }
  const bare = (each: string): string => each.replace(/\s/g, "");
  expect(contents.length).toBeGreaterThan(5);
  expect(bare(contents.join(""))).toBe(bare(text));
});
