import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { documentOf, start, type Started } from "../start.ts";

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
