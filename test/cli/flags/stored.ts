import { readFileSync } from "node:fs";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { searchTurn } from "../../output/chat/lines.ts";

const text = readFileSync(
  new URL("../../fixtures/wire/stored-session.json", import.meta.url),
  "utf8",
).replaceAll("manager", "**manager**");
const stored = JSON.parse(text) as { chat_session_id: string; messages: object[] };

/** A stored session with a source, a word in bold and another branch. */
export const storedId = stored.chat_session_id;

/** One whose answer is still being made: reasoning, a search, interim text, a source. */
export const runningId = "11111111-2222-4333-8444-555555555555";

/** The lines of an answer with reasoning, a search, interim text, a source and a word in bold. */
export const answerLines = searchTurn.map(({ raw }) => raw.replaceAll("manager", "**manager**"));

const running = {
  ...stored,
  chat_session_id: runningId,
  messages: stored.messages.slice(0, 4),
  current_run: { run_id: "r" },
};
const stream = {
  status: 200,
  headers: { "content-type": "text/event-stream" },
  body: `${answerLines.join("\n")}\n`,
};

/** An address of the onyx dialect that answers late. */
export const latePath = "chat/get-chat-session/late";

/** Answers of a service that keeps both sessions. */
export const storedRules: FaultRule[] = [
  { when: { path: `/api/${latePath}` }, do: { status: 200, body: {}, delayMs: 400 } },
  { when: { path: `/api/chat/get-chat-session/${storedId}` }, do: { status: 200, body: stored } },
  { when: { path: `/api/chat/get-chat-session/${runningId}` }, do: { status: 200, body: running } },
  { when: { path: `/api/chat/chat-session/${runningId}` }, do: stream },
];
