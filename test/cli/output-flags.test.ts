import { describe, expect, it } from "vitest";
import { chatRenderers } from "../../src/output/chat/render.ts";
import { writers } from "../../src/output/formats/writers.ts";
import { allFormats, formOf, listFormats } from "../../src/cli/formats.ts";
import { leaves, play, useSandboxes, type Setting, storedId } from "./flags/play.ts";
import { moved } from "./flags/setup.ts";

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
const runnable: Readonly<Record<string, Setting>> = {
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
  "state share": {},
  "state unshare": {},
  "state push": {},
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
  "eval coverage": { ...asked, args: "suite.json docs" },
  "eval init": { ...docs, args: "docs" },
  api: { args: "tool" },
  try: { ...docs, args: "docs" },
  skill: {},
  "mcp install": { ...docs, args: "cursor" },
  "mcp uninstall": { ...docs, args: "cursor" },
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

// --output, --json, --fields, --filter and --jq of every command: each works, or is exit 2 before
// anything is sent.
useSandboxes();

/** Refused before anything is sent, whatever has run before; the service has not been asked. */
async function expectRefused(path: string, flag: readonly string[]): Promise<void> {
  const setting: Setting = { ...runnable[path], first: [] };
  const { code, stderr, requests } = await play(path, flag, setting);
  expect({ code, requests }, `${flag.join(" ")}: ${stderr}`).toEqual({
    code: 2,
    requests: "most in flight: 0",
  });
  expect(stderr).toContain(flag[0]);
  expect(stderr).toMatch(/\n {2}→ /);
}

const readers: Readonly<Record<string, (text: string) => unknown>> = {
  json: (text) => JSON.parse(text),
  ndjson: (text) =>
    text
      .split("\n")
      .filter((line) => line !== "")
      .map((line) => JSON.parse(line) as unknown),
};

it("--output takes the name of each writer, and no other", () => {
  const what = "add the name to listFormats in src/cli/formats.ts";
  expect(listFormats, what).toEqual(Object.keys(writers));
  expect(formOf("chat").formats).toEqual(Object.keys(chatRenderers));
});

it("has a command line for each command", () => {
  const missing = leaves().filter((path) => runnable[path] === undefined);
  expect(missing, "add one to runnable").toEqual([]);
});

describe.each(leaves())("%s", (path) => {
  const { formats, selection } = formOf(path);
  const setting = runnable[path] ?? {};
  const done = setting.until === undefined ? 0 : 130;

  it("writes each of its formats", async () => {
    for (const format of formats) {
      const { code, stdout, stderr } = await play(path, ["--output", format], setting);
      expect(code, `${format}: ${stderr}`).toBe(done);
      if (stdout !== "") readers[format]?.(stdout);
    }
    if (!formats.includes("json")) return;
    const { code, stdout, stderr } = await play(path, "--json", setting);
    expect(code, stderr).toBe(done);
    if (stdout !== "") JSON.parse(stdout);
  });

  it("refuses other formats, and two at once", async () => {
    const other = allFormats.find((format) => !formats.includes(format)) ?? "nonsense";
    await expectRefused(path, ["--output", other]);
    if (!formats.includes("json")) return await expectRefused(path, ["--json"]);
    const second = formats.find((format) => format !== "json") ?? "";
    await expectRefused(path, ["--json", "--output", second]);
  });

  it("selects, or refuses to", async () => {
    if (!selection.includes("fields")) await expectRefused(path, ["--fields", "name"]);
    if (!selection.includes("filter")) await expectRefused(path, ["--filter", "name=a"]);
    if (!selection.includes("jq")) return await expectRefused(path, ["--jq", "."]);
    await expectRefused(path, ["--jq", ".["]);
    await expectRefused(path, ["--fields", "a,,b"]);
    if (selection.includes("filter")) await expectRefused(path, ["--filter", "nonsense"]);
    const { code, stderr, requests } = await play(path, ["--fields", "nosuch"], setting);
    // An empty list has no members that could be known.
    if (code !== 0)
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("nosuch") });
    // A listing has members that only the answer tells; whatever changes something knows them before.
    expect(requests).not.toMatch(/^(?:POST|PUT|PATCH|DELETE) |"document"/m);
    const picked = await play(path, ["--jq", "type"], setting);
    expect(picked.code, picked.stderr).toBe(done);
    expect(picked.stdout).toMatch(/^(?:array|object)\n$/);
  });
});
