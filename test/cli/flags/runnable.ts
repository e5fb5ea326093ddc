import { moved } from "./state.ts";
import type { Setting } from "./case.ts";
import { storedId } from "./stored.ts";

const pair = "--cc-pair-id 2";
const docs: Setting = { files: { "docs/a.md": "# A\n\ntext\n" } };
const sent: Setting = { ...docs, first: [`ingest docs ${pair}`] };
const exported: Setting = { ...docs, first: [`ingest docs ${pair}`, "state export all.ndjson"] };
const key = "CANARY-key-4b1f0c9e";
const two = JSON.stringify({ profiles: { a: {}, b: {} } });
const project: Setting = { files: { ".cliconfig.json": two } };
const onyx: Setting = { dialect: "onyx" };
const suite = JSON.stringify({
  version: 1,
  cases: [{ id: "a", question: "text", must_retrieve: ["docs/a.md"] }],
});
const asked: Setting = {
  ...onyx,
  files: { ...docs.files, "suite.json": suite },
  first: [`ingest docs ${pair}`],
};

/** For each command a command line that succeeds: what the flags about its output are tried on. */
export const runnable: Readonly<Record<string, Setting>> = {
  "connectors list": {},
  "connectors get": { args: "2" },
  "connectors find": { args: ["Shared drive"] },
  "connectors status": { ...onyx, args: "2" },
  "connectors errors": { ...onyx, args: "6" },
  "connectors create": { ...onyx, args: "Flags-{count}" },
  ingest: { ...docs, args: `docs ${pair}` },
  explain: { ...docs, args: "docs/a.md" },
  retry: { ...sent, args: pair },
  convert: { ...docs, args: "docs" },
  prune: { ...sent, args: `docs ${pair} --tombstone --dry-run` },
  "report merge": { ...docs, first: [`ingest docs ${pair} --report r.json`], args: "r.json" },
  "report summary": { ...docs, first: [`ingest docs ${pair} --report r.json`], args: "r.json" },
  "state list": sent,
  "state forget": { ...sent, args: "docs/a.md" },
  "state export": sent,
  "state move": { ...moved, args: "https://old.example https://new.example --yes" },
  "state import": { ...exported, args: "all.ndjson --yes" },
  chat: { args: "hello" },
  search: { ...onyx, ...docs, first: [`ingest docs ${pair}`], args: "text" },
  "sessions list": onyx,
  "sessions show": { ...onyx, args: storedId },
  "sessions export": { ...onyx, args: storedId },
  "sessions rename": { ...onyx, first: ["chat hello"], args: "last other" },
  "sessions delete": { ...onyx, first: ["chat hello"], args: "last --yes" },
  "sessions recover": { ...onyx, first: ["chat hello"], args: "last" },
  "files list": {},
  "files upload": { ...docs, args: "docs/a.md --no-wait" },
  "tools list": {},
  "agents list": onyx,
  lint: { ...docs, args: "docs" },
  verify: { ...sent, ...onyx, args: pair },
  doctor: {},
  "eval retrieval": { ...asked, args: "suite.json" },
  "eval answers": { ...asked, args: "suite.json --allow-tokens 1" },
  status: { ...sent, args: `docs ${pair}` },
  "eval init": { ...docs, args: "docs" },
  api: { args: "tool" },
  try: { ...docs, args: "docs" },
  sandbox: { args: "--port 0 --data d", until: /ends the sandbox/ },
  "config init": { args: "--profile new --base-url {service}" },
  "config list": {},
  "config show": {},
  "config get": { args: "dialect" },
  "config path": {},
  "config schema": {},
  "config set": { args: "ingest.source web" },
  "config unset": { ...project, args: "profiles.a --local" },
  "config use": { ...project, args: "b --local" },
  "config validate": project,
  "config trust": project,
  login: { stdin: key, args: "--with-token --no-check" },
  logout: {},
  completion: { args: "bash" },
};
