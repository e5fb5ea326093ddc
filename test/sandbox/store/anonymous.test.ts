import { describe, expect, it } from "vitest";
import { defaultPairs } from "../../../src/sandbox/store/pairs/connectors.ts";
import { documentOf, start } from "../start.ts";

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
