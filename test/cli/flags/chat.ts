import type { Case, Coverage, Effect, FlagCases, Setting } from "./case.ts";
import { answerLines } from "./stored.ts";

const file = { "a.md": "# A\n\ntext\n" };
const question: Setting = { args: "hello" };
const entries: object[] = answerLines.map((line, index) => ({ atMs: index * 1000, line }));
/** A recorded answer with reasoning, a search, interim text and a source. */
const recording = [{ knowctl: "recording", version: 1 }, ...entries]
  .map((each) => `${JSON.stringify(each)}\n`)
  .join("");
const played: Setting = { files: { "r.ndjson": recording }, args: "--replay r.ndjson" };
const questions = Array.from(
  { length: 12 },
  (_, index) => `{"id":"${index}","message":"q"}\n`,
).join("");
const batch: Setting = {
  files: { "q.ndjson": questions },
  args: "--batch q.ndjson",
};

const sends = (flag: string, gains: RegExp, more: Partial<Effect> = {}): Effect => ({
  ...question,
  flag,
  requests: { gains },
  ...more,
});
const besideReplay = (flag: string): Case => ({ ...played, flag, refused: /--replay/ });

/** Flags of the request: each is sent, and none goes with an answer that is only played. */
const requests: Readonly<Record<string, Effect>> = {
  "--agent": sends("--agent 0", /"persona_id":0/),
  "--project": sends("--project 4", /"project_id":4/),
  "--model": sends("--model Acme/large", /"model_provider":"Acme","model_version":"large"/),
  "--provider": sends("--provider Acme", /"model_provider":"Acme"/),
  "--model-version": sends("--model-version large", /"model_version":"large"/),
  "--temperature": sends("--temperature 0.5", /"temperature":0\.5/),
  "--tool": sends("--tool 1", /"allowed_tool_ids":\[1\]/),
  "--no-tools": sends("--no-tools", /"allowed_tool_ids":\[\]/),
  "--force-tool": sends("--force-tool 2", /"forced_tool_id":2/),
  "--source-type": sends("--source-type web", /"source_type":\["web"\]/),
  "--document-set": sends("--document-set Handbook", /"document_set":\["Handbook"\]/),
  "--filter-tag": sends("--filter-tag team=a", /"tags":\{"team":"a"\}/),
  "--since": sends("--since 2026-01-31", /"time_cutoff":"2026-01-31T00:00:00Z"/),
  "--deep-research": sends("--deep-research", /"deep_research":true/),
  "--no-stream": sends("--no-stream", /"stream":false/),
  "--max-packet": { ...question, flag: "--max-packet 1k", codes: [0, 11] },
};

const own: FlagCases = {
  "--state": { tested: "test/commands/files-in-state.test.ts" },
  "--session": [
    sends("--session 00000000-0000-4000-8000-000000000000", /"chat_session_id":"00000000/, {
      codes: [0, 9],
    }),
    {
      ...question,
      flag: "--session 00000000-0000-4000-8000-000000000000 --agent 0",
      refused: /--agent applies only/,
    },
  ],
  "--continue": sends("--continue", /"chat_session_id":"/, { first: ["chat before"] }),
  "--parent": sends("--parent 7", /"parent_message_id":7/, { codes: [0, 2] }),
  "--file": sends("--file a.md", /"file_descriptors"/, { files: file }),
  "--file-id": sends("--file-id abc", /GET \/api\/user\/projects/, { codes: [0, 9] }),
  "--payload": sends("--payload p.json", /"origin":"api"/, {
    files: { "p.json": '{"origin":"api"}' },
  }),
  "--live": [
    { ...played, flag: "--live", stdout: { gains: /Let me look that up/ } },
    { ...question, args: "hello --no-stream", flag: "--live", refused: /--no-stream/ },
  ],
  "--no-sources": [
    { ...played, flag: "--no-sources", isTTY: true, stdout: { loses: /Sources/ } },
    { ...batch, flag: "--no-sources", refused: /--batch/ },
    { ...question, args: "hello --json", flag: "--no-sources", refused: /json/ },
  ],
  "--show": [
    { ...played, flag: "--show none", stderr: { loses: /They ask about leave/ } },
    { ...batch, flag: "--show none", refused: /--batch/ },
  ],
  "--render": [
    {
      ...played,
      flag: "--render plain",
      isTTY: true,
      env: { FORCE_COLOR: "1" },
      stdout: { gains: /\*\*manager/ },
    },
    { ...batch, flag: "--render plain", refused: /--batch/ },
  ],
  "--no-remember": {
    ...question,
    flag: "--no-remember",
    after: "sessions list --local",
    stdout: { loses: /hello/ },
  },
  "--save": { ...played, flag: "--save out.md", left: { gains: /out\.md: Ask your/ } },
  "--record": { ...question, flag: "--record r.ndjson", left: { gains: /r\.ndjson: / } },
  "--force": [
    {
      files: { "r.ndjson": "mine" },
      args: "hello --record r.ndjson",
      flag: "--force",
      codes: [2, 0],
    },
    { ...question, flag: "--force", refused: /--record/ },
  ],
  "--replay": [
    {
      files: played.files ?? {},
      args: "",
      stdin: "hello",
      flag: "--replay r.ndjson",
      requests: { loses: /hello/ },
    },
    { ...played, args: "hello", flag: "--replay r.ndjson", refused: /a message has no effect/ },
  ],
  "--replay-speed": [
    { ...played, flag: "--replay-speed 0", waits: { loses: /\d/ } },
    { ...question, flag: "--replay-speed 2", refused: /--replay/ },
  ],
  "--batch": [
    { ...batch, args: "", stdin: "hello", flag: "--batch q.ndjson", stdout: { gains: /"id":"2"/ } },
    { ...batch, args: "hello", flag: "--batch q.ndjson", refused: /leave out the message/ },
  ],
  "--concurrency": [
    { tested: "test/commands/chat/batch/batch.test.ts" },
    { ...question, flag: "--concurrency 2", refused: /--batch/ },
  ],
  "--resume": [
    { tested: "test/commands/chat/batch/batch.test.ts" },
    { ...question, flag: "--resume done.ndjson", refused: /--batch/ },
  ],
  "--no-reask": [
    {
      files: {
        "q.ndjson": '{"id":"a","message":"hello"}\n',
        "done.ndjson": '{"type":"result","id":"a","status":"incomplete","sessionId":null}\n',
      },
      args: "--batch q.ndjson --resume done.ndjson",
      flag: "--no-reask",
      codes: [0, 10],
      requests: { loses: /"message":"hello"/ },
    },
    { ...question, flag: "--no-reask", refused: /--resume/ },
  ],
};

/** `chat`: flag by flag. */
export const chat: Coverage = {
  chat: {
    ...own,
    ...Object.fromEntries(
      Object.entries(requests).map(([flag, each]): [string, Case[]] => [
        flag,
        [each, besideReplay(String(each.flag))],
      ]),
    ),
  },
};
