import { expect, it, onTestFinished } from "vitest";
import { openSandboxDatabase } from "../../../../src/sandbox/store/database.ts";
import { createDocumentStore } from "../../../../src/sandbox/store/documents.ts";
import { createIndexer } from "../../../../src/sandbox/store/index/indexer.ts";
import { searchPassages } from "../../../../src/sandbox/store/index/search.ts";
import { temporaryFolder } from "../../../support.ts";

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
