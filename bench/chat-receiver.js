// Answers every question with a short stream, at once: what is measured is the tool, not a service.
import { createServer } from "node:http";

const placement = { turn_index: 1, tab_index: 0, sub_turn_index: null, model_index: 0 };
const lines = [
  { chat_session_id: "3f1c6b0e-5a52-4a9e-9a38-0c3f1b6d7e21", incognito: false },
  { user_message_id: 12, reserved_assistant_message_id: 13 },
  { placement, obj: { type: "message_start", final_documents: null } },
  { placement, obj: { type: "message_delta", content: "Hello" } },
  { placement, obj: { type: "stop", stop_reason: null } },
];
const body = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
const server = createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(body);
  });
});
server.listen(0, "127.0.0.1", () => console.log(`http://127.0.0.1:${server.address().port}`));
