import { chmodSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defaultPairs } from "../../../src/sandbox/store/seeds.ts";
import { temporaryFolder } from "../../support.ts";
import { documentOf, key, start } from "../start.ts";

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
