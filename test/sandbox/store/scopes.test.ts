import { expect, it } from "vitest";
import { key, start } from "../start.ts";

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
