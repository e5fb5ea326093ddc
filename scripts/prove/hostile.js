// Runs every command of the help inside a hostile folder, against a service that answers hostile texts.
import { createServer } from "node:net";
import { createRequire } from "node:module";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listing } from "../../bench/ingestion-answers.js";
import { projectFolder } from "../install.js";
import { hostileName, makeHostilePlace, secret } from "./hostile-folder.js";
import { casesNamed, inParallel, key, killAll, runProgram } from "./program.js";
import { json, startServer } from "./server.js";
import { traceProblem } from "./trace.js";

const toPair = ["--cc-pair-id", "2"];
/** How each command is run. What asks or serves ends with its input, or is told to. */
const commands = {
  try: [["try", "docs", "--no-input"]],
  sandbox: [["sandbox", "--port", "0", "--data", "data"]],
  "connectors list": [["connectors", "list", "--output", "table"]],
  "connectors get": [["connectors", "get", "2"]],
  "connectors find": [["connectors", "find", "Bench"]],
  "connectors status": [["connectors", "status"]],
  "connectors errors": [["connectors", "errors", "2"]],
  "connectors create": [["connectors", "create", hostileName]],
  ingest: [
    ["ingest", "docs", ...toPair, "--images", "upload", "--updated-at", "git", "--meta-commit"],
    ["ingest", ".", ...toPair, "--dry-run", "--owners", "codeowners"],
    ["ingest", "docs", ...toPair, "--since", "HEAD"],
  ],
  status: [["status", "--remote"]],
  retry: [["retry"]],
  prune: [["prune", "--yes"]],
  explain: [
    ["explain", "docs/include.md"],
    ["explain", "docs/link.md"],
  ],
  convert: [
    ["convert", "docs"],
    ["convert", "docs", "--sections", "headings", "--updated-at", "git"],
  ],
  "state list": [["state", "list"]],
  "state forget": [["state", "forget", "docs/good.md"]],
  "state export": [["state", "export"]],
  "state import": [["state", "import", "state.ndjson", "--yes"]],
  "state move": [["state", "move", "http://127.0.0.1:1", "http://127.0.0.1:2"]],
  "state share": [["state", "share"]],
  "state unshare": [["state", "unshare", "--yes"]],
  "state push": [["state", "push"]],
  "report merge": [["report", "merge", "report.json"]],
  "report summary": [["report", "summary", "report.json"]],
  chat: [
    ["chat", "What?"],
    ["chat", "--batch", "questions.ndjson"],
    ["chat", "--file", "docs/good.md", "What?"],
  ],
  search: [["search", "word"]],
  "sessions list": [["sessions", "list"]],
  "sessions show": [["sessions", "show", "last"]],
  "sessions export": [["sessions", "export", "last"]],
  "sessions rename": [["sessions", "rename", "last", hostileName]],
  "sessions delete": [["sessions", "delete", "last", "--yes"]],
  "sessions recover": [["sessions", "recover"]],
  "files list": [["files", "list"]],
  "files upload": [["files", "upload", "docs/good.md", "--no-wait"]],
  "agents list": [["agents", "list"]],
  "tools list": [["tools", "list"]],
  lint: [["lint"], ["lint", "docs", "--fix"]],
  verify: [["verify", "docs", ...toPair]],
  "eval init": [["eval", "init", "docs"]],
  "eval retrieval": [["eval", "retrieval", "suite.yaml"]],
  "eval answers": [["eval", "answers", "suite.yaml"]],
  "eval coverage": [["eval", "coverage", "suite.yaml", "docs"]],
  doctor: [["doctor"], ["doctor", "--bundle", "bundle.txt"]],
  api: [["api", "manage/admin/connector/status"]],
  mcp: [["mcp"]],
  "mcp install": [["mcp", "install", "cursor"]],
  "mcp uninstall": [["mcp", "uninstall", "cursor"]],
  skill: [["skill"]],
  "config init": [["config", "init", "--no-input"]],
  "config list": [["config", "list"]],
  "config show": [["config", "show", "--origin"]],
  "config get": [["config", "get", "ingest.include"]],
  "config path": [["config", "path"]],
  "config schema": [["config", "schema"]],
  "config set": [["config", "set", "ingest.sections", "headings"]],
  "config unset": [["config", "unset", "ingest.sections"]],
  "config use": [["config", "use", "evil"]],
  "config validate": [["config", "validate"]],
  // It is the approval of a person, and asks.
  "config trust": [["config", "trust", "--no-input"]],
  login: [["login", "--with-token"]],
  logout: [["logout"]],
  completion: [["completion", "bash"]],
};

/** Commands of the help that have no entry above, without groups. */
export function unlisted() {
  const require = createRequire(import.meta.url);
  const { helpTexts } = require(join(projectFolder, "dist", "program.cjs"));
  const names = Object.keys(helpTexts()).filter(Boolean);
  const isGroup = (name) => names.some((each) => each.startsWith(`${name} `));
  return names.filter((name) => !(name in commands) && !isGroup(name));
}

const withEscapes = (answer) => ({ ...json({}), body: Buffer.from(JSON.stringify(answer)) });

/** A service whose texts attack the terminal. */
function hostileAnswer({ method, path }) {
  if (path.endsWith("/connector/status"))
    return withEscapes([{ ...listing[0], name: hostileName }]);
  if (path.endsWith("/api/persona"))
    return json([{ id: 1, name: hostileName, description: hostileName }]);
  if (path.endsWith("/api/tool"))
    return json([{ id: 1, name: hostileName, description: hostileName }]);
  if (method === "GET" && /session|indexing|files/.test(path))
    return json({ detail: hostileName }, 500);
  if (path.endsWith("/send-chat-message")) {
    const placement = { turn_index: 0, tab_index: 0 };
    const packets = [
      { chat_session_id: "3f1c6b0e-5a52-4a9e-9a38-0c3f1b6d7e21" },
      { user_message_id: 1, reserved_assistant_message_id: 2 },
      { placement, obj: { type: "message_start", final_documents: [] } },
      // Split, so that no part of it is a sequence by itself.
      { placement, obj: { type: "message_delta", content: "An answer \u001b" } },
      { placement, obj: { type: "message_delta", content: `]0;x\u0007 ${hostileName}` } },
      { placement, obj: { type: "stop", stop_reason: "finished" } },
    ];
    const body = Buffer.from(packets.map((each) => `${JSON.stringify(each)}\n`).join(""));
    return { status: 200, headers: { "content-type": "text/event-stream" }, body };
  }
  return undefined;
}

// eslint-disable-next-line no-control-regex -- these are what must not be there
const control = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/;
const passwd = /root:x:0:0|root:\*:0:0/;

/** Programs that ran and files that were read, of strace's log. */
function traceProblems(log, { home }, [name]) {
  const programs = [...log.matchAll(/execve\("([^"]+)".* = 0$/gm)].map(([, path]) => path);
  const foreign = programs.filter(
    (path) => !/\/(?:node|git)$/.test(path) && path !== process.execPath,
  );
  const read = [...log.matchAll(/openat\([^"]*"([^"]+)".* = \d/gm)].map(([, path]) => path);
  // The system's library looks up the user's name, which doctor removes from its bundle.
  const stolen = read.filter(
    (path) =>
      (path === "/etc/passwd" && name !== "doctor") || path.startsWith(join(home, "secret")),
  );
  return [...foreign.map((path) => `it ran ${path}`), ...stolen.map((path) => `it read ${path}`)];
}

/** What is wrong after a run. */
function problemsOf(ran, place, { server, evil }, args) {
  const said = ran.stdout + ran.stderr;
  const sent = server.requests.map(({ head, body }) => `${head}\n${body}`).join("\n");
  const problems = place.canaries().map((name) => `it ran code of the folder: ${name}`);
  const found = control.exec(said);
  if (found) {
    const shown = JSON.stringify(said.slice(Math.max(0, found.index - 40), found.index + 20));
    problems.push(`a control character on the output: ${shown}`);
  }
  if (said.includes(secret) || passwd.test(said)) problems.push("a file outside was printed");
  if (sent.includes(secret) || passwd.test(sent)) problems.push("a file outside was sent");
  if (said.includes(key)) problems.push("the key was printed");
  if (evil.connections > 0) problems.push("the other service was contacted");
  if (ran.hung) problems.push("it did not end");
  const isTold = args[0] === "sandbox" && [0, 143].includes(ran.code);
  if (!isTold && (ran.code === null || ran.code === 1)) {
    problems.push(`it ended with ${ran.code ?? ran.signal}: ${ran.stderr.slice(-400)}`);
  }
  return problems;
}

async function startEvil() {
  const evil = { connections: 0 };
  const server = createServer((socket) => {
    evil.connections++;
    socket.destroy();
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  evil.url = `http://127.0.0.1:${server.address().port}`;
  evil.close = () => server.close();
  return evil;
}

/** Plays one command in a folder of its own. Resolves with what is wrong. */
async function play({ args, isLed }, isTraced) {
  const server = await startServer(hostileAnswer);
  const evil = await startEvil();
  const place = makeHostilePlace({ url: server.url, evilUrl: evil.url, isLed });
  const folder = mkdtempSync(join(tmpdir(), "prove-trace-"));
  const log = join(folder, "log");
  const trace = ["strace", "-f", "--seccomp-bpf", "-qq", "-o", log, "-e", "trace=openat,execve"];
  try {
    const ran = await runProgram(args, place, {
      command: isTraced ? trace : [],
      input: args[0] === "login" ? "CANARY-other-key-1\n" : "",
      limitMs: 60_000,
      onStart(child) {
        if (args[0] !== "sandbox") return;
        let isTold = false;
        child.stderr.on("data", (text) => {
          // A second signal would end it at once.
          if (isTold || !/http:/.test(text)) return;
          isTold = true;
          killAll(child, "SIGTERM");
        });
      },
    });
    const traced = isTraced ? traceProblems(readFileSync(log, "utf8"), place, args) : [];
    return [...problemsOf(ran, place, { server, evil }, args), ...traced];
  } finally {
    server.close();
    evil.close();
    place.remove();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Every command, with a project file that leads elsewhere and without one. */
export async function hostilePart({ seconds, case: only }) {
  const lacking = unlisted();
  if (lacking.length > 0) throw new Error(`not listed in hostile.js: ${lacking.join(", ")}`);
  const untraced = traceProblem();
  const listed = Object.values(commands).flat();
  const bare = [["--help"], ["--version"], ["help", "configuration"], ["ingest", "--help"]];
  const all = [...bare, ...listed].flatMap((args) =>
    [true, false].map((isLed) => ({ args, isLed })),
  );
  const cases = casesNamed(all, ({ args }) => args.join(" "), only);
  const violated = [];
  const played = await inParallel(cases, { seconds, workers: 3 }, async (each) => {
    const name = each.args.join(" ");
    const problems = await play(each, untraced === undefined).catch((error) => [error.stack]);
    if (problems.length === 0) return;
    const where = each.isLed
      ? "with a project file that leads elsewhere"
      : "without a project file";
    const replay = `npm run prove -- hostile --case "${JSON.stringify(name).slice(1, -1)}"`;
    violated.push({ what: `${name} (${where}): ${problems.join("; ")}`, replay });
  });
  const looked = untraced ? `; programs and files were not traced: ${untraced}` : "";
  return {
    tried: [
      `${played} of ${cases.length} runs: every command of the help, in two hostile folders${looked}`,
    ],
    held: [
      "no code of the folder ran, no file outside of it was read, sent or printed, no other service was contacted",
      "no control character reached the output, no key was printed, each command ended by itself",
    ],
    violated,
  };
}
