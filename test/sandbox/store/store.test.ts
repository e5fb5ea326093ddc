import { chmodSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { defaultPairs } from "../../../src/sandbox/store/seeds.ts";
import { temporaryFolder } from "../../support.ts";
import { documentOf, key, start, start as startSandbox } from "../start.ts";
import * as z from "zod/mini";
import { FileUpload, UserFile } from "../../../src/api/schemas.ts";
import { kindOf } from "../../../src/sandbox/store/files.ts";
import type { Database } from "../../../src/database.ts";
import { openSandboxDatabase } from "../../../src/sandbox/store/database.ts";
import { createDocumentStore } from "../../../src/sandbox/store/documents.ts";
import { createChunkStore, searchPassages } from "../../../src/sandbox/store/index/search.ts";
import { createIndexer } from "../../../src/sandbox/store/index/indexer.ts";

describe("anonymous callers", () => {
  const wrong = { authorization: "Bearer wrong" };

  describe("anonymous access", () => {
    it("is not there unless it is allowed", async () => {
      const { get } = await start({ dialect: "onyx" });
      expect((await get("/api/me", wrong)).status).toBe(403);
    });

    it("lets a wrong key chat, and says who it is", async () => {
      const { get, send } = await start({ dialect: "onyx", anonymous: true });
      expect((await get("/api/me")).json()).toMatchObject({ is_anonymous_user: false });
      expect((await get("/api/me", wrong)).json()).toMatchObject({ is_anonymous_user: true });
      const asked = await send("POST", "/api/chat/send-chat-message", { message: "x" }, wrong);
      expect(asked.status).toBe(200);
      for (const path of ["/api/tool", "/api/manage/admin/connector/status"]) {
        expect((await get(path, wrong)).status).toBe(403);
      }
    });

    it("answers without the documents of private pairs", async () => {
      const [open, closed] = (["public", "private"] as const).map((access_type, at) => ({
        ...defaultPairs[0]!,
        access_type,
        cc_pair_id: at + 2,
      }));
      const sandbox = await start({ dialect: "onyx", anonymous: true, pairs: [open!, closed!] });
      const text = [{ text: "Wombats sleep in burrows." }];
      await sandbox.ingest(documentOf({ id: "open", sections: text }), 2);
      await sandbox.ingest(documentOf({ id: "closed", sections: text }), 3);
      await sandbox.idle();
      const found = async (headers?: Record<string, string>) => {
        const body = { message: "wombats", stream: false };
        const answer = await sandbox.send("POST", "/api/chat/send-chat-message", body, headers);
        const reply = answer.json() as { top_documents: { document_id: string }[] };
        return reply.top_documents.map(({ document_id }) => document_id).toSorted();
      };
      expect(await found()).toEqual(["closed", "open"]);
      expect(await found(wrong)).toEqual(["open"]);
    });
  });
});

describe("rights", () => {
  it.runIf(process.platform !== "win32")(
    "lets only the owner read the documents, also in a folder that others can read",
    async () => {
      const dataFolder = temporaryFolder();
      chmodSync(dataFolder, 0o755);
      const { ingest, idle } = await start({ dataFolder });
      await ingest(documentOf());
      await idle();
      const modes = ["", "-wal", "-shm"].map(
        (end) => statSync(join(dataFolder, `sandbox.sqlite${end}`)).mode & 0o777,
      );
      expect(modes).toEqual([0o600, 0o600, 0o600]);
    },
  );
});

describe("scopes", () => {
  const scoped = { authorization: `Bearer ${key}-scoped` };
  const refusal = {
    error_code: "INSUFFICIENT_PERMISSIONS",
    detail: "This token's scopes do not permit this endpoint.",
  };

  it("onyx: a token with scopes chats and searches, as the account that it belongs to", async () => {
    const { send, get } = await start({ dialect: "onyx" });
    const asked = await send("POST", "/api/chat/send-chat-message", { message: "leave" }, scoped);
    expect(asked.status).toBe(200);
    expect((await send("POST", "/api/search", { query: "leave" }, scoped)).status).toBe(200);
    expect((await get("/api/chat/get-user-chat-sessions", scoped)).status).toBe(200);
    const me = (await get("/api/me", scoped)).json() as { effective_permissions: string[] };
    expect(me.effective_permissions).toContain("admin");
    expect((await get("/api/version", scoped)).status).toBe(200);
  });

  it.each([
    ["GET", "/api/me/permissions"],
    ["GET", "/api/persona"],
    ["GET", "/api/tool"],
    ["GET", "/api/manage/admin/connector/status"],
    ["GET", "/api/document/document-size-info?document_id=a"],
    ["POST", "/api/onyx-api/ingestion"],
  ])("onyx: refuses a token with scopes %s %s", async (method, path) => {
    const { send } = await start({ dialect: "onyx" });
    const answer = await send(method, path, method === "POST" ? {} : undefined, scoped);
    expect([answer.status, answer.json()]).toEqual([403, refusal]);
  });

  it("onyx: the scopes of a token are those that it was given", async () => {
    const tokens = [{ key: "reads", scopes: ["read:chat"] }];
    const { send, get } = await start({ dialect: "onyx", tokens });
    const headers = { authorization: "Bearer reads" };
    expect((await get("/api/chat/get-user-chat-sessions", headers)).status).toBe(200);
    const asked = await send("POST", "/api/chat/send-chat-message", { message: "leave" }, headers);
    expect(asked.status).toBe(403);
    expect((await get("/api/me/permissions")).json()).toContain("admin");
  });
});

describe("files", () => {
  function form(...files: File[]): FormData {
    const data = new FormData();
    for (const file of files) data.append("files", file);
    return data;
  }
  const text = (content: string, name = "a.txt", type = "text/plain"): File =>
    new File([content], name, { type });
  const png = (): File =>
    new File([new Uint8Array([137, 80, 78, 71])], "p.png", { type: "image/png" });
  const upload = "/api/user/projects/file/upload";

  describe("files for a chat", () => {
    it.each(["standard", "onyx"] as const)("%s: upload and list", async (dialect) => {
      const { send, get } = await start({ dialect });
      const answer = await send("POST", upload, form(text("one"), png()));
      const { user_files, rejected_files } = z.parse(FileUpload, answer.json());
      expect(
        user_files.map(({ name, status, chat_file_type }) => [name, status, chat_file_type]),
      ).toEqual([
        ["a.txt", "PROCESSING", "plain_text"],
        ["p.png", "PROCESSING", "image"],
      ]);
      expect(rejected_files).toEqual([]);
      const listed = dialect === "onyx" ? "/api/user/files/recent" : "/api/user/projects/file/";
      const list = z.parse(z.array(UserFile), (await get(listed)).json());
      expect(list.map(({ id, status }) => [id, status])).toEqual(
        user_files.map(({ id }) => [id, "COMPLETED"]).toReversed(),
      );
    });

    it("takes what it can and says why not the rest, with 200", async () => {
      const { send } = await start();
      const binary = new File([new Uint8Array([0, 1, 2])], "b.bin", {
        type: "application/octet-stream",
      });
      const answer = await send("POST", upload, form(text(""), binary, text("ok", "c.txt")));
      expect([answer.status, answer.json()]).toMatchObject([
        200,
        {
          user_files: [{ name: "c.txt" }],
          rejected_files: [
            { file_name: "a.txt", reason: "File is empty" },
            { file_name: "b.bin", reason: "No text could be read from the file" },
          ],
        },
      ]);
    });

    it.each([
      ["standard", "/api/user/projects/file/"],
      ["onyx", "/api/user/files/recent"],
      ["onyx", "/api/user/projects/file/:id"],
      ["onyx", "/api/user/projects/file/statuses"],
    ] as const)("%s: %s shows a file while it is processed", async (dialect, path) => {
      const { send, get } = await start({ dialect, fileLooks: 2 });
      const broken = text("no pdf", "b.pdf", "application/pdf");
      const whole = text("%PDF-1.7 and so on", "w.pdf", "application/pdf");
      for (const [file, end] of [
        [broken, "FAILED"],
        [whole, "COMPLETED"],
      ] as const) {
        const { user_files } = z.parse(FileUpload, (await send("POST", upload, form(file))).json());
        const { id } = user_files[0]!;
        const look = async () => {
          const answer = path.endsWith("statuses")
            ? await send("POST", path, { file_ids: [id] })
            : await get(path.replace(":id", id));
          const found = [answer.json() as { id: string; status: string }].flat();
          return found.find((each) => each.id === id)!.status;
        };
        expect([await look(), await look(), await look()]).toEqual([
          "PROCESSING",
          "PROCESSING",
          end,
        ]);
      }
    });

    it("takes the kind from the part's type, not from the name", () => {
      const table = {
        "image/png": "image",
        "text/csv": "tabular",
        "application/pdf": "document",
        "application/octet-stream": "plain_text",
        "text/markdown; charset=utf-8": "plain_text",
        "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "document",
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "tabular",
      };
      expect(Object.fromEntries(Object.keys(table).map((mime) => [mime, kindOf(mime)]))).toEqual(
        table,
      );
    });

    it.each([
      ["no form", "{}", "application/json"],
      ["a form without an end", "--x\r\n", "multipart/form-data; boundary=x"],
      ["a form without a boundary", "x", "multipart/form-data"],
    ])("%s is 422", async (_, body, type) => {
      const { send } = await start();
      expect((await send("POST", upload, body, { "content-type": type })).status).toBe(422);
    });

    it("a form without files is 422", async () => {
      const { send } = await start();
      const data = new FormData();
      data.append("project_id", "1");
      expect((await send("POST", upload, data)).status).toBe(422);
    });

    it("answers from an attached file", async () => {
      const { send, whole } = await start({ dialect: "onyx" });
      const answer = await send("POST", upload, form(text("The wombat weighs 25 kg.")));
      const [file] = z.parse(FileUpload, answer.json()).user_files;
      const descriptor = { id: file!.file_id, type: "plain_text", user_file_id: file!.id };
      const reply = await whole("How much does a wombat weigh?", {
        file_descriptors: [descriptor],
      });
      expect(reply.answer).toContain("The wombat weighs 25 kg. (attached file a.txt)");
      const { user_file_id: _, ...incomplete } = descriptor;
      const body = { message: "x", stream: false, file_descriptors: [incomplete] };
      expect((await send("POST", "/api/chat/send-chat-message", body)).status).toBe(400);
    });

    it("in onyx: one file, statuses, content", async () => {
      const { send, get } = await start({ dialect: "onyx" });
      const answer = await send("POST", upload, form(text("<script>", "a.html", "text/html")));
      const [file] = z.parse(FileUpload, answer.json()).user_files;
      expect((await get(`/api/user/projects/file/${file!.id}`)).json()).toMatchObject({
        status: "COMPLETED",
      });
      expect((await get("/api/user/projects/file/none")).status).toBe(422);
      const ids = { file_ids: [file!.id, "00000000-0000-4000-8000-000000000009"] };
      expect((await send("POST", "/api/user/projects/file/statuses", ids)).json()).toHaveLength(1);
      const content = await get(`/api/chat/file/${file!.file_id}`);
      expect([content.text, content.headers.get("content-disposition")]).toEqual([
        "<script>",
        "attachment",
      ]);
    });
  });

  describe("images for documents", () => {
    it("standard: uploaded, then named in a section", async () => {
      const { send, ingest, get } = await start();
      const answer = await send("POST", "/api/user/file/upload", form(png()));
      const [image] = z.parse(z.array(UserFile), answer.json());
      const sections = [{ text: "See" }, { image_file_id: image!.file_id }];
      expect((await ingest(documentOf({ sections }))).status).toBe(200);
      expect((await get("/api/user/projects/file/")).json()).toEqual([]);
    });

    it("standard: a section names no other file", async () => {
      const { send, ingest } = await start();
      const answer = await send("POST", upload, form(text("x")));
      const [taken] = z.parse(FileUpload, answer.json()).user_files;
      const sections = [{ text: "See" }, { image_file_id: taken!.file_id }];
      expect((await ingest(documentOf({ sections }))).status).toBe(400);
    });

    it("standard: only images", async () => {
      const { send } = await start();
      const answer = await send("POST", "/api/user/file/upload", form(text("x")));
      expect([answer.status, answer.json()]).toEqual([
        400,
        { detail: "a.txt is not an image (text/plain)" },
      ]);
    });

    it("onyx: through the connector upload", async () => {
      const { send } = await start({ dialect: "onyx" });
      const path = "/api/manage/admin/connector/file/upload";
      expect((await send("POST", path, form(png()))).json()).toMatchObject({
        file_paths: [expect.any(String)],
        file_names: ["p.png"],
      });
      expect((await send("POST", "/api/user/file/upload", form(png()))).status).toBe(404);
    });
  });
});

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
  it("of a document are seen by those who may, and read alone", async () => {
    const database = await openSandboxDatabase(temporaryFolder());
    let rows = 0;
    const counted: Database = {
      ...database,
      prepare(sql) {
        const statement = database.prepare(sql);
        return {
          ...statement,
          all(...values) {
            const found = statement.all(...values);
            rows += found.length;
            return found;
          },
        };
      },
    };
    const paragraphs = Array.from({ length: 100 }, (_, at) => `passage ${at} `.repeat(20).trim());
    const sections = JSON.stringify([{ text: paragraphs.join("\n\n") }]);
    database
      .prepare(
        "INSERT INTO documents (number, id, pairs, name, source, sections, metadata, owners, updated_at, fingerprint, received_at) VALUES (1, 'a', '[1]', 'a', 'file', ?, '{}', '[]', 0, 'f', 0)",
      )
      .run(sections);
    const indexer = createIndexer(database, () => {});
    await indexer.idle();
    const { all, one, holds } = createChunkStore(counted);
    const view = { pairs: new Set([1]), now: 1 };
    const chunks = all("a", view);
    expect(chunks.length).toBeGreaterThan(5);
    const most = rows;
    for (const [index, chunk] of chunks.entries()) expect(one("a", view, index)).toEqual(chunk);
    expect(one("a", view, chunks.length)).toBeUndefined();
    // As many as for all at once: a chunk reads no other.
    expect(rows).toBe(2 * most);
    expect(all("a", { ...view, pairs: new Set([2]) })).toEqual([]);
    expect(one("a", { ...view, pairs: new Set([2]) }, 0)).toBeUndefined();
    database.exec("UPDATE documents SET hold = 2");
    expect([holds("a"), holds("a"), holds("a")]).toEqual([true, true, false]);
    database.exec("UPDATE documents SET hidden = 1");
    expect(all("a", view)).toEqual([]);
    expect(all("a", { ...view, hidden: true })).toHaveLength(chunks.length);
    indexer.stop();
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
