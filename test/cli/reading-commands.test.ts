import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Command, Option } from "commander";
import { expect, it } from "vitest";
import { describeProgram } from "../../src/cli/program.ts";
import { runHere } from "../main.ts";
import { startTestService } from "../service.ts";

// Who only lists, checks or previews changes nothing, whatever variables a pipeline has set. The
// commands come from the program itself: a new one fails here until it is in one of the two tables.

interface Line {
  args: string;
  code?: number;
}

/** What each command that only looks is called with; of one that can also change, its preview. */
const looking: Readonly<Record<string, Line | readonly Line[]>> = {
  "connectors list": { args: "" },
  "connectors get": { args: "2" },
  "connectors find": { args: '"Shared drive"' },
  "connectors status": { args: "2" },
  "connectors errors": { args: "6" },
  ingest: [
    { args: "docs --dry-run" }, // The state of a variable is nothing for a project file.
    { args: "docs --print-config", code: 2 },
  ],
  status: [{ args: "docs" }, { args: "docs --remote" }],
  prune: [
    { args: "docs --dry-run" },
    // Asks, and there is nobody to answer.
    { args: "docs", code: 2 },
    // Only for a project with an id prefix.
    { args: "--dry-run --extra", code: 2 },
  ],
  "sessions delete": { args: "last", code: 2 },
  explain: { args: "docs/a.md" },
  convert: { args: "docs" },
  lint: { args: "docs" },
  // Of a removed file nobody can tell what it said.
  verify: { args: "", code: 10 },
  search: { args: "apples" },
  doctor: { args: "" },
  "eval coverage": { args: "suite.json docs" },
  "eval init": { args: "docs" },
  "eval retrieval": [{ args: "suite.json" }, { args: "suite.json --replay retrieval" }],
  "eval answers": { args: "suite.json --replay answers" },
  "report summary": { args: "r.json" },
  "report merge": { args: "r.json" },
  "state list": { args: "" },
  "state export": { args: "" },
  "sessions list": { args: "" },
  "sessions show": { args: "last" },
  "sessions export": { args: "last" },
  "files list": { args: "" },
  "tools list": { args: "" },
  "agents list": { args: "" },
  api: { args: "get /tool" },
  "config list": { args: "" },
  "config show": { args: "" },
  "config get": { args: "dialect" },
  "config path": { args: "" },
  "config schema": { args: "" },
  "config validate": { args: "" },
  completion: { args: "bash" },
  skill: { args: "" },
};

/** Commands without a form that only looks: what they change is what they are for. */
const changing =
  `connectors create, retry, state forget, state move, state import, state share, state unshare,
  state push, chat,
  sessions rename, sessions recover, files upload, try, sandbox, config init,
  config set, config unset, config use, config trust, login, logout, mcp install, mcp uninstall`
    .split(",")
    .map((each) => each.trim());

/** Requests that read though they are POSTs. */
const readingPosts = [
  "POST /api/manage/admin/connector/indexing-status",
  "POST /api/admin/search",
  "POST /api/search/send-search-message",
];
/** What doctor sends to see what a key may do: empty, so that the service refuses it. */
const probes = [
  "POST /api/svc-api/ingestion",
  "POST /api/onyx-api/ingestion",
  "POST /api/chat/send-chat-message",
];

function commandsBelow(command: Command, path: string[] = []): [string, Command][] {
  const own = [path.join(" "), command] as [string, Command];
  const below = command.commands.flatMap((each) => commandsBelow(each, [...path, each.name()]));
  return command.commands.length === 0 ? [own] : path.length === 0 ? below : below;
}

const commands = commandsBelow(describeProgram());

const nameOf = ({ long }: Option): string =>
  `KNOWCTL_${long!.slice(2).replaceAll("-", "_").toUpperCase()}`;

/** A value with which the flag permits, chooses or raises something. */
function enabling(option: Option): string {
  if (option.isBoolean() || option.negate) return "1";
  const parse = option.parseArg;
  const samples = ["100%", "1000", "all", "docs", "a=b", "ndjson", "onyx"];
  const fits = samples.find((sample) => {
    try {
      parse?.(sample, undefined);
      return true;
    } catch {
      return false;
    }
  });
  return fits ?? "1";
}

/** Variables that count and whose value decides whether the line can run at all. */
const fitting = (folder: string): Record<string, string> => ({
  KNOWCTL_PROFILE: "default",
  KNOWCTL_CONFIG: join(folder, "other.json"),
  KNOWCTL_ROOT: folder,
  KNOWCTL_STATE: join(folder, ".knowctl"),
  KNOWCTL_CC_PAIR_ID: "2",
  KNOWCTL_CONCURRENCY: "2",
  KNOWCTL_RATE: "1000",
  KNOWCTL_TIMEOUT: "30",
  KNOWCTL_OUTPUT: "",
  KNOWCTL_TRUST_PROJECT: "1",
});

/** Variables that say where requests go and how output looks: each has tests of its own. */
const otherwise = new Set(
  `base-url dialect connector proxy ca-file client-cert client-key fields filter jq shared-state
   state-project help version`
    .split(/\s+/)
    .map((name) => `KNOWCTL_${name.replaceAll("-", "_").toUpperCase()}`),
);

function everyVariable(folder: string): Record<string, string> {
  const options = commands.flatMap(([, command]) => command.options);
  const all = options.map((option) => [nameOf(option), enabling(option)] as const);
  const kept = all.filter(([name]) => !otherwise.has(name));
  return { ...Object.fromEntries(kept), ...fitting(folder) };
}

const suite = {
  version: 1,
  cases: [
    {
      id: "a",
      question: "apples",
      must_retrieve: ["docs/a.md"],
      expect: [{ icontains: "apples" }],
    },
  ],
};

it("knows of every command whether it only looks", () => {
  const known = [...Object.keys(looking), ...changing];
  expect(known.toSorted()).toEqual(commands.map(([path]) => path).toSorted());
});

it("no variable makes a command that only looks change anything", async () => {
  const service = await startTestService({
    files: {
      "docs/a.md": "# A\n\napples\n\n## Who eats the apples?\n\nThe cook.\n",
      "docs/b.md": "# B\n\npears\n",
      "suite.json": JSON.stringify(suite),
      "other.json": JSON.stringify({ profiles: { default: {} } }),
    },
    dialect: "onyx",
  });
  const { folder, sandbox } = service;
  const run = (line: string, env = service.env) => {
    const words = line.match(/"[^"]*"|\S+/g) ?? [];
    return runHere(
      words.map((word) => word.replaceAll('"', "")),
      { cwd: folder, env },
    );
  };
  for (const line of [
    "ingest docs --cc-pair-id 2 --report r.json",
    "chat apples",
    "eval retrieval suite.json --record retrieval",
    "eval answers suite.json --allow-tokens 9 --record answers",
  ]) {
    expect(await run(line), line).toMatchObject({ code: 0 });
    await sandbox.idle();
  }
  rmSync(join(folder, "docs/b.md"));
  const env = { ...service.env, ...everyVariable(folder) };
  const changed: string[] = [];
  let seen = 0;
  for (const [path, lines] of Object.entries(looking)) {
    for (const { args, code = 0 } of [lines].flat() as Line[]) {
      sandbox.ledger.requests.length = 0;
      const line = `${path} ${args}`;
      const told = await run(line, env);
      expect.soft(told.code, `${line}: ${/^error: .*/m.exec(told.stderr)?.[0]}`).toBe(code);
      for (const { method, path: target, status } of sandbox.ledger.requests) {
        const request = `${method} ${target.replace(/\?.*/s, "")}`;
        const isProbe = path === "doctor" && probes.includes(request) && status >= 400;
        const reads = method === "GET" || readingPosts.includes(request) || isProbe;
        if (!reads) changed.push(`${line}: ${request} ${status}`);
      }
      seen += sandbox.ledger.requests.length;
    }
  }
  expect(seen).toBeGreaterThan(25);
  expect(changed).toEqual([]);
});
