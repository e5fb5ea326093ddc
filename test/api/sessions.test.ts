import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import {
  canListSessions,
  createSession,
  deleteSession,
  getSession,
  listSessions,
  renameSession,
  resumeChat,
} from "../../src/api/sessions.ts";
import { bodyOf, closeAll, errorOf, openClient, startHttp } from "./support.ts";

afterEach(closeAll);

const read = (name: string): string =>
  readFileSync(new URL(`../fixtures/wire/${name}`, import.meta.url), "utf8");
const id = "6f1c2f0e-8c57-4b7c-9f27-3a2f9f3b1a11";

/** A service that answers everything with this text, and what it was asked. */
async function answering(text: string, status = 200, type = "application/json") {
  const bodies: string[] = [];
  const server = await startHttp((request, response) => {
    void bodyOf(request).then((body) => {
      bodies.push(body);
      response.writeHead(status, { "content-type": type }).end(text);
    });
  });
  return { client: openClient(server.url, { dialect: "onyx" }), seen: server.seen, bodies };
}

async function all<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const found: Item[] = [];
  for await (const item of items) found.push(item);
  return found;
}

describe("sessions on the wire", () => {
  it("are listed with what they may lack and what is unknown", async () => {
    const { client, seen } = await answering(read("sessions.json"));
    const sessions = await all(listSessions(client, { pageSize: 500 }));
    expect(sessions.map(({ name }) => name)).toEqual(["Leave in summer", null]);
    expect(sessions[1]).toHaveProperty("a_member_of_tomorrow");
    // Without the second parameter, the chats of projects would be missing.
    expect(seen).toEqual([
      "GET /api/chat/get-user-chat-sessions?page_size=100&only_non_project_chats=false",
    ]);
  });

  it("are read with their messages, whatever form the documents have", async () => {
    const { client, seen } = await answering(read("stored-session.json"));
    const session = await getSession(client, id);
    expect(session.messages.map(({ message_id }) => message_id)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(seen).toEqual([`GET /api/chat/get-chat-session/${id}`]);
    const [, , , answer] = session.messages;
    const older = { ...answer, context_docs: { top_documents: answer?.context_docs } };
    const again = await answering(JSON.stringify({ ...session, messages: [older] }));
    const [message] = (await getSession(again.client, id)).messages;
    expect(message?.context_docs).toEqual(answer?.context_docs);
  });

  it.each(["a b", "../x", "$(id)", ""])(
    "with an id that is none are refused (%j): it would stand in commands for copying",
    async (bad) => {
      const listed = await answering(JSON.stringify({ sessions: [{ id: bad }] }));
      expect(await errorOf(all(listSessions(listed.client)))).toMatchObject({
        exit: "server-error",
      });
      const created = await answering(JSON.stringify({ chat_session_id: bad }));
      expect(await errorOf(createSession(created.client))).toMatchObject({ exit: "server-error" });
    },
  );

  it("are made, renamed and deleted", async () => {
    const made = await answering(JSON.stringify({ chat_session_id: id, incognito: false }));
    expect(await createSession(made.client, { personaId: 3 })).toBe(id);
    expect(made.seen).toEqual(["POST /api/chat/create-chat-session"]);
    expect(made.bodies).toEqual(['{"persona_id":3}']);
    const renamed = await answering('{"new_name":"x"}');
    expect(await renameSession(renamed.client, id, "X")).toBe("x");
    expect(renamed.seen).toEqual(["PUT /api/chat/rename-chat-session"]);
    const deleted = await answering("null");
    await deleteSession(deleted.client, id);
    expect(deleted.seen).toEqual([`DELETE /api/chat/delete-chat-session/${id}`]);
  });

  it.each([400, 403])("are refused with status %i for their agent, too", async (status) => {
    const server = await startHttp((_request, response) => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end('{"detail":"Persona is not available"}');
    });
    const client = openClient(server.url, { dialect: "onyx" });
    const hint = "check the agent and the project of the question";
    const named = await errorOf(createSession(client, { personaId: 9 }));
    expect(named).toMatchObject({ hints: expect.arrayContaining([hint]) });
    const unnamed = await errorOf(createSession(client));
    expect(unnamed).toMatchObject({ hints: expect.not.arrayContaining([hint]) });
  });

  it("are not made twice when the answer is lost", async () => {
    const server = await startHttp((request) => request.socket.resetAndDestroy());
    const client = openClient(server.url, { dialect: "onyx" });
    await errorOf(createSession(client));
    expect(server.seen).toHaveLength(1);
  });

  it("are said to be missing where the dialect lacks them", async () => {
    const client = openClient("http://127.0.0.1:9");
    expect(canListSessions(client)).toBe(false);
    expect(await createSession(client)).toBeUndefined();
    expect(await resumeChat(client, id)).toBeUndefined();
    const calls = [
      all(listSessions(client)),
      getSession(client, id),
      renameSession(client, id, "x"),
      deleteSession(client, id),
    ];
    for (const call of calls) expect(await errorOf(call)).toMatchObject({ exit: "not-found" });
  });
});

describe("resumeChat", () => {
  const stream = "text/event-stream";

  it("gives the events of the answer from its beginning", async () => {
    const { client, seen } = await answering(read("answer.ndjson"), 200, stream);
    const batches = await all((await resumeChat(client, id))!);
    expect(batches.flat().at(-1)).toMatchObject({ kind: "packet", packet: { type: "stop" } });
    expect(seen).toEqual([`GET /api/chat/chat-session/${id}/resume-stream?cursor=0`]);
  });

  it("is nothing where no run is in flight", async () => {
    const { client } = await answering('{"error_code":"NOT_FOUND","detail":"x"}', 404);
    expect(await resumeChat(client, id)).toBeUndefined();
  });

  it("is incomplete when it is cut, and says nothing of a question", async () => {
    const { client } = await answering(read("cut.ndjson"), 200, stream);
    const error = await errorOf(all((await resumeChat(client, id))!));
    expect(error).toMatchObject({ exit: "incomplete" });
    expect(error.message).not.toContain("question");
  });

  it("asks again after a fault: reading is no question", async () => {
    const server = await startHttp((request, response) => {
      if (server.seen.length === 1) request.socket.resetAndDestroy();
      else response.writeHead(200, { "content-type": stream }).end(read("answer.ndjson"));
    });
    const client = openClient(server.url, { dialect: "onyx" });
    expect((await all((await resumeChat(client, id))!)).length).toBeGreaterThan(0);
    expect(server.seen).toHaveLength(2);
  });
});
