import { describe, expect, it } from "vitest";
import { start } from "../start.ts";

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
