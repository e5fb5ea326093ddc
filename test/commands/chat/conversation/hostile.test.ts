import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { chatPath, createWorld } from "../support.ts";
import { startTalk } from "./talking.ts";

const evil = "\u001b]0;PWN\u0007\u001b[2J\u009b31m\u202eevil\r\u001b]52;c;AAAA\u0007";
const id = "11111111-2222-4333-8444-555555555555";

const packet = (obj: object) => ({ placement: { turn_index: 0, tab_index: 0 }, obj });
const document = {
  document_id: evil,
  semantic_identifier: evil,
  link: `https://example.com/${evil}`,
  blurb: evil,
  source_type: evil,
};
const lines = [
  { chat_session_id: id },
  { user_message_id: 1, reserved_assistant_message_id: 2 },
  packet({ type: "message_start", final_documents: [document] }),
  packet({ type: "citation_info", citation_number: 1, document_id: evil }),
  packet({ type: "message_delta", content: `${evil} [[1]](https://example.com/${evil})` }),
  packet({ type: "stop" }),
];

const session = {
  chat_session_id: id,
  description: evil,
  persona_id: 0,
  messages: [
    {
      message_id: 1,
      parent_message: null,
      latest_child_message: 2,
      message: "",
      message_type: "system",
    },
    {
      message_id: 2,
      parent_message: 1,
      latest_child_message: 3,
      message: evil,
      message_type: "user",
    },
    {
      message_id: 3,
      parent_message: 2,
      latest_child_message: null,
      message: evil,
      message_type: "assistant",
      context_docs: [document],
      citations: { 1: evil },
    },
  ],
};

function answering(path: string, body: unknown) {
  return { when: { path }, do: { status: 200, body } };
}

const rules = [
  answering("/api/persona", [{ id: 1, name: evil, description: evil }]),
  answering("/api/tool", [{ id: 1, name: evil, display_name: evil, description: evil }]),
  answering("/api/chat/get-user-chat-sessions", {
    sessions: [{ id, name: evil, time_updated: evil }],
    has_more: false,
  }),
  answering("/api/chat/get-chat-session", session),
  {
    when: { path: chatPath },
    do: {
      status: 200,
      headers: { "content-type": "text/event-stream" },
      body: lines.map((line) => `${JSON.stringify(line)}\n`).join(""),
    },
  },
];

/** What our own sequences leave: the cursor's ways, erasing, synchronised output, and the clipboard of /copy. */
function withoutOwn(screen: string): string {
  return screen
    .replace(/\u001b\[(?:\?2026[hl]|\d*[A-DGKJ]|\d*m)/g, "")
    .replace(/\u001b\]52;c;(?!AAAA)[A-Za-z0-9+/=]+\u0007/g, "")
    .replace(/\r(?=\n|$|[^\n])/g, "");
}

describe("hostile text", () => {
  it("stays inert in everything that the conversation shows", async () => {
    const world = await createWorld({ dialect: "onyx", faults: { rules } });
    writeFileSync(join(world.home, "a.md"), "x");
    const talk = await startTalk(world, [], { isTimeless: true });
    for (const line of [
      "hi",
      "/sources",
      "/open 1",
      "/open x",
      "/copy",
      "/copy 1",
      "/agent",
      "/tools",
      "/sessions",
      `/session ${id}`,
      "/session",
      "/retry",
      "/model",
      "/save all all.md",
    ]) {
      await talk.enter(line);
    }
    talk.press("/agent \t\t/tools \t\t");
    talk.press(`\u001b[200~${evil}\u001b[201~`);
    await talk.until("evil");
    const screen = talk.screen();
    expect(screen).toContain("^[]0;PWN^G");
    expect(withoutOwn(screen)).not.toMatch(
      /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202e]/,
    );
    // Only /copy may speak of the clipboard, and what it hands over is inert as well.
    for (const [, text] of screen.matchAll(/\u001b\]52;c;([^\u0007]*)\u0007/g)) {
      expect(Buffer.from(text!, "base64").toString()).not.toMatch(
        /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/,
      );
    }
  });

  it("is inert in the file of --save, too", async () => {
    const world = await createWorld({ dialect: "onyx", faults: { rules } });
    expect((await world.run(["--save", "a.md", "hi"])).code).toBe(0);
    const saved = readFileSync(join(world.home, "a.md"), "utf8");
    expect(saved).toContain("evil");
    expect(saved).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
  });
});
