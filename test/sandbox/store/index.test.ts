import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Database } from "../../../src/database.ts";
import { openSandboxDatabase } from "../../../src/sandbox/store/database.ts";
import { createDocumentStore } from "../../../src/sandbox/store/documents.ts";
import { createChunkStore, searchPassages } from "../../../src/sandbox/store/index/search.ts";
import { createIndexer } from "../../../src/sandbox/store/index/indexer.ts";
import { temporaryFolder } from "../../support.ts";
import { documentOf, start as startSandbox } from "../start.ts";

describe("the indexer", () => {
  async function open() {
    const database = await openSandboxDatabase(temporaryFolder());
    const documents = createDocumentStore(database);
    const log: string[] = [];
    const indexer = createIndexer(database, (text) => log.push(text));
    onTestFinished(() => {
      indexer.stop();
      database.close();
    });
    const store = (id: string, text: string): void =>
      database.transaction(() => {
        const document = {
          id,
          semantic_identifier: id,
          sections: [{ text }],
          source: "file",
          metadata: { short: "a", long: "b".repeat(255) },
        };
        const updatedAt = { ms: 1, naive: false };
        documents.store({ document, pair: 2, updatedAt, skipUnchanged: false, receivedAt: 1 });
      });
    return { database, documents, indexer, store, log };
  }

  it("indexes later, and everything by the time it is idle", async () => {
    const { database, documents, indexer, store } = await open();
    for (let index = 0; index < 100; index += 1) store(`d${index}`, "wombat");
    indexer.notify();
    expect(documents.count()).toEqual({ documents: 100, waiting: 100 });
    await indexer.idle();
    expect(documents.count()).toEqual({ documents: 100, waiting: 0 });
    expect(searchPassages(database, ["wombat"], {}, 1_000)).toHaveLength(100);
  });

  it("leaves tags out that are too long to filter by", async () => {
    const { database, indexer, store } = await open();
    store("d", "wombat");
    await indexer.idle();
    const found = (key: string, value: string) =>
      searchPassages(database, ["wombat"], { tags: [[key, value]] }, 10).length;
    expect([found("short", "a"), found("long", "b".repeat(255))]).toEqual([1, 0]);
  });

  it("forgets the passages of a removed document", async () => {
    const { database, documents, indexer, store } = await open();
    store("d", "wombat");
    await indexer.idle();
    database.transaction(() => documents.remove("d"));
    expect(searchPassages(database, ["wombat"], {}, 10)).toEqual([]);
    store("d", "koala");
    await indexer.idle();
    expect(searchPassages(database, ["koala"], {}, 10)).toHaveLength(1);
  });

  it("is idle at once with nothing to do, and lets go of waiters when stopped", async () => {
    const { indexer, store } = await open();
    await indexer.idle();
    store("d", "wombat");
    const idle = indexer.idle();
    indexer.stop();
    await idle;
  });
});

describe("chunks", () => {
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
    const add = database.prepare(
      "INSERT INTO passages (document, heading, text) VALUES (1, '', ?)",
    );
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
});

describe("the database", () => {
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
});
