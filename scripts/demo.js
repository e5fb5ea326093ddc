// `npm run demo`: the main job from end to end against the sandbox, in folders that are removed at the end.
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ensureInstalled, projectFolder } from "./install.js";
import { endSandbox, startSandbox, trialEnvironment } from "./trial-sandbox.js";

const binary = join(projectFolder, "bin", "knowctl.cjs");
const folder = mkdtempSync(join(tmpdir(), "knowctl-demo-"));
const handbookPair = "2";

const coloured = process.stdout.isTTY && !process.env["NO_COLOR"] && process.env["TERM"] !== "dumb";
const bold = (text) => (coloured ? `\u001b[1m${text}\u001b[0m` : text);

function show(title, env, args) {
  const quoted = args.map((each) => (/^[\w./:=-]+$/.test(each) ? each : `"${each}"`)).join(" ");
  console.log(`\n${bold(`── ${title}`)}\n$ ${bold(`knowctl ${quoted}`)}\n`);
  const result = spawnSync(process.execPath, [binary, ...args], {
    cwd: projectFolder,
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  if (result.status === 0) return;
  throw new Error(`knowctl ${args[0]} ended with ${result.signal ?? `exit ${result.status}`}`);
}

/** The main job. The upload's settings are flags here; a project would keep them in its file. */
function runSteps(env) {
  const handbook = "examples/handbook";
  show("The first minute: a folder of yours, and an answer from it", trialEnvironment(folder), [
    "try",
    handbook,
    "--no-input",
  ]);
  // In a pipe a list has no header; here it is shown as on a terminal.
  const asTable = process.stdout.isTTY ? [] : ["--output", "table"];
  show("1. Which connectors are there, and what is their cc_pair_id?", env, [
    "connectors",
    "list",
    ...asTable,
  ]);
  const folders = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs", "examples/handbook"];
  const flags = ["--sections", "headings", "--link", "https://docs.example.com/{path}"];
  const upload = ["ingest", ...folders, "--cc-pair-id", handbookPair, ...flags];
  show("2. Upload this repository's Markdown, and a handbook with front matter", env, upload);
  show("3. Once more: only what changed is sent, so nothing is", env, upload);
  show("4. Ask a question; the answer streams in, with its sources", env, [
    "chat",
    "How do I request annual leave?",
  ]);
}

const closing = `
${bold("What happened")}
A sandbox was started on a free port, its connectors were listed, Markdown was
uploaded (the second time nothing had changed), and a question was answered
from it. All that was written lay in a temporary folder, which is gone now.

${bold("How to go on")}
npm install -g .      puts the knowctl command on your PATH
knowctl try FOLDER    answers from a folder of yours
knowctl sandbox       keeps a sandbox running, to try things on
knowctl config init   connects to your own service
knowctl --help        shows every command, with examples`;

async function demo() {
  ensureInstalled();
  const { build } = await import("./build.js");
  await build();
  console.log("A sandbox starts: a local service with the same interface.");
  const { child, url } = await startSandbox(folder);
  const env = trialEnvironment(folder, {
    KNOWCTL_BASE_URL: url,
    KNOWCTL_API_KEY: "sandbox",
    KNOWCTL_STATE: join(folder, "state"),
  });
  try {
    runSteps(env);
  } finally {
    await endSandbox(child);
  }
  console.log(closing);
}

// Who reads only the first lines does not make the demo fail.
process.stdout.on("error", () => {});
// Ctrl-C reaches the running command as well; staying alive here lets the folder be removed.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => {});

try {
  await demo();
} catch (error) {
  console.error(`\ndemo failed: ${error.message}`);
  process.exitCode = 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
