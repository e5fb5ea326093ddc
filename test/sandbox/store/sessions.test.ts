import { join } from "node:path";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { Packet, PacketLine } from "../../../src/api/chat-schemas.ts";
import { openDatabase } from "../../../src/database.ts";
import { heldClock } from "../../held-clock.ts";
import { documentOf, type Line, linesOf, start } from "../start.ts";

const detailOf = async (sandbox: Awaited<ReturnType<typeof start>>, id: string) =>
  (await sandbox.get(`/api/chat/get-chat-session/${id}`)).json() as {
    messages: {
      message_id: number;
      parent_message: number | null;
      latest_child_message: number | null;
      message: string;
      message_type: string;
      error: string | null;
    }[];
    current_run: unknown;
  };

describe("the message tree", () => {
  it("grows at its end, by parent, from the root, and answers anew", async () => {
    const sandbox = await start({ dialect: "onyx" });
    const first = await sandbox.whole("one");
    const chat_session_id = first.chat_session_id!;
    const send = (message: string, parent?: number | null) =>
      sandbox.whole(message, {
        chat_session_id,
        ...(parent === undefined ? {} : { parent_message_id: parent }),
      });
    const second = await send("two");
    const third = await send("three", -1);
    // From the middle: what came after leaves the branch.
    const branch = await send("two again", first.message_id);
    const off = await sandbox.send("POST", "/api/chat/send-chat-message", {
      message: "x",
      stream: false,
      chat_session_id,
      parent_message_id: third.message_id,
    });
    expect([off.status, off.json()]).toEqual([400, { message: "Message ID is required" }]);
    const restart = await send("from the root", null);
    const { messages } = await detailOf(sandbox, chat_session_id);
    const byId = new Map(messages.map((message) => [message.message_id, message]));
    const questionOf = (answer: typeof first) =>
      byId.get(byId.get(answer.message_id!)!.parent_message!)!;
    const root = messages[0]!;
    expect(root).toMatchObject({ message_type: "system", parent_message: null });
    expect(questionOf(first).parent_message).toBe(root.message_id);
    expect(questionOf(second).parent_message).toBe(first.message_id);
    expect(questionOf(third).parent_message).toBe(second.message_id);
    expect(questionOf(branch).parent_message).toBe(first.message_id);
    expect(questionOf(restart).parent_message).toBe(root.message_id);
    expect(root.latest_child_message).toBe(questionOf(restart).message_id);
    // The parent is a question: it is answered once more, the text sent along is ignored.
    const again = await send("ignored", questionOf(restart).message_id);
    const after = await detailOf(sandbox, chat_session_id);
    expect(after.messages.filter(({ message }) => message === "ignored")).toEqual([]);
    expect(questionOf(restart).message_id).toBe(
      after.messages.find(({ message_id }) => message_id === again.message_id)!.parent_message,
    );
  });

  it("holds the error of a failed turn", async () => {
    const sandbox = await start({ dialect: "onyx" });
    const reply = await sandbox.whole("x", { forced_tool_id: 9 });
    const { messages } = await detailOf(sandbox, reply.chat_session_id!);
    expect(messages.at(-1)).toMatchObject({
      message: "Forced tool 9 not found in tools",
      error: "Forced tool 9 not found in tools",
    });
  });

  it("is kept over a restart", async () => {
    const first = await start({ dialect: "onyx" });
    const { chat_session_id } = await first.whole("one");
    await first.close();
    const second = await start({ dialect: "onyx", dataFolder: first.dataFolder });
    await second.whole("two", { chat_session_id });
    expect((await detailOf(second, chat_session_id!)).messages).toHaveLength(5);
  });
});

const unknownSession = "00000000-0000-4000-8000-000000000009";

describe("managing sessions in onyx", () => {
  it("lists, renames, deletes", async () => {
    let now = 1_700_000_000_000;
    const clock = { now: () => (now += 1000), sleep: () => Promise.resolve(), random: Math.random };
    const sandbox = await start({ dialect: "onyx", clock });
    const ids: (string | null | undefined)[] = [];
    for (const message of ["one", "two", "three"])
      ids.push((await sandbox.whole(message)).chat_session_id);
    const list = async (query = "") =>
      (await sandbox.get(`/api/chat/get-user-chat-sessions${query}`)).json() as {
        sessions: { id: string; name: string | null; time_updated: string }[];
        has_more: boolean;
      };
    const all = await list();
    expect([all.sessions.map(({ id }) => id), all.has_more]).toEqual([ids.toReversed(), false]);
    const page = await list("?page_size=2");
    expect([page.sessions.length, page.has_more]).toEqual([2, true]);
    const next = await list(
      `?page_size=2&before=${encodeURIComponent(page.sessions[1]!.time_updated)}`,
    );
    expect(next.sessions.map(({ id }) => id)).toEqual([ids[0]]);
    expect((await sandbox.get("/api/chat/get-user-chat-sessions?page_size=101")).status).toBe(422);
    const rename = (name: string | null) =>
      sandbox.send("PUT", "/api/chat/rename-chat-session", { chat_session_id: ids[0], name });
    for (const empty of [null, ""]) {
      expect((await rename("Mine")).json()).toEqual({ new_name: "Mine" });
      expect((await rename(empty)).json()).toEqual({ new_name: "one" });
    }
    const path = `/api/chat/delete-chat-session/${ids[0]}`;
    expect((await sandbox.send("DELETE", path)).text).toBe("null");
    expect((await sandbox.send("DELETE", path)).status).toBe(400);
    expect((await sandbox.get(`/api/chat/get-chat-session/${ids[0]}`)).status).toBe(404);
    expect((await list()).sessions).toHaveLength(2);
    const [line] = await sandbox.ask("x", { chat_session_id: ids[0] });
    expect(line).toMatchObject({ error: "Chat session has been deleted" });
  });

  it("deletes for good when asked to", async () => {
    const sandbox = await start({ dialect: "onyx" });
    const { chat_session_id } = await sandbox.whole("one");
    const path = `/api/chat/delete-chat-session/${chat_session_id}?hard_delete=true`;
    expect((await sandbox.send("DELETE", path)).text).toBe("null");
    const [line] = await sandbox.ask("x", { chat_session_id });
    expect(line).toMatchObject({ error: "Invalid Chat Session ID provided" });
  });

  it("hides an old session without a message, unless it is asked for", async () => {
    let now = 1_700_000_000_000;
    const clock = { now: () => now, sleep: () => Promise.resolve(), random: Math.random };
    const sandbox = await start({ dialect: "onyx", clock });
    await sandbox.send("POST", "/api/chat/create-chat-session", {});
    const count = async (query = "") => {
      const answer = await sandbox.get(`/api/chat/get-user-chat-sessions${query}`);
      return (answer.json() as { sessions: unknown[] }).sessions.length;
    };
    expect(await count()).toBe(1);
    now += 10 * 60_000;
    expect([await count(), await count("?include_failed_chats=true")]).toEqual([0, 1]);
  });

  it("replays the packets of each answer and names its model", async () => {
    const sandbox = await start({ dialect: "onyx" });
    await sandbox.ingest(documentOf({ sections: [{ text: "Wombats sleep in burrows." }] }));
    await sandbox.idle();
    const override = { model_provider: "none", model_version: "gpt-0" };
    const reply = await sandbox.whole("wombats", { llm_override: override });
    const stored = (
      await sandbox.get(`/api/chat/get-chat-session/${reply.chat_session_id}`)
    ).json() as {
      messages: { model_display_name: string | null }[];
      packets: Line[][];
    };
    // The words of the override, although its provider is unknown and another model answered.
    expect(stored.messages.map((message) => message.model_display_name)).toEqual([
      null,
      null,
      "gpt-0",
    ]);
    expect(stored.packets).toHaveLength(1);
    const [lines] = stored.packets;
    for (const line of lines!) z.parse(Packet, z.parse(PacketLine, line).obj);
    const text = lines!.flatMap(({ obj }) =>
      obj?.type === "message_delta" ? [obj["content"]] : [],
    );
    expect(text).toEqual([reply.answer]);
    expect(lines!.filter(({ obj }) => obj?.type === "citation_info").map(({ obj }) => obj)).toEqual(
      reply.citation_info,
    );
  });

  it("refuses the file of another version", async () => {
    const first = await start({ dialect: "onyx" });
    await first.close();
    const database = await openDatabase(join(first.dataFolder, "sandbox.sqlite"));
    database.exec("PRAGMA user_version = 1");
    database.close();
    await expect(start({ dataFolder: first.dataFolder })).rejects.toMatchObject({
      exit: "local",
      message: expect.stringContaining("another version of knowctl"),
    });
  });

  it("creates an empty session that a message can go on in", async () => {
    const sandbox = await start({ dialect: "onyx" });
    const created = await sandbox.send("POST", "/api/chat/create-chat-session", {});
    const { chat_session_id } = created.json() as { chat_session_id: string };
    expect((await sandbox.whole("x", { chat_session_id })).error_msg).toBeNull();
  });

  it("is not there in standard", async () => {
    const sandbox = await start();
    const { chat_session_id } = await sandbox.whole("x");
    for (const path of ["get-user-chat-sessions", `get-chat-session/${chat_session_id}`]) {
      expect((await sandbox.get(`/api/chat/${path}`)).status).toBe(404);
    }
  });
});

describe("a run in flight", () => {
  const message = "What is there?";
  it("can be stopped; the part that was said is kept", async () => {
    const clock = heldClock();
    const sandbox = await start({ dialect: "onyx", clock, tokenDelayMs: 5 });
    const created = await sandbox.send("POST", "/api/chat/create-chat-session", {});
    const { chat_session_id } = created.json() as { chat_session_id: string };
    const lines = sandbox.ask(message, { chat_session_id });
    await clock.pausing;
    expect((await detailOf(sandbox, chat_session_id)).current_run).not.toBeNull();
    const stop = await sandbox.send("POST", `/api/chat/stop-chat-session/${chat_session_id}`);
    expect(stop.json()).toEqual({ message: "Chat session stopped" });
    expect((await lines).at(-1)).toMatchObject({
      placement: { model_index: null },
      obj: { type: "stop", stop_reason: "user_cancelled" },
    });
    const { messages, current_run } = await detailOf(sandbox, chat_session_id);
    expect(messages.at(-1)!.message).toContain("stopped by the user");
    expect(current_run).toBeNull();
  });

  it("runs to its end when the client leaves, and is stored", async () => {
    const clock = heldClock();
    const sandbox = await start({ dialect: "onyx", clock, tokenDelayMs: 5 });
    const created = await sandbox.send("POST", "/api/chat/create-chat-session", {});
    const { chat_session_id } = created.json() as { chat_session_id: string };
    const leave = new AbortController();
    const asked = fetch(`${sandbox.url}/api/chat/send-chat-message`, {
      method: "POST",
      signal: leave.signal,
      headers: { authorization: "Bearer a-key-of-the-test", "content-type": "application/json" },
      body: JSON.stringify({ message, chat_session_id }),
    });
    await asked;
    await clock.pausing;
    const before = await detailOf(sandbox, chat_session_id);
    expect(before.messages.at(-1)!.message).toContain(
      "Response was terminated prior to completion",
    );
    leave.abort();
    clock.release();
    await expect
      .poll(async () => (await detailOf(sandbox, chat_session_id)).messages.at(-1)!.message)
      .toContain("Nothing in the indexed documents matches");
  });

  it("can be read again from its start while it goes on, by any number of readers", async () => {
    const clock = heldClock();
    const sandbox = await start({ dialect: "onyx", clock, tokenDelayMs: 5 });
    const created = await sandbox.send("POST", "/api/chat/create-chat-session", {});
    const { chat_session_id } = created.json() as { chat_session_id: string };
    const asked = sandbox.ask(message, { chat_session_id });
    await clock.pausing;
    const path = `/api/chat/chat-session/${chat_session_id}/resume-stream?cursor=`;
    const headers = { authorization: "Bearer a-key-of-the-test" };
    // Answered at once, long before the run ends.
    const resumed = await Promise.all(
      ["0", "1", "x"].map((cursor) => fetch(sandbox.url + path + cursor, { headers })),
    );
    expect(resumed[0]!.headers.get("content-type")).toBe("text/event-stream; charset=utf-8");
    clock.release();
    const lines = await asked;
    expect(lines.at(-1)).toMatchObject({ obj: { type: "stop" } });
    const [all, rest, odd] = await Promise.all(
      resumed.map(async (each) => linesOf(await each.text())),
    );
    expect([all, rest, odd]).toEqual([lines, lines.slice(1), lines]);
    expect((await sandbox.get(`${path}0`)).status).toBe(404);
  });

  it("is stored whole when the sandbox ends", async () => {
    const clock = heldClock();
    const first = await start({ dialect: "onyx", clock, tokenDelayMs: 5 });
    const created = await first.send("POST", "/api/chat/create-chat-session", {});
    const { chat_session_id } = created.json() as { chat_session_id: string };
    const lost = first.ask(message, { chat_session_id }).catch(() => "cut");
    await clock.pausing;
    await first.close();
    expect(await lost).toBe("cut");
    const second = await start({ dialect: "onyx", dataFolder: first.dataFolder });
    const { messages } = await detailOf(second, chat_session_id);
    expect(messages.at(-1)!.message).toContain("Nothing in the indexed documents matches");
  });

  it("knows no run to stop in an idle session, and no unknown session", async () => {
    const sandbox = await start({ dialect: "onyx" });
    const { chat_session_id } = await sandbox.whole("x");
    const stop = (id: string | null | undefined) =>
      sandbox.send("POST", `/api/chat/stop-chat-session/${id}`);
    expect((await stop(chat_session_id)).status).toBe(200);
    expect((await stop(unknownSession)).json()).toMatchObject({ error_code: "SESSION_NOT_FOUND" });
    const resume = await sandbox.get(
      `/api/chat/chat-session/${chat_session_id}/resume-stream?cursor=0`,
    );
    expect([resume.status, resume.json()]).toMatchObject([404, { error_code: "NOT_FOUND" }]);
  });
});
