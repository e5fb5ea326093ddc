import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { documentOf, start, type Started } from "../start.ts";

const unknown = "00000000-0000-4000-8000-000000000009";
const session = "/api/chat/";

/** Request, status and body of a refusal: observed-service.md 12. */
const refusals: [
  method: string,
  path: string,
  body: object | undefined,
  status: number,
  reply: object,
][] = [
  [
    "DELETE",
    `${session}delete-chat-session/${unknown}`,
    undefined,
    400,
    { detail: "Invalid Chat Session ID provided" },
  ],
  [
    "PUT",
    `${session}rename-chat-session`,
    { chat_session_id: unknown, name: "x" },
    400,
    { message: "Invalid Chat Session ID provided" },
  ],
  [
    "GET",
    `${session}chat-session/${unknown}/resume-stream`,
    undefined,
    404,
    { error_code: "SESSION_NOT_FOUND" },
  ],
  [
    "POST",
    `${session}stop-chat-session/${unknown}`,
    undefined,
    404,
    { error_code: "SESSION_NOT_FOUND" },
  ],
  ["GET", `${session}get-chat-session/${unknown}`, undefined, 404, { detail: expect.any(String) }],
  ["GET", `${session}get-user-chat-sessions?before=x`, undefined, 422, { status_code: 422 }],
  [
    "POST",
    `${session}create-chat-session`,
    { project_id: 5 },
    403,
    { detail: "User does not have access to project" },
  ],
  [
    "POST",
    `${session}create-chat-session`,
    { persona_id: 5 },
    403,
    { detail: "User does not have access to persona" },
  ],
  [
    "POST",
    `${session}create-chat-session`,
    { incognito: true },
    403,
    { detail: expect.any(String) },
  ],
  [
    "PUT",
    "/api/manage/admin/cc-pair/999/status",
    { status: "PAUSED" },
    403,
    { error_code: "INSUFFICIENT_PERMISSIONS" },
  ],
  ["GET", "/api/persona/5", undefined, 404, { error_code: "PERSONA_NOT_FOUND" }],
];

describe("onyx: the sandbox refuses in the words of the service", () => {
  it.each(refusals)("%s %s %j", async (method, path, body, status, reply) => {
    const { send } = await start({ dialect: "onyx" });
    const answer = await send(method, path, body);
    expect([answer.status, answer.json()]).toMatchObject([status, reply]);
  });

  it.each([
    ["DELETE", `${session}delete-chat-session/x`],
    ["GET", `${session}get-chat-session/x`],
    ["GET", `${session}chat-session/x/resume-stream`],
    ["POST", `${session}stop-chat-session/x`],
    ["GET", "/api/user/projects/file/x"],
  ])("an id that is no UUID is 422: %s %s", async (method, path) => {
    const { send } = await start({ dialect: "onyx" });
    const answer = await send(method, path);
    expect([answer.status, answer.json()]).toMatchObject([422, { status_code: 422 }]);
  });

  it("a wrong key at /me is Unauthorized", async () => {
    const { get } = await start({ dialect: "onyx" });
    const answer = await get("/api/me", { authorization: "Bearer wrong" });
    expect([answer.status, answer.json()]).toEqual([403, { detail: "Unauthorized" }]);
  });
});

describe("a turn that cannot begin", () => {
  it.each([
    ["onyx", { chat_session_info: { persona_id: 5 } }, "User does not have access to persona"],
    ["standard", { chat_session_info: { persona_id: 5 } }, "User does not have access to persona"],
    ["onyx", { chat_session_info: { project_id: 5 } }, "User does not have access to project"],
    [
      "onyx",
      { internal_search_filters: { document_set: ["x", "Handbook", "y"] } },
      "User does not have access to document sets: ['x', 'y']",
    ],
  ] as const)("%s %j", async (dialect, change, error) => {
    const { ask } = await start({ dialect });
    expect((await ask("leave", change)).at(-1)).toMatchObject({ error });
  });

  it("leaves an empty session behind, which the list shows", async () => {
    const { send, get } = await start({ dialect: "onyx" });
    const body = { message: "x", stream: false, internal_search_filters: { document_set: ["x"] } };
    const refused = await send("POST", "/api/chat/send-chat-message", body);
    expect([refused.status, refused.json()]).toEqual([400, { message: "Message ID is required" }]);
    const { sessions } = (await get("/api/chat/get-user-chat-sessions")).json() as {
      sessions: { time_updated: string }[];
    };
    expect(sessions).toHaveLength(1);
    expect(sessions[0]!.time_updated).toMatch(/\+00:00$/);
  });

  it("may not be incognito", async () => {
    const { send } = await start({ dialect: "onyx" });
    const body = { message: "x", chat_session_info: { incognito: true } };
    expect((await send("POST", "/api/chat/send-chat-message", body)).status).toBe(403);
  });
});

it("onyx: times of uploads end in Z, and have no offset in the list of recent files", async () => {
  const { send, get } = await start({ dialect: "onyx" });
  const form = new FormData();
  form.append("files", new File(["x"], "a.txt", { type: "text/plain" }));
  const uploaded = (await send("POST", "/api/user/projects/file/upload", form)).json() as {
    user_files: { created_at: string }[];
  };
  expect(uploaded.user_files[0]!.created_at).toMatch(/\dZ$/);
  const [recent] = (await get("/api/user/files/recent")).json() as { created_at: string }[];
  expect(recent!.created_at).toMatch(/T\d\d:\d\d:\d\d(?:\.\d+)?$/);
});

it("onyx: a paused pair is deleted with its documents, and its number is not used again", async () => {
  const first = await start({ dialect: "onyx" });
  const { send, get, ingest } = first;
  await ingest({ id: "a", semantic_identifier: "A", sections: [], metadata: {} }, 7);
  const path = "/api/manage/admin/deletion-attempt";
  const body = { connector_id: 17, credential_id: 27 };
  expect((await send("POST", path, body)).status).toBe(400);
  await send("PUT", "/api/manage/admin/cc-pair/7/status", { status: "PAUSED" });
  expect((await send("POST", path, body)).status).toBe(200);
  expect((await send("POST", path, body)).status).toBe(404);
  expect((await get("/api/manage/admin/cc-pair/7")).status).toBe(404);
  expect((await get("/api/onyx-api/ingestion")).json()).toEqual([]);
  await first.close();
  const second = await start({ dialect: "onyx", dataFolder: first.dataFolder });
  expect((await second.get("/api/manage/admin/cc-pair/7")).status).toBe(404);
});

describe("feedback", () => {
  const create = "/api/chat/create-chat-message-feedback";

  describe("onyx: feedback on an answer", () => {
    it("is shown with the answer; the last one counts, and it can be removed", async () => {
      const { whole, send, get } = await start({ dialect: "onyx" });
      const { chat_session_id, message_id } = await whole("leave");
      const body = { chat_message_id: message_id };
      const kinds = async () => {
        const path = `/api/chat/get-chat-session/${chat_session_id}`;
        const { messages } = (await get(path)).json() as {
          messages: { current_feedback: string | null }[];
        };
        return messages.map((message) => message.current_feedback);
      };
      expect(await kinds()).toEqual([null, null, null]);
      expect((await send("POST", create, { ...body, is_positive: true })).text).toBe("null");
      expect(await kinds()).toEqual([null, null, "like"]);
      await send("POST", create, { ...body, is_positive: false, predefined_feedback: "x" });
      expect(await kinds()).toEqual([null, null, "dislike"]);
      await send("POST", create, { ...body, feedback_text: "It is twelve" });
      expect(await kinds()).toEqual([null, null, null]);
      await send("POST", create, { ...body, is_positive: true });
      const remove = `/api/chat/remove-chat-message-feedback?chat_message_id=${message_id}`;
      expect((await send("DELETE", remove)).text).toBe("null");
      expect(await kinds()).toEqual([null, null, null]);
      const none = "/api/chat/remove-chat-message-feedback";
      expect((await send("DELETE", none)).status).toBe(422);
      expect((await send("DELETE", `${none}?chat_message_id=x`)).status).toBe(422);
    });

    it("is refused for a question and for an unknown message", async () => {
      const { whole, send } = await start({ dialect: "onyx" });
      const { message_id } = await whole("leave");
      for (const id of [message_id! - 1, 99]) {
        const answer = await send("POST", create, { chat_message_id: id, is_positive: true });
        expect(answer.status).toBe(400);
        expect(answer.json()).toEqual({ message: expect.any(String) });
      }
    });
  });
});

describe("history", () => {
  interface Sample {
    endpoint: string;
    body: never;
  }
  type Item = Record<string, unknown>;
  interface Page {
    items: Item[];
    total_items: number;
  }

  const path = "/api/admin/chat-session-history";
  const members = (value: unknown): string[] => Object.keys(value as object).toSorted();
  const sampleOf = (name: string, endpoint: string): never => {
    const url = new URL(`../../fixtures/samples/${name}.json`, import.meta.url);
    const { responses } = JSON.parse(readFileSync(url, "utf8")) as { responses: Sample[] };
    return responses.find((each) => each.endpoint === endpoint)!.body;
  };

  const list = async ({ get }: Started, query = ""): Promise<Page> =>
    (await get(path + query)).json();

  async function startWithAnswer() {
    const sandbox = await start({ dialect: "onyx" });
    const sections = [{ text: "Twenty-five days of leave." }];
    await sandbox.ingest(documentOf({ sections }));
    await sandbox.idle();
    const reply = await sandbox.whole("leave");
    const judge = (chat_message_id: unknown, more: object) =>
      sandbox.send("POST", "/api/chat/create-chat-message-feedback", { chat_message_id, ...more });
    return { sandbox, reply, judge };
  }

  describe("onyx: the history of sessions", () => {
    it("has the members of the service", async () => {
      const { sandbox, reply } = await startWithAnswer();
      const page = await list(sandbox);
      const expected = sampleOf("query-history", "GET /admin/chat-session-history") as Page;
      expect(members(page)).toEqual(members(expected));
      expect(members(page.items[0])).toEqual(members(expected.items[0]));
      const one = (await sandbox.get(`${path}/${reply.chat_session_id}`)).json() as never;
      const sample = sampleOf("query-history", "GET /admin/chat-session-history/{uuid}");
      expect(members(one)).toEqual(members(sample));
      const [, answer] = one["messages"] as { documents: object[] }[];
      const [, expectedAnswer] = sample["messages"] as { documents: object[] }[];
      expect(members(answer)).toEqual(members(expectedAnswer));
      expect(members(answer!.documents[0])).toEqual(members(expectedAnswer!.documents[0]));
      const started = await sandbox.send("POST", "/api/admin/query-history/start-export");
      expect(members(started.json())).toEqual(
        members(sampleOf("query-history", "POST /admin/query-history/start-export")),
      );
    });

    it("lists the first question and answer, by feedback, time and page", async () => {
      const { sandbox, reply, judge } = await startWithAnswer();
      const { chat_session_id, message_id, answer } = reply;
      await judge(message_id, { is_positive: true, feedback_text: "Right" });
      const second = await sandbox.whole("holidays", { chat_session_id });
      await sandbox.whole("another");
      const [judged] = (await list(sandbox, "?feedback_type=like")).items;
      expect(judged).toMatchObject({
        id: chat_session_id,
        first_user_message: "leave",
        first_ai_message: answer,
        feedback_type: "like",
        conversation_length: 4,
      });
      await judge(second.message_id, { is_positive: false });
      const count = async (query: string): Promise<[number, number]> => {
        const { items, total_items } = await list(sandbox, query);
        return [items.length, total_items];
      };
      expect(await count("")).toEqual([2, 2]);
      expect(await count("?feedback_type=like")).toEqual([0, 0]);
      expect(await count("?feedback_type=mixed")).toEqual([1, 1]);
      expect(await count("?page_size=1&page_num=1")).toEqual([1, 2]);
      expect(await count("?start_time=2100-01-01")).toEqual([0, 0]);
      expect(await count("?end_time=2020-01-01")).toEqual([0, 0]);
      const { messages } = (await sandbox.get(`${path}/${chat_session_id}`)).json() as {
        messages: Item[];
      };
      expect(messages.slice(0, 2)).toMatchObject([
        { message_type: "user", message: "leave", documents: [], feedback_type: null },
        { message_type: "assistant", feedback_type: "like", feedback_text: "Right" },
      ]);
    });

    it("is for administrators, and says which session is unknown", async () => {
      const { get } = await start({ dialect: "onyx", readers: [{ key: "reader" }] });
      expect((await get(path, { authorization: "Bearer reader" })).status).toBe(403);
      expect((await get(`${path}/00000000-0000-4000-8000-000000000001`)).status).toBe(404);
    });
  });

  it("onyx: the groups of a caller have the members of the service", async () => {
    const { get } = await start({ dialect: "onyx", readers: [{ key: "reader", groups: [7] }] });
    const answer = await get("/api/manage/user-groups/minimal", { authorization: "Bearer reader" });
    const [expected] = sampleOf("user-groups", "GET /manage/user-groups/minimal") as object[];
    expect(members((answer.json() as object[])[0])).toEqual(members(expected));
  });
});
