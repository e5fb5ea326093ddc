import { describe, expect, it } from "vitest";
import { start } from "../start.ts";

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
