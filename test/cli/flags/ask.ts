import {
  type Case,
  type Coverage,
  type Effect,
  type FlagCases,
  type Setting,
  answerLines,
  runningId,
  storedId,
} from "./play.ts";

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
  "--state": { tested: "test/commands/connect.test.ts" },
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
    // Only a run that was cut knows what it asked.
    { tested: "test/commands/chat/batch/batch.test.ts" },
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

const found: Setting = {
  dialect: "onyx",
  files: {
    "docs/a.md": "---\nupdated: 2020-01-01\nteam: people\n---\n# A\n\nquokka\n",
    "docs/b.md": "# B\n\nquokka\n",
  },
  first: ["ingest docs --cc-pair-id 7 --overwrite"],
  args: "quokka --fields rank,path,via",
};

/** `search`, flag by flag. */
export const search: Coverage = {
  search: {
    "--state": { tested: "test/commands/connect.test.ts" },
    "--limit": { ...found, flag: "--limit 1", stdout: { loses: /^2\t/m } },
    "--source-type": { ...found, flag: "--source-type web", stdout: { loses: /^1\t/m } },
    "--document-set": {
      ...found,
      flag: "--document-set none",
      codes: [0, 9],
      stderr: { gains: /access to document sets: \['none'\]/ },
    },
    "--filter-tag": {
      ...found,
      flag: "--filter-tag team=people",
      stdout: { loses: /docs\/b\.md/ },
    },
    "--since": [
      { ...found, flag: "--since 2026-01-31", stdout: { loses: /docs\/a\.md/ } },
      { ...found, flag: "--since soon", refused: /--since/ },
    ],
    "--via": { ...found, flag: "--via keyword", stdout: { gains: /keyword/ } },
    "--allow-tokens": [
      { ...found, args: "quokka --via chat", flag: "--allow-tokens 1", codes: [2, 0] },
      { ...found, args: "quokka --via assisted", flag: "--allow-tokens 14", refused: /too small/ },
    ],
  },
};

const asked: Setting = { dialect: "onyx", first: ["chat hello", "chat other"] };
const last: Setting = { ...asked, args: "last" };
const stored: Setting = { dialect: "onyx", args: storedId };
const running: Setting = { dialect: "onyx", args: runningId };
const colour = { FORCE_COLOR: "1" };

/** `sessions …`: flag by flag. */
export const sessions: Coverage = {
  "sessions list": {
    "--limit": { ...asked, args: "--fields id", flag: "--limit 1", stdout: { loses: /\n.+\n/ } },
    "--local": { ...asked, flag: "--local", requests: { loses: /get-user-chat-sessions/ } },
  },
  "sessions show": {
    "--state": { tested: "test/commands/connect.test.ts" },
    "--all": { ...stored, flag: "--all", stderr: { loses: /other branch/ } },
    "--no-sources": { ...stored, flag: "--no-sources", stdout: { loses: /\[policy\]/ } },
    "--render": {
      ...stored,
      isTTY: true,
      env: colour,
      flag: "--render plain",
      stdout: { gains: /\*\*manager/ },
    },
  },
  "sessions export": {
    "--file": { ...last, flag: "--file s.md", left: { gains: /s\.md: [^]*other/ } },
    "--all": {
      ...stored,
      args: `${storedId} --json`,
      flag: "--all",
      stdout: { gains: /"messageId": 3/ },
    },
  },
  "sessions delete": {
    "--yes": { ...last, flag: "--yes", codes: [2, 0] },
    "--local": { ...last, args: "last --yes", flag: "--local", requests: { loses: /^DELETE/m } },
  },
  "sessions recover": {
    "--state": { tested: "test/commands/connect.test.ts" },
    "--poll": { tested: "test/commands/sessions/sessions.test.ts" },
    "--live": { ...running, flag: "--live", stdout: { gains: /Let me look that up/ } },
    "--no-sources": { ...running, flag: "--no-sources", stderr: { loses: /\[1\] Leave/ } },
    "--render": {
      ...running,
      isTTY: true,
      env: colour,
      flag: "--render plain",
      stdout: { gains: /\*\*manager/ },
    },
    "--show": { ...running, flag: "--show none", stderr: { loses: /They ask about leave/ } },
  },
};

const uploaded: Setting = { files: { "a.md": "# A\n\ntext\n", "b.md": "# B\n\ntext\n" } };
const pixel = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
const image: Setting = { files: { "a.png": pixel } };

/** `files …`: flag by flag. */
export const files: Coverage = {
  "files list": {
    "--limit": {
      ...uploaded,
      first: ["files upload a.md b.md --no-wait"],
      args: "--fields name",
      flag: "--limit 1",
      stdout: { loses: /\n.*\n/ },
    },
  },
  "files upload": {
    "--no-wait": {
      ...uploaded,
      args: "a.md",
      flag: "--no-wait",
      requests: { loses: /GET .*file/ },
    },
    "--project": [
      {
        ...uploaded,
        args: "a.md --json",
        flag: "--project 7",
        stdout: { gains: /"project_id": 7/ },
      },
      { ...image, args: "a.png --image", flag: "--project 7", refused: /--image and --project/ },
    ],
    "--image": [
      {
        ...image,
        dialect: "onyx",
        args: "a.png --json",
        flag: "--image",
        stdout: { gains: /image_file_id/ },
      },
      {
        ...image,
        dialect: "onyx",
        args: "a.png --image --jq length",
        flag: "--no-wait",
        harmless: "images are never waited for, which is what the flag says",
      },
    ],
  },
};
